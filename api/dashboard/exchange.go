package dashboard

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/workbench"
)

// agreement compares the judges of a case, and lists what two of them disagree on.
func (h *Handler) agreement(r *http.Request, c catalog.Case) (reply, error) {
	judgments, err := h.cfg.Store.Judgments(r.Context(), c.ID)
	if err != nil {
		return reply{}, err
	}
	queries, err := h.cfg.Store.Queries(r.Context(), c.ID)
	if err != nil {
		return reply{}, err
	}
	texts := map[string]string{}
	for _, q := range queries {
		texts[q.ID] = q.Text
	}
	type row struct {
		workbench.Disagreement
		Text, Link string
	}
	for _, x := range workbench.Agreements(judgments) {
		if x.A != r.FormValue("a") || x.B != r.FormValue("b") {
			continue
		}
		var rows []row
		for _, d := range x.Disagreements[:min(len(x.Disagreements), 200)] {
			rows = append(rows, row{d, texts[d.Query], session{Case: c.ID, Query: d.Query}.link("at", d.Target)})
		}
		return reply{Template: "judging-agreement", Page: look.Page{Title: "Agreement", Section: "/judging"},
			Data: map[string]any{"Case": c, "Agreement": x, "Rows": rows}}, nil
	}
	return reply{}, fmt.Errorf("judges who graded the same: %w", catalog.ErrNotFound)
}

// exportCase returns a case as files, or its judgments as TREC has them.
func (h *Handler) exportCase(r *http.Request, c catalog.Case) (reply, error) {
	var judges []string
	if judge := r.FormValue("judge"); judge != "" {
		judges = []string{judge}
	}
	trec := r.FormValue("form") == "trec"
	_, files, err := workbench.Export(r.Context(), h.cfg.Store, c.Name, trec, judges...)
	if err != nil {
		return reply{}, theirs(err)
	}
	name := look.Slug(c.Name)
	if trec {
		return reply{Raw: &raw{Name: name + ".qrels", Type: "text/plain; charset=utf-8", Body: files["qrels.txt"]}}, nil
	}
	var body bytes.Buffer
	z := zip.NewWriter(&body)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(path.Join(name, file))
		if err == nil {
			_, err = w.Write(files[file])
		}
		if err != nil {
			return reply{}, err
		}
	}
	err = z.Close()
	return reply{Raw: &raw{Name: name + ".zip", Type: "application/zip", Body: body.Bytes()}}, err
}

// theirs tells what a person can mend apart.
func theirs(err error) error {
	if wrong, ok := errors.AsType[workbench.InvalidError](err); ok {
		return invalid(wrong)
	}
	return err
}

// maxUnpacked bounds what an uploaded archive holds, in bytes.
const maxUnpacked = 64 << 20

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
func (h *Handler) importPage(r *http.Request) (reply, error) {
	c, err := workbench.CaseNamed(r.Context(), h.cfg.Store, strings.TrimSpace(r.FormValue("name")))
	if err != nil {
		return h.cases(r)
	}
	return h.showCase(r, c)
}

// importCase adds an uploaded file to a case, which may be new.
func (h *Handler) importCase(r *http.Request) (reply, error) {
	file, header, err := r.FormFile("file")
	if err != nil {
		return reply{}, invalid(fmt.Sprintf("no file came, or it is larger than %d MiB", maxForm>>20)).in("file")
	}
	defer file.Close()
	body, err := io.ReadAll(file)
	if err != nil {
		return reply{}, err
	}
	stem := strings.TrimSuffix(header.Filename, path.Ext(header.Filename))
	judge := strings.TrimSpace(r.FormValue("judge"))
	if judge == "" {
		judge = stem
	}
	in, err := unpack(header.Filename, body)
	if err != nil {
		return reply{}, invalid(err.Error()).in("file")
	}
	name := strings.TrimSpace(r.FormValue("name"))
	if name == "" {
		name = stem
	}
	done, err := workbench.Import(r.Context(), h.cfg.Store, name, in, workbench.ImportJudge+judge, admin.User(r.Context()))
	if err != nil {
		return reply{}, theirs(err)
	}
	missing, err := workbench.Missing(r.Context(), h.cfg.Store, done.Case)
	if err != nil || missing == "" {
		return reply{Goto: caseLink(done.Case.ID)}, err
	}
	return reply{Template: "judging-import", Page: look.Page{Title: "Imported", Section: "/judging"},
		Data: map[string]any{"Done": done, "Missing": missing}}, nil
}

// askModel lets the model judge a case, or stops it.
func (h *Handler) askModel(r *http.Request, c catalog.Case) (reply, error) {
	back := reply{Goto: caseLink(c.ID)}
	a := workbench.JudgeTask{Case: c.ID, Depth: number(r, "n", workbench.Depth)}
	switch r.FormValue("do") {
	case "cancel":
		return back, h.cfg.Store.CancelRequest(r.Context(), int64(number(r, "job", 0)))
	case "pool":
		a.Profiles = pooled
	case "compare":
	default:
		return reply{}, invalid("do must be pool, compare or cancel")
	}
	if h.cfg.JudgeModel == "" {
		return reply{}, invalid("there is no model: set judge.url and judge.model")
	}
	_, err := workbench.Ask(r.Context(), h.cfg.Store, a, admin.User(r.Context()))
	return back, err
}

// readClicks makes judgments of what people opened.
func (h *Handler) readClicks(r *http.Request, c catalog.Case) (reply, error) {
	n, err := workbench.Clicks(r.Context(), h.cfg.Store, c, h.cfg.Now().AddDate(0, 0, 1-catalog.CountDays))
	if err == nil && n == 0 {
		err = invalid("nobody opened enough results of these queries to say anything; server.clicks switches counting on")
	}
	return reply{Goto: caseLink(c.ID)}, err
}
