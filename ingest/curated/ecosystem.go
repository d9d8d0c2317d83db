package curated

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/curated/entries"
	"almanac/ingest/folder"
	"almanac/text/dates"
)

// App is the curated description of a featured application: an entry of the
// file apps.
type App struct {
	ID          string `json:"id,omitempty" jsonschema:"contract id of the featured right; for a provider with several"`
	Provider    string `json:"provider" jsonschema:"party id of the provider"`
	Name        string `json:"name" jsonschema:"its usual name"`
	Category    string `json:"category,omitempty" jsonschema:"for example wallet, exchange, data"`
	Description string `json:"description,omitempty" jsonschema:"what it is for, in one or two sentences"`
	URL         string `json:"url,omitempty" jsonschema:"where to use it or read about it"`
	Project     string `json:"project,omitempty" format:"slug" jsonschema:"slug of its project"`
}

// Of reports whether the entry describes the application with a contract id and
// a provider's party id. An entry with a contract id describes only that one.
func (a App) Of(id, provider string) bool {
	if a.ID != "" {
		return a.ID == id
	}
	return a.Provider == provider
}

// Apps reads the files of applications in a folder. Entries with a contract id
// come first, so that the first one whose Of is true is the best match. Bad
// entries are skipped: the curated source reports them.
func Apps(fsys fs.FS, dir string) ([]App, error) {
	r := &reader{}
	for _, extension := range []string{".yaml", ".yml", ".csv"} {
		name := path.Join(dir, "apps"+extension)
		data, err := folder.Read(fsys, name, int64(entries.Own.Bytes))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("curated: %s: %w", name, folder.Reason(err))
		}
		if err := files[0].read(r, name, data); err != nil {
			return nil, fmt.Errorf("curated: %w", err)
		}
	}
	slices.SortStableFunc(r.apps, func(a, b App) int { return len(b.ID) - len(a.ID) })
	return r.apps, nil
}

// readApp keeps an application for the projects and for Apps.
func readApp(r *reader, a App) (catalog.Entry, error) {
	same := func(b App) bool { return a.ID == b.ID && (a.ID != "" || a.Provider == b.Provider) }
	if slices.ContainsFunc(r.apps, same) {
		return catalog.Entry{}, fmt.Errorf("there is already an application of %s; give each an id", a.Provider)
	}
	r.apps = append(r.apps, a)
	return catalog.Entry{}, nil
}

type project struct {
	Slug         string              `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the title"`
	Title        string              `json:"title"`
	Description  string              `json:"description" jsonschema:"what it is, in one or two sentences"`
	Category     string              `json:"category,omitempty" jsonschema:"for example wallet, infrastructure, tools"`
	Organisation string              `json:"organisation,omitempty"`
	URL          string              `json:"url,omitempty" jsonschema:"its website"`
	Status       string              `json:"status,omitempty" enum:"building|beta|live|retired"`
	Tags         []string            `json:"tags"`
	Repos        []string            `json:"repos" format:"repository"`
	Packages     []string            `json:"packages" jsonschema:"names in the package registries"`
	SDKs         []string            `json:"sdks" jsonschema:"what it builds on, as name or name@version"`
	Apps         []string            `json:"apps" jsonschema:"contract ids or party ids of its featured applications"`
	Seeks        []string            `json:"seeks" jsonschema:"tags or categories it looks for in partners"`
	Implements   []string            `json:"implements" jsonschema:"improvement proposals it implements"`
	Grants       []int               `json:"grants" jsonschema:"numbers of the grant proposals that funded it"`
	Links        []catalog.NamedLink `json:"links"`
	Verified     string              `json:"verified,omitempty" format:"date" jsonschema:"when it was last checked"`
	Text         string              `json:"text,omitempty" jsonschema:"more about it, in Markdown"`
}

func readProject(r *reader, p project) (catalog.Entry, error) {
	key, err := slug(p.Slug, p.Title)
	if err != nil {
		return catalog.Entry{}, err
	}
	data := catalog.Project{
		Organisation: p.Organisation, Repos: p.Repos, Packages: p.Packages, SDKs: []catalog.Dependency{},
		Apps: p.Apps, Seeks: p.Seeks, Links: p.Links, Verified: p.Verified,
	}
	for _, s := range p.SDKs {
		data.SDKs = append(data.SDKs, dependency(s))
	}
	for _, a := range r.apps {
		if id := a.key(); a.Project == key && !slices.Contains(data.Apps, id) {
			data.Apps = append(data.Apps, id)
		}
	}
	e, err := catalog.Record{
		Kind: catalog.KindProject, Key: key, Title: p.Title, URL: p.URL, State: p.Status, Category: p.Category,
		Summary: p.Description, Tags: catalog.Tags(catalog.TagLabel, p.Tags...),
		Body: paragraphs(p.Description, p.Text, lines(
			line("Category", p.Category), line("By", p.Organisation), line("Tags", p.Tags...),
			line("Builds on", p.SDKs...), line("Packages", p.Packages...), line("Repositories", p.Repos...),
			line("Looks for", p.Seeks...), line("Implements", p.Implements...),
		)),
	}.With(data)
	for _, name := range p.Repos {
		e.Links = append(e.Links, reference(catalog.KindRepo, name))
	}
	for _, id := range data.Apps {
		e.Links = append(e.Links, reference(catalog.KindApp, id))
	}
	for _, n := range p.Grants {
		e.Links = append(e.Links, reference(catalog.KindGrant, strconv.Itoa(n)))
	}
	for _, id := range p.Implements {
		to, err := r.proposal(id)
		if err != nil {
			return catalog.Entry{}, err
		}
		e.Links = append(e.Links, catalog.Link{Relation: catalog.Implements, To: to})
	}
	return e, err
}

// key is the application's key in a project's list.
func (a App) key() string { return cmp.Or(a.ID, a.Provider) }

// dependency reads name@version; the name may begin with an at sign.
func dependency(s string) catalog.Dependency {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		return catalog.Dependency{Name: s[:i], Version: s[i+1:]}
	}
	return catalog.Dependency{Name: s}
}

func reference(kind catalog.Kind, key string) catalog.Link {
	return catalog.Link{Relation: catalog.References, To: catalog.Ref{Kind: kind, Key: key}}
}

// proposal reads the id of an improvement proposal: CIP-56, 56 or PR-203.
func (r *reader) proposal(id string) (catalog.Ref, error) {
	of := r.network.Proposals
	key, ok := of.ParseID(id)
	if !ok {
		return catalog.Ref{}, fmt.Errorf("implements: %q is not an improvement proposal; write %s or %s",
			id, of.Key("56"), network.DraftKey(203))
	}
	return catalog.Ref{Kind: catalog.KindCIP, Key: key}, nil
}

// join warns of applications whose project does not exist.
func (r *reader) join() {
	for _, a := range r.apps {
		found := a.Project == "" || slices.ContainsFunc(r.made, func(m made) bool {
			return m.entry.Record.Kind == catalog.KindProject && m.entry.Record.Key == a.Project
		})
		if !found {
			err := fmt.Errorf("%s belongs to the project %q, which does not exist", a.Name, a.Project)
			r.warnings = append(r.warnings, problem{"apps", err})
		}
	}
}

type toolServer struct {
	Slug      string   `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the title"`
	Title     string   `json:"title"`
	Purpose   string   `json:"purpose" jsonschema:"what it is for, in one or two sentences"`
	Endpoint  string   `json:"endpoint,omitempty" format:"address" jsonschema:"address to call; none for local ones"`
	Transport string   `json:"transport" enum:"http|sse|stdio"`
	Connect   string   `json:"connect" jsonschema:"how to connect, for people"`
	Hosted    bool     `json:"hosted"`
	Free      bool     `json:"free"`
	Auth      string   `json:"auth,omitempty" enum:"none|key|oauth" jsonschema:"what a caller needs; default none"`
	Tools     []string `json:"tools"`
	Operator  string   `json:"operator,omitempty"`
	URL       string   `json:"url,omitempty" jsonschema:"page about it, for people"`
	Text      string   `json:"text,omitempty" jsonschema:"more about it, in Markdown"`
}

func readToolServer(_ *reader, s toolServer) (catalog.Entry, error) {
	switch {
	case s.Hosted && s.Endpoint == "":
		return catalog.Entry{}, errors.New("has no endpoint, which a hosted server needs")
	case s.Transport == "stdio" && s.Endpoint != "":
		return catalog.Entry{}, errors.New("has an endpoint; with transport stdio it is started, not called")
	}
	data := catalog.ToolServer{
		Endpoint: s.Endpoint, Transport: s.Transport, Connect: s.Connect, Hosted: s.Hosted, Free: s.Free, Auth: s.Auth,
		Tools: s.Tools, Operator: s.Operator,
	}
	return catalog.Record{
		Kind: catalog.KindToolServer, Key: s.Slug, Title: s.Title, URL: s.URL, Summary: s.Purpose, Tags: access(data),
		Body: paragraphs(s.Purpose, s.Text, section("How to connect", []string{s.Connect}),
			section("Tools", each(s.Tools, func(t string) string { return "`" + t + "`" })), line("Operated by", s.Operator)),
	}.With(data)
}

// access returns the tags for how a server can be used.
func access(s catalog.ToolServer) []string {
	var tags []string
	for _, way := range []struct {
		name string
		open bool
	}{{"hosted", s.Hosted}, {"free", s.Free}, {"callable", s.Callable()}} {
		if way.open {
			tags = append(tags, catalog.Tag(catalog.TagAccess, way.name))
		}
	}
	return tags
}

type partner struct {
	Slug        string              `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the title"`
	Title       string              `json:"title"`
	Product     string              `json:"product,omitempty"`
	Description string              `json:"description" jsonschema:"what the product is, in one or two sentences"`
	URL         string              `json:"url,omitempty"`
	Facts       []catalog.Fact      `json:"facts"`
	Endpoints   []catalog.Endpoint  `json:"endpoints"`
	Packages    []string            `json:"packages"`
	Links       []catalog.NamedLink `json:"links"`
	Text        string              `json:"text,omitempty" jsonschema:"more about it, in Markdown"`
}

func readPartner(_ *reader, p partner) (catalog.Entry, error) {
	return catalog.Record{
		Kind: catalog.KindPartner, Key: p.Slug, Title: p.Title, URL: p.URL, Summary: p.Description,
		Body: paragraphs(p.Description, p.Text, line("Product", p.Product),
			section("Endpoints", each(p.Endpoints, endpointLine)), section("Facts", each(p.Facts, factLine)),
			line("Packages", p.Packages...), section("Links", each(p.Links, linkLine))),
	}.With(catalog.Partner{
		Product: p.Product, Facts: p.Facts, Endpoints: p.Endpoints, Packages: p.Packages, Links: p.Links,
	})
}

type foundation struct {
	Slug        string         `json:"slug,omitempty" format:"slug" jsonschema:"its key; default from the title"`
	Title       string         `json:"title"`
	Description string         `json:"description,omitempty" jsonschema:"what the page says, in a sentence"`
	Section     string         `json:"section,omitempty" jsonschema:"of the website"`
	URL         string         `json:"url,omitempty"`
	Updated     string         `json:"updated,omitempty" format:"date" jsonschema:"when the page was last changed"`
	Facts       []catalog.Fact `json:"facts" jsonschema:"values it states, which may drift from the live ones"`
	Text        string         `json:"text" jsonschema:"the page, in Markdown"`
}

func readFoundation(_ *reader, f foundation) (catalog.Entry, error) {
	for _, fact := range f.Facts {
		if fact.AsOf != "" && deadline(fact.AsOf).IsZero() {
			return catalog.Entry{}, fmt.Errorf("facts: as_of of %s: %q is not a date: want one such as 2031-06-17",
				fact.Key, fact.AsOf)
		}
	}
	return catalog.Record{
		Kind: catalog.KindFoundation, Key: f.Slug, Title: f.Title, URL: f.URL, Category: f.Section,
		Summary: f.Description, UpdatedAt: dates.At(f.Updated, dates.Day),
		Body: paragraphs(f.Description, f.Text, section("Facts", each(f.Facts, factLine))),
	}.With(catalog.Foundation{Section: f.Section, Facts: f.Facts})
}
