package web

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"almanac/api/cips"
	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/catalog"
)

// view is what a template sees of a page.
type view struct {
	Main   any            // the answer the page is about
	Record library.Record // that is Main; zero if the page shows none
	Params url.Values     // of the query
	Kind   kb.PageKind
	Title  string
	Lede   string
	Path   string // of this page, on this server
	Same   []Same
	Text   *Text // of a record
	Extra  any   // what the row prepared

	h       *Handler
	row     row
	ctx     context.Context
	items   map[catalog.Ref]kb.Item // that texts of the page name; zero: there is none
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

// answerOf returns the answer of a type that a page has.
func answerOf[T any](v *view) (answer T, ok bool) {
	for _, a := range v.answers {
		if answer, ok = a.answer.(T); ok {
			return answer, true
		}
	}
	return answer, false
}

// headed is an answer that says what stands at the head of its page: how many there
// are in all, and why nothing is listed.
type headed interface {
	Head() (total int, hint string)
}

// Head is what the page's answer says there.
func (v *view) Head() (head struct {
	Total int
	Hint  string
}) {
	if main, ok := v.Main.(headed); ok {
		if head.Total, head.Hint = main.Head(); head.Hint != "" {
			head.Hint = sentence(head.Hint)
		}
	}
	return head
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

// filter are the values of a parameter that a list can be narrowed to.
type filter struct {
	Label   string
	Choices []choice
}

// Filter makes one of options: name=value, or a value that is its own name. Without
// the parameter the first is in force.
func (v *view) Filter(label, param string, options ...string) filter {
	f := filter{Label: label}
	for i, o := range options {
		name, value, named := strings.Cut(o, "=")
		if !named {
			value = name
		}
		current := v.Param(param) == value || v.Param(param) == "" && i == 0
		f.Choices = append(f.Choices, choice{Name: name, Link: v.With(param, value), Current: current})
	}
	return f
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
func (h *Handler) serve(r *http.Request, rw row, suffixed bool) (*server.Answer, error) {
	if ready, progress := h.cfg.Ready(); !ready && !rw.early {
		return nil, op.Loading(progress)
	}
	ctx := r.Context()
	if rw.quiet {
		ctx = tally.Uncounted(ctx)
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, op.Invalid("the query string is malformed: write %% as %%25 and ; as %%3B")
	}
	markdown := rw.part == "" && (suffixed || asksForMarkdown(r))
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
		return &server.Answer{Status: moved.status, Goto: to}, nil
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
func (h *Handler) answer(kind string, body []byte) *server.Answer {
	return &server.Answer{Type: kind, Body: body, Keep: server.Revalidate, Weak: true, Page: h.site.Policy()}
}

func partOf(rw row, markdown bool) string {
	if markdown {
		return "main"
	}
	return rw.part
}

// build asks the operations of a row and prepares its view.
func (h *Handler) build(ctx context.Context, rw row, r *http.Request, query url.Values) (*view, error) {
	v := &view{
		Params: query, Kind: rw.kind, Title: rw.title, Lede: rw.lede, Path: r.URL.Path, h: h, row: rw, ctx: ctx,
		items: map[catalog.Ref]kb.Item{},
	}
	vars := map[string]string{"id": r.PathValue("id")}
	for i, q := range rw.asks {
		got, err := q.ask(ctx, vars, query)
		if err != nil && (i > 0 && q.optional || rw.template == "search") {
			h.cfg.Log.Debug("a part of a page is missing", "operation", q.op.ID, "error", err)
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
			v.Record = got.answer.(library.Record) // compile has seen to it
			if err := h.canonical(v, r); err != nil {
				return v, err
			}
			vars, v.Title = namesOf(v.Record), numbered(v.Record, tabName(rw))
		}
	}
	if rw.prepare != nil {
		if err := rw.prepare(h, v); err != nil {
			return v, err
		}
	}
	v.Same = h.same(v.answers)
	return v, nil
}

// canonical redirects if the record's page has another address: it was
// renumbered or merged, or found by another name. Browsers do not keep the redirect: it
// may move again.
func (h *Handler) canonical(v *view, r *http.Request) error {
	page := strings.TrimPrefix(v.Record.Page, h.cfg.PublicURL)
	if other := !strings.HasPrefix(page, "/"+v.Kind.Segment+"/"); other && v.Kind.Segment != "" {
		return redirect{page, http.StatusFound}
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
		return redirect{page, http.StatusFound}
	}
	if here == want || strings.TrimSuffix(here, ".md") == want {
		return nil
	}
	to := v.Path
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return redirect{to, http.StatusFound}
}

// tabOf is the name of a further page of a proposal; "" for its first.
func tabOf(template string) string {
	name, ok := strings.CutPrefix(template, "cip-")
	if !ok || name == "text" {
		return ""
	}
	return name
}

// page is what the layout says of a view.
func (h *Handler) page(v *view) look.Page {
	p := look.Page{
		Title: v.Title, Description: h.about(v), Path: v.Path, Kind: "website", NoIndex: v.row.noIndex, Next: v.next,
		Query: v.Params.Get("q"), Nav: h.nav(v.ctx),
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
	if said := short(200, cmp.Or(look.Plain(v.Record.Summary), v.opening())); said != "" {
		return said
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
		"@context": "https://schema.org", "@type": schemaOf(string(v.Kind.Kind)), "headline": short(110, p.Title),
		"url": h.site.Absolute(v.Path), "isBasedOn": v.Record.URL,
	}
	if author := v.Record.Author; author != "" {
		var people []map[string]any
		for name := range strings.SplitSeq(author, ", ") {
			people = append(people, map[string]any{"@type": "Person", "name": name})
		}
		data["author"] = people
	}
	for name, of := range map[string]*time.Time{"datePublished": v.Record.CreatedAt, "dateModified": v.Record.UpdatedAt} {
		if at := isoOf(of); at != "" {
			data[name] = at
		}
	}
	p.LinkedData = data
	if parent := v.Record.Parent; parent != nil && v.Kind.Kind.InThread() {
		p.Canonical = strings.TrimPrefix(parent.Page, h.cfg.PublicURL)
	}
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
		"until": h.until, "numbered": numbered, "threaded": threaded,
		"tabs": tabsOf, "said": said, "often": often, "naming": h.naming, "untallied": untallied,
		"kind":   func(name string) kb.PageKind { return kinds[name] },
		"part":   func(kind catalog.Kind) bool { return kind.InThread() || kind == catalog.KindAttachment },
		"tree":   func(g cips.Graph) template.HTML { return Tree(g, h.site) },
		"legend": func(g cips.Graph) []sign { return legend(g, h.site) },
		"label":  h.label,
		"labels": func(ids []string) (labels []string) {
			for _, id := range ids {
				labels = append(labels, h.label(id))
			}
			return labels
		},
		"statuses": func(v *view) filter {
			return v.Filter("Status", "status", append([]string{"All="}, h.cfg.Proposals.Statuses...)...)
		},
	}
}

// label is a proposal's id as people say it.
func (h *Handler) label(id string) string {
	if key, ok := h.cfg.Proposals.ParseID(id); ok {
		return key
	}
	return id
}
