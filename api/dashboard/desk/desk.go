// Package desk is what the sections of the dashboard share: the frame of their
// pages, forms that fail, errors as pages, and who works.
package desk

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/edge"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/revision"
	"almanac/retrieval/workbench"
)

// Config of a Desk.
type Config struct {
	revision.Source          // the catalog, and what is published in it
	Search          Searcher // the one that serves
	// Find finds the record that a person names: by id, kind:key, path or the address
	// of its page. Page is that address.
	Find    func(ctx context.Context, name string) (catalog.Record, error)
	Page    func(catalog.Record) string
	Network string // for people
	// What operators look at; nil: it is not known here.
	Metrics  *admin.Metrics
	Engines  []string                                           // that are configured
	Turn     func(source string) (running bool, next time.Time) // of a source: see ingest.Scheduler
	Settings []Setting
	// JudgeModel is the model that jobs of kind judge ask; "" = none.
	JudgeModel string
	Version    string
	Now        func() time.Time // nil = time.Now
	Log        *slog.Logger     // nil = none
}

// Setting is a setting as it is in effect, without secrets.
type Setting struct{ Key, Value, Origin, Variable string }

// Searcher searches, and says why a record is not found.
type Searcher interface {
	workbench.Measurable
	Absent(ctx context.Context, r retrieval.Request, record int64) (retrieval.Absence, error)
}

// Desk serves the pages of its sections, which work on what its Config has.
type Desk struct {
	Config
	Bench    *workbench.Bench // over the index that serves
	sections []Section
	site     *look.Site
	pages    *look.Templates
}

// Section is a part of the dashboard, as its masthead has it.
type Section struct {
	Title, Path string           // without a title the masthead does not have it
	Routes      map[string]Route // by patterns
}

// Route answers a pattern. A form that fails is shown again in its page.
type Route struct {
	do, page Answer
	most     int64 // bytes that are sent; 0: maxForm
}

// Page answers with a page of its own.
func Page(do Answer) Route { return Route{do: do} }

// Form answers a form that page has.
func Form(do, page Answer) Route { return Route{do: do, page: page} }

// Upload is Form with a file.
func Upload(do, page Answer) Route { return Route{do: do, page: page, most: MaxUpload} }

// Again reports whether the page of a form is shown again if it fails.
func (r Route) Again() bool { return r.page != nil }

//go:embed assets
var assets embed.FS

// New makes the desk of sections, whose order is that of the masthead. Their templates
// are in the directories NAME/pages, those that they share in desk/pages.
func New(cfg Config, pages fs.FS, sections ...func(*Desk) Section) (*Desk, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{Config: cfg, Bench: &workbench.Bench{Source: cfg.Source, Index: cfg.Search}}
	var nav []look.Link
	for _, section := range sections {
		x := section(d)
		if d.sections = append(d.sections, x); x.Title != "" {
			nav = append(nav, look.Link{Title: x.Title, Path: x.Path})
		}
	}
	var dirs []fs.FS
	names, err := fs.ReadDir(pages, ".")
	for _, name := range names {
		dir, bad := fs.Sub(pages, path.Join(name.Name(), "pages"))
		dirs, err = append(dirs, dir), cmp.Or(err, bad)
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	d.site, err = look.New(look.Site{Name: cfg.Network, Version: cfg.Version, Nav: nav, Tool: "relevance",
		Files: assets, More: []look.Link{{Title: "Metrics", Path: "/metrics"}, {Title: "pprof", Path: "/debug/pprof/"}}})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	shared, err := fs.Sub(pages, "desk/pages")
	if err == nil {
		d.pages, err = d.site.Parse(shared, funcs, dirs...)
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return d, nil
}

// Sections are those of the masthead.
func (d *Desk) Sections() []Section { return d.sections }

// Routes are the pages, and the one that says that there is none.
func (d *Desk) Routes() (all []edge.Route) {
	all = append(all, d.route("GET /", Section{}, Page(func(*http.Request) (Reply, error) {
		return Reply{Goto: d.sections[0].Path}, nil
	})), d.route(" ", Section{}, Page(func(r *http.Request) (Reply, error) {
		return Reply{}, fmt.Errorf("%s: %w", r.URL.Path, catalog.ErrNotFound)
	})))
	for _, section := range d.sections {
		for _, pattern := range slices.Sorted(maps.Keys(section.Routes)) {
			all = append(all, d.route(pattern, section, section.Routes[pattern]))
		}
	}
	return all
}

// route serves a pattern of a section.
func (d *Desk) route(pattern string, of Section, route Route) edge.Route {
	method, path, _ := strings.Cut(pattern, " ")
	return edge.Route{Method: method, Path: path, MaxBody: cmp.Or(route.most, maxForm), Page: true, Refuse: d.Refuse,
		Serve: func(r *http.Request) (*edge.Answer, error) {
			if large, ok := errors.AsType[*http.MaxBytesError](r.ParseForm()); ok {
				return nil, &edge.Refusal{Status: http.StatusRequestEntityTooLarge,
					Message: fmt.Sprintf("a form must be at most %d KiB", large.Limit>>10)}
			}
			got, err := route.answer(r)
			if err != nil {
				return nil, err
			}
			got.section = of.Path
			return d.answer(r, got), nil
		}}
}

// The most bytes that a form sends, and one with a file.
const (
	maxForm   = 256 << 10
	MaxUpload = 4 << 20
)

// Answer answers a request; an error becomes a page.
type Answer func(r *http.Request) (Reply, error)

// Reply is what a request is answered with: a page, or where to go from here.
type Reply struct {
	Template string
	Title    string
	Data     any
	Refresh  int    // seconds until the page is asked for again; 0: never
	Part     string // one template of the page, for scripts; "" = all of it
	Goto     string // an address on this listener, after a change
	Raw      *Raw   // a file
	Status   int    // of a page; 0 = 200
	section  string // path
	stranger bool   // whoever asks may not have logged in: the page says nothing of what is here
	again    *again // a form of the page that failed
}

// Raw is a file for download.
type Raw struct {
	Name, Type string
	Body       []byte
}

// answer makes the answer of a reply.
func (d *Desk) answer(r *http.Request, got Reply) *edge.Answer {
	switch {
	case got.Goto != "":
		return &edge.Answer{Status: http.StatusSeeOther, Goto: got.Goto}
	case got.Raw != nil:
		return &edge.Answer{Type: got.Raw.Type, Body: got.Raw.Body, Header: http.Header{
			"Content-Disposition": {fmt.Sprintf("attachment; filename=%q", got.Raw.Name)}}}
	}
	page := look.Page{Title: got.Title, Path: r.URL.Path, Section: got.section, Refresh: got.Refresh, NoIndex: true}
	if !got.stranger {
		page.State = []look.Link{d.live(r.Context()), {Title: "Changes", Path: "/changes"},
			{Title: admin.User(r.Context()), Path: "/login"}}
	}
	body, err := d.pages.Render(got.Template, got.Part, page, got.Data)
	if err == nil && got.again != nil {
		body, err = got.again.fill(body)
	}
	if err != nil {
		d.Log.ErrorContext(r.Context(), "dashboard page failed", "path", r.URL.Path, "error", err)
		f := failure{Status: http.StatusInternalServerError, Heading: "This page failed", Text: "The log says why"}
		if got.Template == failurePage {
			return (&edge.Refusal{Status: f.Status, Message: "the page failed; the log says why"}).JSON()
		}
		return d.answer(r, f.reply())
	}
	return &edge.Answer{Status: got.Status, Type: "text/html; charset=utf-8", Body: body, Page: d.site.Policy()}
}

// live names what is live: the profile, and the synonyms and pins that were published.
func (d *Desk) live(ctx context.Context) look.Link {
	live, _, err := revision.InForce(ctx, d.Store)
	if err != nil {
		return look.Link{Title: "catalog unavailable", Path: "/profiles"}
	}
	title := "live: " + live[0].String()
	for _, p := range live[1:] {
		if p.Number != 0 {
			title += " · " + p.String()
		}
	}
	return look.Link{Title: title, Path: "/profiles"}
}

// Invalid is an error in what a person sent; its text is for them.
type Invalid string

// Error implements error.
func (e Invalid) Error() string { return string(e) }

// In names the field of the form that the error is about.
func (e Invalid) In(field string) error { return fieldError{e, field} }

// fieldError is an error in a field of a form.
type fieldError struct {
	Invalid
	field string
}

// Unwrap makes it an Invalid.
func (e fieldError) Unwrap() error { return e.Invalid }

// failure is a page about an error.
type failure struct {
	Status   int
	Heading  string
	Text     string
	Conflict *catalog.ConflictError
	Back     look.Link // where to go from here; zero: nowhere
	Stranger bool      // see Reply
}

const failurePage = "failure"

func (f failure) reply() Reply {
	return Reply{Template: failurePage, Title: f.Heading, Status: f.Status, Data: f, stranger: f.Stranger}
}

// Refuse implements admin.Front.
func (d *Desk) Refuse(r *http.Request, err error) *edge.Answer {
	f, current := failureOf(r.Context(), err), ""
	for i, section := range d.sections {
		within := strings.HasPrefix(r.URL.Path, section.Path)
		if !f.Stranger && (i == 0 || within) {
			f.Back = look.Link{Title: section.Title, Path: section.Path}
		}
		if !f.Stranger && within {
			current = section.Path
		}
	}
	page := f.reply()
	page.section = current
	return d.answer(r, page)
}

// Number reads an integer of a form.
func Number(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.FormValue(name)); err == nil {
		return n
	}
	return otherwise
}

// Link is an address with one parameter.
func Link(path, name, value string) string { return path + "?" + url.Values{name: {value}}.Encode() }

var _ admin.Front = (*Desk)(nil)

// Login implements admin.Front.
func (d *Desk) Login(r *http.Request, f admin.Form) *edge.Answer {
	return d.answer(r, Reply{Template: "login", Title: "Log in", Status: f.Status,
		Data: f, stranger: true})
}

// Assets implements admin.Front.
func (d *Desk) Assets() edge.Route { return d.site.Assets() }

// Done is a publication that was just made.
type Done struct {
	catalog.Publication
	Change int64  // which undoes it
	Before string // what was live
	Here   bool   // the page shows what it did
}

// After is the address of a page that says that a publication was made.
func After(path string, p catalog.Publication) string {
	return fmt.Sprintf("%s?published=%d", path, p.ID)
}

// Done returns the publication that the address of a page names as just made; nil if it
// names none, or another followed.
func (d *Desk) Done(r *http.Request) (*Done, error) {
	live, _, err := revision.InForce(r.Context(), d.Store)
	if err != nil {
		return nil, err
	}
	for _, p := range live {
		if p.ID == 0 || p.ID != int64(Number(r, "published", 0)) {
			continue
		}
		changes, err := d.Store.Audit(r.Context(), 50)
		for _, a := range changes {
			if a.Action == "publish" && a.Subject == string(p.Kind) {
				return &Done{Publication: p, Change: a.ID, Before: edition(a.Subject, a.Before)}, err
			}
		}
		return nil, err
	}
	return nil, nil
}
