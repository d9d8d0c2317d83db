// Package form is what the rooms of the dashboard share: the frame of their pages, forms
// that fail, errors as pages, and who works.
package form

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
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/api/server"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// Config of Pages.
type Config struct {
	ranking.Source          // the catalog, and what is published in it
	Search         Searcher // the one that serves
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

// Pages serves the pages of the rooms, which work on what its Config has.
type Pages struct {
	Config
	Bench    *workbench.Bench // over the index that serves
	sections []look.Link
	routes   map[string]Route // by patterns
	site     *look.Site
	pages    *look.Templates
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

//go:embed assets
var assets embed.FS

// New makes the pages of rooms. Sections are those of the masthead: a page is in the one
// whose path its own begins with, and the first is where one begins. The templates are in
// the directories ROOM/pages; form/pages/shared.html has those that all share.
func New(cfg Config, templates fs.FS, sections []look.Link, rooms ...func(*Pages) map[string]Route) (*Pages, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pages{Config: cfg, Bench: &workbench.Bench{Source: cfg.Source, Index: cfg.Search}, sections: sections,
		routes: map[string]Route{}}
	for _, room := range rooms {
		maps.Copy(p.routes, room(p))
	}
	var err error
	p.site, err = look.New(look.Site{Name: cfg.Network, Version: cfg.Version, Nav: sections, Tool: "relevance",
		Files: assets, More: []look.Link{{Title: "Metrics", Path: "/metrics"}, {Title: "pprof", Path: "/debug/pprof/"}}})
	if err == nil {
		p.pages, err = p.site.Parse(templates, funcs, "form/pages/shared.html", "*/pages/*.html")
	}
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return p, nil
}

// Routes are the pages, and the one that says that there is none.
func (p *Pages) Routes() []server.Route {
	all := []server.Route{p.route("GET /", Page(func(*http.Request) (Reply, error) {
		return Reply{Goto: p.sections[0].Path}, nil
	})), p.route(" ", Page(func(r *http.Request) (Reply, error) {
		return Reply{}, fmt.Errorf("%s: %w", r.URL.Path, catalog.ErrNotFound)
	}))}
	for _, pattern := range slices.Sorted(maps.Keys(p.routes)) {
		all = append(all, p.route(pattern, p.routes[pattern]))
	}
	return all
}

// route serves a pattern.
func (p *Pages) route(pattern string, route Route) server.Route {
	method, path, _ := strings.Cut(pattern, " ")
	return server.Route{Method: method, Path: path, MaxBody: cmp.Or(route.most, maxForm), Page: true, Refuse: p.Refuse,
		Serve: func(r *http.Request) (*server.Answer, error) {
			if large, ok := errors.AsType[*http.MaxBytesError](r.ParseForm()); ok {
				return nil, &server.Refusal{Status: http.StatusRequestEntityTooLarge,
					Message: fmt.Sprintf("a form must be at most %d KiB", large.Limit>>10)}
			}
			got, err := route.answer(r)
			if err != nil {
				return nil, err
			}
			return p.answer(r, got), nil
		}}
}

// section is the one of the masthead that a page is in; zero: none.
func (p *Pages) section(r *http.Request) (of look.Link) {
	for _, x := range p.sections {
		if strings.HasPrefix(r.URL.Path, x.Path) {
			of = x
		}
	}
	return of
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
	stranger bool   // whoever asks may not have logged in: the page says nothing of what is here
	sent     *Sent  // a form of the page that was refused
}

// Raw is a file for download.
type Raw struct {
	Name, Type string
	Body       []byte
}

// answer makes the answer of a reply.
func (p *Pages) answer(r *http.Request, got Reply) *server.Answer {
	switch {
	case got.Goto != "":
		return &server.Answer{Status: http.StatusSeeOther, Goto: got.Goto}
	case got.Raw != nil:
		return &server.Answer{Type: got.Raw.Type, Body: got.Raw.Body, Header: http.Header{
			"Content-Disposition": {fmt.Sprintf("attachment; filename=%q", got.Raw.Name)}}}
	}
	page := look.Page{Title: got.Title, Path: r.URL.Path, Refresh: got.Refresh, NoIndex: true}
	if !got.stranger {
		page.Section = p.section(r).Path
		page.State = []look.Link{p.live(r.Context()), {Title: "Changes", Path: "/changes"},
			{Title: admin.User(r.Context()), Path: "/login"}}
	}
	page.Form = got.sent
	body, err := p.pages.Render(got.Template, got.Part, page, got.Data)
	if err == nil && got.sent != nil && !got.sent.said { // the page no longer has the form
		return p.Refuse(r, got.sent.err)
	}
	if err != nil {
		p.Log.ErrorContext(r.Context(), "dashboard page failed", "path", r.URL.Path, "error", err)
		f := failure{Status: http.StatusInternalServerError, Heading: "This page failed", Text: "The log says why"}
		if got.Template == failurePage {
			return (&server.Refusal{Status: f.Status, Message: "the page failed; the log says why"}).JSON()
		}
		return p.answer(r, f.reply())
	}
	return &server.Answer{Status: got.Status, Type: "text/html; charset=utf-8", Body: body, Page: p.site.Policy()}
}

// live names what is live: the profile, and the synonyms and pins that were published.
func (p *Pages) live(ctx context.Context) look.Link {
	live, _, err := ranking.InForce(ctx, p.Store)
	if err != nil {
		return look.Link{Title: "catalog unavailable", Path: "/profiles"}
	}
	title := "live: " + live[0].String()
	for _, x := range live[1:] {
		if x.Number != 0 {
			title += " · " + x.String()
		}
	}
	return look.Link{Title: title, Path: "/profiles"}
}

const failurePage = "failure"

func (f failure) reply() Reply {
	return Reply{Template: failurePage, Title: f.Heading, Status: f.Status, Data: f, stranger: f.Stranger}
}

// Refuse implements admin.Front.
func (p *Pages) Refuse(r *http.Request, err error) *server.Answer {
	f := failureOf(r.Context(), err)
	if f.Back = cmp.Or(p.section(r), p.sections[0]); f.Stranger {
		f.Back = look.Link{}
	}
	return p.answer(r, f.reply())
}

// Number reads an integer of a form.
func Number(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.FormValue(name)); err == nil {
		return n
	}
	return otherwise
}

// Address is a path with parameters, which are names and values in turn. A name with a list has each
// of its values; one whose value is "" is left out.
func Address(path string, parameters ...any) string {
	query := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		name := parameters[i].(string)
		if list, ok := parameters[i+1].([]string); ok {
			query[name] = append(query[name], list...)
		} else if value := fmt.Sprint(parameters[i+1]); value != "" {
			query.Add(name, value)
		}
	}
	return strings.TrimSuffix(path+"?"+query.Encode(), "?")
}

var _ admin.Front = (*Pages)(nil)

// Login implements admin.Front.
func (p *Pages) Login(r *http.Request, f admin.Form) *server.Answer {
	return p.answer(r, Reply{Template: "login", Title: "Log in", Status: f.Status,
		Data: f, stranger: true})
}

// Assets implements admin.Front.
func (p *Pages) Assets() server.Route { return p.site.Assets() }

// Done is a publication that was just made.
type Done struct {
	catalog.Publication
	Change int64  // which undoes it
	Before string // what was live
	Here   bool   // the page shows what it did
}

// After is the address of a page that says that a publication was made.
func After(path string, made catalog.Publication) string {
	return Address(path, "published", made.ID)
}

// Done returns the publication that the address of a page names as just made; nil if it
// names none, or another followed.
func (p *Pages) Done(r *http.Request) (*Done, error) {
	live, _, err := ranking.InForce(r.Context(), p.Store)
	if err != nil {
		return nil, err
	}
	for _, x := range live {
		if x.ID == 0 || x.ID != int64(Number(r, "published", 0)) {
			continue
		}
		changes, err := p.Store.Audit(r.Context(), 50)
		for _, a := range changes {
			if a.Action == "publish" && a.Subject == string(x.Kind) {
				return &Done{Publication: x, Change: a.ID, Before: edition(a.Subject, a.Before)}, err
			}
		}
		return nil, err
	}
	return nil, nil
}

// NewCase makes a case whose name is free.
func (p *Pages) NewCase(r *http.Request, name, description string) (catalog.Case, error) {
	_, err := workbench.CaseNamed(r.Context(), p.Store, name)
	if err == nil {
		return catalog.Case{}, Invalid(fmt.Sprintf("there is a case %q already", name)).In("name")
	}
	if !errors.Is(err, catalog.ErrNotFound) {
		return catalog.Case{}, err
	}
	return p.Store.PutCase(r.Context(), catalog.Case{Name: name, Description: strings.TrimSpace(description)},
		admin.User(r.Context()))
}

// Cases returns the cases, and their names.
func (p *Pages) Cases(ctx context.Context) (list []catalog.Case, names map[int64]string, err error) {
	list, err = p.Store.Cases(ctx)
	names = make(map[int64]string, len(list))
	for _, c := range list {
		names[c.ID] = c.Name
	}
	return list, names, err
}

// CasePath is the address of a case.
func CasePath(id int64) string { return "/cases/" + strconv.FormatInt(id, 10) }

// Edited is the name of a profile that is in a form.
const Edited = "edited"

// Plainly says what is wrong with the text of a profile, in one sentence with the
// line if that is known.
func Plainly(err error, text string) string {
	if f, ok := errors.AsType[ranking.Fault](err); ok {
		return f.In([]byte(text)).Error()
	}
	return err.Error()
}
