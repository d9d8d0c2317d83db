package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"almanac/api/edge"
	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/tally"
)

// view is what a template sees of a page.
type view struct {
	Main   any        // the answer the page is about
	Params url.Values // of the query
	Kind   Kind
	Title  string
	Lede   string
	Path   string // of this page, on this server
	Same   []Same
	Text   *Text // of a record
	Extra  any   // what the row prepared
	Origin bool  // the answers are those of a record

	row     row
	ctx     context.Context
	answers []asked
	next    string // address of the next part
}

// Answer returns the answer of an operation that the page asked; nil if there
// is none.
func (v *view) Answer(id string) any {
	for _, a := range v.answers {
		if a.op.ID == id {
			return a.answer
		}
	}
	return nil
}

// Param returns a parameter of the query.
func (v *view) Param(name string) string { return v.Params.Get(name) }

// With is the address of this page with other parameters: With "state" "open".
// An empty value removes one. It begins again at the first part.
func (v *view) With(pairs ...string) string {
	query := url.Values{}
	for name, values := range v.Params {
		if name != "offset" && name != "cursor" {
			query[name] = values
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if query.Del(pairs[i]); pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return v.Path
	}
	return v.Path + "?" + query.Encode()
}

// Next is the address of the next part; "" if this is the last.
func (v *view) Next() string { return v.next }

// redirect is the error of a page that is elsewhere.
type redirect struct {
	to     string
	status int
}

func (redirect) Error() string { return "moved" }

// serve answers with a page; under an address that ends in .md with its Markdown.
func (h *Handler) serve(r *http.Request, rw row, suffixed bool) (*edge.Answer, error) {
	if ready, progress := h.cfg.Ready(); !ready && !rw.early {
		return nil, op.Loading(progress)
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.cfg.Timeout)
	defer cancel()
	if rw.quiet {
		ctx = tally.Uncounted(ctx)
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, op.Invalid("the query string is malformed: write %% as %%25 and ; as %%3B")
	}
	markdown := suffixed || asksForMarkdown(r)
	build := func() (*view, error) {
		if suffixed {
			r = withoutSuffix(r)
		}
		if !markdown {
			return h.build(tally.OnPage(ctx), rw, r, query)
		}
		return h.build(ctx, rw, r, query)
	}
	v, err := build()
	// A file's own page may end in .md too, so that is what is tried first.
	if missing := errors.Is(err, op.ErrNotFound) || errors.Is(err, op.ErrInvalid); missing && !suffixed && hasSuffix(r) {
		suffixed, markdown = true, true
		v, err = build()
	}
	if moved, ok := errors.AsType[redirect](err); ok {
		to := h.site.At(moved.to)
		if suffixed {
			to += ".md"
		}
		return &edge.Answer{Status: moved.status, Goto: to}, nil
	}
	if err != nil {
		return nil, err
	}
	page := h.page(v)
	body, err := h.pages.Render(rw.template, partOf(rw, markdown), page, v)
	if err == nil && markdown {
		body, err = h.asMarkdown(body, v, page)
	}
	if markdown {
		return h.answer(markdownType, body), err
	}
	return h.answer(htmlType, body), err
}

// The media types of pages.
const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
)

// answer is one that its clients keep and ask about again.
func (h *Handler) answer(kind string, body []byte) *edge.Answer {
	return &edge.Answer{Type: kind, Body: body, Keep: edge.Revalidate, Weak: true, Page: h.site.Policy()}
}

func partOf(rw row, markdown bool) string {
	if markdown {
		return "main"
	}
	return rw.part
}

// build asks the operations of a row and prepares its view.
func (h *Handler) build(ctx context.Context, rw row, r *http.Request, query url.Values) (*view, error) {
	v := &view{Params: query, Kind: rw.kind, Lede: rw.lede, Path: r.URL.Path, row: rw, ctx: ctx, Origin: rw.record}
	vars := map[string]string{"id": r.PathValue("id")}
	for i, a := range rw.ask {
		got, err := h.run(ctx, a, vars, query)
		if err != nil && (i > 0 && a.optional || rw.template == "search") {
			h.cfg.Log.Debug("a part of a page is missing", "operation", a.op, "error", err)
			continue
		}
		if err != nil {
			return v, err
		}
		v.answers = append(v.answers, got)
		if i > 0 {
			continue
		}
		v.Main = got.answer
		if rw.record {
			if err := h.canonical(v, r); err != nil {
				return v, err
			}
			vars["key"], vars["id"], vars["title"] = text(v.Main, "Key"), text(v.Main, "ID"), text(v.Main, "Title")
			vars["record_id"] = strconv.FormatInt(field(v.Main, "RecordID").(int64), 10)
		}
	}
	v.Title = h.title(v)
	if rw.prepare != nil {
		if err := rw.prepare(h, v); err != nil {
			return v, err
		}
	}
	v.Same = h.same(v.answers)
	return v, nil
}

// canonical redirects if the record's page has another address: it was
// renumbered or merged, or found by another name.
func (h *Handler) canonical(v *view, r *http.Request) error {
	page := strings.TrimPrefix(text(v.Main, "Page"), h.cfg.PublicURL)
	if other := !strings.HasPrefix(page, "/"+v.Kind.Segment+"/"); other && v.Kind.Segment != "" {
		return redirect{page, http.StatusMovedPermanently}
	}
	want, err := url.PathUnescape(page)
	if err != nil {
		return err
	}
	v.Path = page
	here := r.URL.Path
	if tab := tabOf(v.row.template); tab != "" {
		want, v.Path = want+"/"+tab, page+"/"+tab
	}
	if v.row.path == anyRecord {
		return redirect{page, http.StatusMovedPermanently}
	}
	if here == want || strings.TrimSuffix(here, ".md") == want {
		return nil
	}
	to := v.Path
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return redirect{to, http.StatusMovedPermanently}
}

// tabOf is the name of a further page of a proposal; "" for its first.
func tabOf(template string) string {
	name, ok := strings.CutPrefix(template, "cip-")
	if !ok || name == "text" {
		return ""
	}
	return name
}

func (h *Handler) title(v *view) string {
	if v.row.record {
		return text(v.Main, "Title")
	}
	return v.row.title
}

// page is what the layout says of a view.
func (h *Handler) page(v *view) look.Page {
	p := look.Page{
		Title: v.Title, Description: h.about(v), Path: v.Path, Kind: "website", NoIndex: v.row.noIndex, Next: v.next,
		Query: v.Params.Get("q"),
	}
	if v.row.path != "/" {
		p.Query = ""
	}
	if len(v.Params) > 0 && !v.row.record {
		p.NoIndex = v.row.noIndex || v.Params.Get("offset") == "" // parts of a list are indexed, filters are not
	}
	markdown := look.Alternate{Type: "text/markdown", Path: markdownPath(v.Path), Title: "Markdown"}
	p.Alternates = append(p.Alternates, markdown)
	if v.row.record {
		h.describe(v, &p)
	}
	if v.row.head != nil {
		v.row.head(v, &p)
	}
	return p
}

func markdownPath(path string) string {
	if path == "/" {
		return "/index.md"
	}
	return path + ".md"
}

// about says in a line what a page is.
func (h *Handler) about(v *view) string {
	if summary := short(200, text(v.Main, "Summary")); v.row.record && summary != "" {
		return summary
	}
	if v.Lede == "" && v.Title == "" {
		return "Proposals, documentation, discussions, releases and the state of " + h.cfg.Name + ", in one search."
	}
	return cmp.Or(v.Lede, v.Title+" of "+h.cfg.Name)
}

// describe fills in what search engines and previews show of a record.
func (h *Handler) describe(v *view, p *look.Page) {
	p.Kind = "article"
	if p.Title == "" {
		p.Title = v.Kind.One
	}
	data := map[string]any{
		"@context": "https://schema.org", "@type": schemaOf(v.Kind.Name), "headline": short(110, p.Title),
		"url": h.site.Absolute(v.Path), "isBasedOn": text(v.Main, "URL"),
	}
	if author := text(v.Main, "Author"); author != "" {
		data["author"] = map[string]any{"@type": "Person", "name": author}
	}
	for name, of := range map[string]string{"datePublished": "CreatedAt", "dateModified": "UpdatedAt"} {
		if at := isoOf(field(v.Main, of)); at != "" {
			data[name] = at
		}
	}
	p.LinkedData = data
}

func schemaOf(kind string) string {
	switch kind {
	case "topic", "post", "discussion", "mail_thread", "mail_message":
		return "DiscussionForumPosting"
	case "blog":
		return "BlogPosting"
	case "doc", "cip":
		return "TechArticle"
	}
	return "Article"
}

// funcs are what the templates of this package call besides those of look.
func (h *Handler) funcs() template.FuncMap {
	return template.FuncMap{
		"field": field, "page": pageOf(h), "facts": factsOf,
		"cut":  func(s string) string { return cutBlock(s, textSize) },
		"tabs": tabsOf, "said": Said, "often": often,
		"kind": func(name string) Kind { return h.kinds[name] },
		"part": func(kind string) bool { return slices.Contains(parts, kind) },
		"tree": func(g graph) template.HTML { return Tree(g, h.site.At) },
	}
}

// parts are the kinds that are parts of others.
var parts = []string{"post", "mail_message", "comment", "attachment"}

// pageOf returns the address of a record on this server.
func pageOf(h *Handler) func(any) string {
	return func(v any) string { return h.site.Local(text(v, "Page")) }
}
