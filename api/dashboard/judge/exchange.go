package judge

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/workbench"
	"almanac/text/markdown"
)

// agreement compares the judges of a case, and lists what two of them disagree on.
func (h handler) agreement(r *http.Request, c catalog.Case) (form.Reply, error) {
	queries, judgments, err := workbench.Content(r.Context(), h.Store, c.ID)
	if err != nil {
		return form.Reply{}, err
	}
	texts := map[string]string{}
	for _, q := range queries {
		texts[q.ID] = q.Text
	}
	for _, x := range workbench.Agreements(judgments) {
		if x.A != r.FormValue("a") || x.B != r.FormValue("b") {
			continue
		}
		x.Disagreements = x.Disagreements[:min(len(x.Disagreements), 200)]
		return form.Reply{Template: "agreement", Title: "Agreement",
			Data: map[string]any{"Case": c, "Agreement": x, "Texts": texts}}, nil
	}
	return form.Reply{}, fmt.Errorf("judges who graded the same: %w", catalog.ErrNotFound)
}

// exportCase returns a case as files, or its judgments as TREC has them.
func (h handler) exportCase(r *http.Request, c catalog.Case) (form.Reply, error) {
	var judges []string
	if judge := r.FormValue("judge"); judge != "" {
		judges = []string{judge}
	}
	trec := r.FormValue("form") == "trec"
	_, files, err := workbench.Export(r.Context(), h.Store, c.Name, trec, judges...)
	if err != nil {
		return form.Reply{}, err
	}
	name := markdown.Slug(c.Name)
	if trec {
		return form.Reply{Raw: &form.Raw{Name: name + ".qrels", Type: "text/plain; charset=utf-8",
			Body: files["qrels.txt"]}}, nil
	}
	var body bytes.Buffer
	z := zip.NewWriter(&body)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(path.Join(name, file))
		if err == nil {
			_, err = w.Write(files[file])
		}
		if err != nil {
			return form.Reply{}, err
		}
	}
	err = z.Close()
	return form.Reply{Raw: &form.Raw{Name: name + ".zip", Type: "application/zip", Body: body.Bytes()}}, err
}

// maxUnpacked bounds what an uploaded archive holds, in bytes.
const maxUnpacked = 8 << 20

// unpack reads an uploaded archive of a case, or judgments alone.
func unpack(name string, body []byte) (eval.Collection, error) {
	if !bytes.HasPrefix(body, []byte("PK")) {
		judgments, err := eval.ReadQrels(bytes.NewReader(body), name)
		return eval.Collection{Name: name, Judgments: judgments}, err
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return eval.Collection{}, err
	}
	left := uint64(maxUnpacked)
	for _, f := range z.File { // reading more than a file says it has is an error
		if f.UncompressedSize64 > left {
			return eval.Collection{}, fmt.Errorf("the archive holds more than %d MiB", maxUnpacked>>20)
		}
		left -= f.UncompressedSize64
	}
	return eval.ReadCase(z, name)
}

// importPage is the page from which a file came: that of the case, or of all.
func (h handler) importPage(r *http.Request) (form.Reply, error) {
	c, err := workbench.CaseNamed(r.Context(), h.Store, strings.TrimSpace(r.FormValue("name")))
	if err != nil {
		return h.cases(r)
	}
	return h.showCase(r, c)
}

// importCase adds an uploaded file to a case, which may be new.
func (h handler) importCase(r *http.Request) (form.Reply, error) {
	file, header, err := r.FormFile("file")
	if err != nil {
		err := form.Invalid(fmt.Sprintf("no file came, or it is larger than %d MiB", form.MaxUpload>>20))
		return form.Reply{}, err.In("file")
	}
	defer file.Close()
	body, err := io.ReadAll(file)
	if err != nil {
		return form.Reply{}, err
	}
	stem := strings.TrimSuffix(header.Filename, path.Ext(header.Filename))
	judge := strings.TrimSpace(r.FormValue("judge"))
	if judge == "" {
		judge = stem
	}
	in, err := unpack(header.Filename, body)
	if err != nil {
		return form.Reply{}, form.Invalid(err.Error()).In("file")
	}
	name := strings.TrimSpace(r.FormValue("name"))
	if name == "" {
		name = stem
	}
	done, err := workbench.Import(r.Context(), h.Store, name, in, workbench.ImportJudge+judge, admin.User(r.Context()))
	if err != nil {
		return form.Reply{}, err
	}
	missing, err := workbench.Missing(r.Context(), h.Store, done.Case)
	if err != nil || missing == "" {
		return form.Reply{Goto: form.CasePath(done.Case.ID)}, err
	}
	return form.Reply{Template: "imported", Title: "Imported",
		Data: map[string]any{"Done": done, "Missing": missing}}, nil
}

// askModel lets the model judge a case, or stops it.
func (h handler) askModel(r *http.Request, c catalog.Case) (form.Reply, error) {
	back := form.Reply{Goto: form.CasePath(c.ID)}
	a := workbench.JudgeTask{Case: c.ID, Depth: form.Number(r, "n", workbench.Depth)}
	switch r.FormValue("do") {
	case "cancel":
		return back, h.Store.CancelRequest(r.Context(), int64(form.Number(r, "job", 0)))
	case "pool":
		a.Profiles = pooled
	case "compare":
	default:
		return form.Reply{}, form.Invalid("do must be pool, compare or cancel")
	}
	if h.JudgeModel == "" {
		return form.Reply{}, form.Invalid("there is no model: set judge.url and judge.model")
	}
	_, err := workbench.Ask(r.Context(), h.Store, a, admin.User(r.Context()))
	return back, err
}

// readClicks makes judgments of what people opened.
func (h handler) readClicks(r *http.Request, c catalog.Case) (form.Reply, error) {
	n, err := workbench.Clicks(r.Context(), h.Store, c, h.Now().AddDate(0, 0, 1-catalog.CountDays))
	if err == nil && n == 0 {
		err = form.Invalid("nobody opened enough results of these queries to say anything; " +
			"server.clicks switches counting on")
	}
	return form.Reply{Goto: form.CasePath(c.ID)}, err
}
