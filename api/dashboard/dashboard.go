// Package dashboard serves the pages of the admin listener: what people tune
// relevance with, from a query to a published change, and operate the service.
// Its pages are rendered on the server as those of package web are, but it
// changes things, so it works on catalog and searcher themselves. Whoever
// mounts it has checked login and origin.
package dashboard

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/edge"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/revision"
)

// Config of a Handler.
type Config struct {
	Store  catalog.Store
	Search Searcher // the one that serves
	// Revisions reads what is published, and what would be.
	Revisions revision.Source
	// Find finds the record that a person names: by id, kind:key, path or the address
	// of its page. Page is that address.
	Find    func(ctx context.Context, name string) (catalog.Record, error)
	Page    func(catalog.Record) string
	Network string // for people
	Public  string // address of the public listener, for links to records; "" if not known
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
	retrieval.Searcher
	Absent(ctx context.Context, r retrieval.Request, record int64) (retrieval.Absence, error)
}

// Handler serves the pages.
type Handler struct {
	cfg   Config
	site  *look.Site
	pages *look.Templates
}

//go:embed pages
var pages embed.FS

//go:embed assets
var assets embed.FS

// Sections are the parts of the dashboard, as its masthead has them.
var sections = []look.Link{
	{Title: "Lab", Path: "/lab"}, {Title: "Judging", Path: "/judging"}, {Title: "Evaluation", Path: "/evaluation"},
	{Title: "Tuning", Path: "/tuning"}, {Title: "Analytics", Path: "/analytics"},
	{Title: "Operations", Path: "/operations"},
}

// New makes the handler.
func New(cfg Config) (*Handler, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{cfg: cfg}
	var err error
	h.site, err = look.New(look.Site{Name: cfg.Network, Version: cfg.Version, Nav: sections, Tool: "relevance",
		Files: assets, More: []look.Link{{Title: "Metrics", Path: "/metrics"}, {Title: "Profiles", Path: "/debug/pprof/"}}})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	dir, err := fs.Sub(pages, "pages")
	if err == nil {
		h.pages, err = h.site.Parse(dir, h.funcs())
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return h, nil
}

// Routes are the pages, and the one that says that there is none.
func (h *Handler) Routes() (all []edge.Route) {
	routes := h.routes()
	routes[" "] = func(r *http.Request) (reply, error) {
		return reply{}, fmt.Errorf("%s: %w", r.URL.Path, catalog.ErrNotFound)
	}
	for _, pattern := range slices.Sorted(maps.Keys(routes)) {
		answer := routes[pattern]
		method, path, _ := strings.Cut(pattern, " ")
		all = append(all, edge.Route{Method: method, Path: path, MaxBody: maxForm, Page: true, Refuse: h.Refuse,
			Serve: func(r *http.Request) (*edge.Answer, error) {
				got, err := answer(r)
				if err != nil {
					return nil, err
				}
				return h.answer(r, got), nil
			}})
	}
	return all
}

// maxForm bounds what a form sends, in bytes.
const maxForm = 4 << 20

// answer answers a request; an error becomes a page.
type answer func(r *http.Request) (reply, error)

// reply is what a request is answered with: a page, or where to go from here.
type reply struct {
	Template string
	Page     look.Page
	Data     any
	Part     string // one template of the page, for scripts; "" = all of it
	Goto     string // an address on this listener, after a change
	Raw      *raw   // a file
	Status   int    // of a page; 0 = 200
	Stranger bool   // whoever asks may not have logged in: the page says nothing of what is here
	Again    *again // a form of the page that failed
}

// raw is a file for download.
type raw struct {
	Name, Type string
	Body       []byte
}

// answer makes the answer of a reply.
func (h *Handler) answer(r *http.Request, got reply) *edge.Answer {
	switch {
	case got.Goto != "":
		return &edge.Answer{Status: http.StatusSeeOther, Goto: got.Goto}
	case got.Raw != nil:
		return &edge.Answer{Type: got.Raw.Type, Body: got.Raw.Body, Header: http.Header{
			"Content-Disposition": {fmt.Sprintf("attachment; filename=%q", got.Raw.Name)}}}
	}
	got.Page.NoIndex = true
	if !got.Stranger {
		got.Page.State = append(got.Page.State, h.live(r.Context()),
			look.Link{Title: admin.User(r.Context()), Path: "/login"})
	}
	body, err := h.pages.Render(got.Template, got.Part, got.Page, got.Data)
	if err == nil && got.Again != nil {
		body, err = got.Again.fill(body)
	}
	if err != nil {
		h.cfg.Log.ErrorContext(r.Context(), "dashboard page failed", "path", r.URL.Path, "error", err)
		f := failure{Status: http.StatusInternalServerError, Heading: "This page failed", Text: "The log says why"}
		if got.Template == failurePage {
			return (&edge.Refusal{Status: f.Status, Message: "the page failed; the log says why"}).JSON()
		}
		return h.answer(r, f.reply())
	}
	return &edge.Answer{Status: got.Status, Type: "text/html; charset=utf-8", Body: body, Page: h.site.Policy()}
}

// live names the profile in force.
func (h *Handler) live(ctx context.Context) look.Link {
	live, _, err := revision.InForce(ctx, h.cfg.Store)
	if err != nil {
		return look.Link{Title: "catalog unavailable", Path: "/tuning"}
	}
	title := "configured profile"
	if p := live[0]; p.Number != 0 {
		title = fmt.Sprintf("%s, live since %s", p, p.At.UTC().Format("2 Jan"))
	}
	return look.Link{Title: title, Path: "/tuning"}
}

// invalid is an error in what a person sent; its text is for them.
type invalid string

// Error implements error.
func (e invalid) Error() string { return string(e) }

// in names the field of the form that the error is about.
func (e invalid) in(field string) error { return fieldError{e, field} }

// fieldError is an error in a field of a form.
type fieldError struct {
	invalid
	field string
}

// Unwrap makes it an invalid.
func (e fieldError) Unwrap() error { return e.invalid }

// failure is a page about an error.
type failure struct {
	Status   int
	Heading  string
	Text     string
	Conflict *catalog.ConflictError
	Back     look.Link // where to go from here; zero: nowhere
	Stranger bool      // see reply
}

const failurePage = "failure"

func (f failure) reply() reply {
	return reply{Template: failurePage, Page: look.Page{Title: f.Heading}, Status: f.Status, Data: f, Stranger: f.Stranger}
}

// Refuse implements admin.Front.
func (h *Handler) Refuse(r *http.Request, err error) *edge.Answer {
	f := failureOf(err)
	if !f.Stranger {
		f.Back = sections[0]
	}
	for _, section := range sections {
		if strings.HasPrefix(r.URL.Path, section.Path) && !f.Stranger {
			f.Back = section
		}
	}
	return h.answer(r, f.reply())
}
