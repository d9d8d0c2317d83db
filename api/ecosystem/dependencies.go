package ecosystem

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
	"almanac/catalog/derive"
)

type topicIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"what the projects do, in your own words"`
}

// Graph maps projects to what they are built on.
type Graph struct {
	Topic string `json:"topic"`
	DependencyGraph
	evidence.Grounds
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if no project was found: what to try"`
}

// projectsShown is the maximum of projects in a graph.
const projectsShown = 10

var dependencies = kb.New(op.Spec{
	ID: "ecosystem_dependency_graph", Tool: "ecosystem_dependency_graph", MayFail: []error{op.ErrUnavailable},
	Kinds: []catalog.Kind{catalog.KindProject},
	Doc: `
Dependencies of projects
What the projects on a topic are built on, and how far behind they are.

Maps the projects that match a topic to their SDK versions, how far each is behind, packages and repositories. For
proposals use detect_cip_dependency_chain.
`,
}, func(ctx context.Context, b kb.Base, in topicIn) (Graph, error) {
	s := find.Search{Field: "topic", Query: in.Topic, Kinds: []catalog.Kind{catalog.KindProject}, Limit: projectsShown}
	out := Graph{Topic: in.Topic}
	found, err := s.Run(ctx, b)
	if err != nil {
		return out, err
	}
	q := catalog.ListQuery{Kinds: libraryKinds}
	libraries, _, err := kb.DerivedFrom(ctx, b, "libraries", 0, q, indexLibraries)
	out.DependencyGraph = libraries.Graph(find.Records(found.Items), b.URL)
	out.Evidence = evidence.Found(b, found.Items, "states what it is built on")
	out.Degraded, out.Hint = found.Degraded, found.Hint
	out.Method = fmt.Sprintf("The %d projects that match best, with the SDKs, packages and repositories that the "+
		"catalogue states; a version is compared with the stable ones that registries and releases list.", projectsShown)
	return out, err
})

// libraryKinds are the kinds of records that indexLibraries reads.
var libraryKinds = slices.Concat(versions.PublishedKinds, []catalog.Kind{catalog.KindProject, catalog.KindRepo})

// libraryIndex finds the published versions of what projects are built on.
type libraryIndex struct {
	products []versions.Product
	repos    map[string][]string       // folded package → repositories of the project that publishes it
	records  map[string]catalog.Record // of repositories, by key
}

// indexLibraries builds a libraryIndex from records of libraryKinds, which may lack
// their bodies.
func indexLibraries(records []catalog.Record) libraryIndex {
	l := libraryIndex{versions.Products(records), map[string][]string{}, map[string]catalog.Record{}}
	for _, r := range records {
		if r.Kind == catalog.KindRepo {
			l.records[r.Key] = r
			continue
		}
		if d, err := catalog.Decode[catalog.Project](r); err == nil {
			for _, pkg := range d.Packages {
				l.repos[catalog.Underscored(pkg)] = append(l.repos[catalog.Underscored(pkg)], d.Repos...)
			}
		}
	}
	return l
}

// product returns a library's product: the one of its name, else that of a
// repository of the project that publishes it, else that of the one repository
// whose name of several words ends the library's; nil if there is none.
func (l libraryIndex) product(library string) *versions.Product {
	for _, asked := range append([]string{library}, l.repos[catalog.Underscored(library)]...) {
		if found := versions.Named(l.products, asked); len(found) > 0 {
			return &found[0]
		}
	}
	var ends []versions.Product
	for _, p := range versions.Programs(l.products) {
		words := catalog.Underscored(path.Base(p.Repository))
		if strings.Contains(words, "_") && strings.HasSuffix(catalog.Underscored(library), "_"+words) {
			ends = append(ends, p)
		}
	}
	if len(ends) != 1 {
		return nil
	}
	return &ends[0]
}

// How far a version is behind the latest: the first number that differs.
const (
	behindUnknown = "unknown"
	behindNone    = "current"
	behindPatch   = "patch"
	behindMinor   = "minor"
	behindMajor   = "major"
)

// Standing is how a version compares with the published ones.
type Standing struct {
	Version    string          `json:"version,omitempty" doc:"as the project states it"`
	Behind     string          `json:"behind,omitempty" enum:"current,patch,minor,major,unknown" doc:"the latest version"`
	Newer      int             `json:"newer_releases,omitempty" doc:"stable versions after it"`
	Deprecated string          `json:"deprecated,omitempty" doc:"the registry's message about this version"`
	Latest     string          `json:"-"` // newest stable version; "" if none is known
	Record     *catalog.Record `json:"-"` // that publishes the latest; nil if none is known
}

// Standing compares a version of a library, as written in a project (it may be
// a range such as ^2.5.0: its least version counts), with the published ones.
func (l libraryIndex) Standing(library, version string) Standing {
	p := l.product(library)
	if p == nil {
		return Standing{Version: version, Behind: behindUnknown}
	}
	s := Standing{Version: version, Latest: p.Latest.Version, Behind: behindUnknown, Record: &p.Latest.Record}
	used, ok := derive.ParseVersion(strings.TrimLeft(version, "^~>=v "))
	if !ok {
		return s
	}
	if e := p.Edition(used); e != nil {
		s.Deprecated = e.Deprecated
	}
	s.Newer, s.Behind = len(p.After(used)), behind(used, p.Latest.Parsed)
	return s
}

func behind(used, latest derive.Version) string {
	switch apart := used.Apart(latest); {
	case used.Compare(latest) >= 0:
		return behindNone
	case apart == 0:
		return behindMajor
	case apart == 1:
		return behindMinor
	}
	return behindPatch
}

// DependencyGraph maps projects to what they are built on.
type DependencyGraph struct {
	Nodes []DependencyNode `json:"nodes" doc:"each project is followed by what it is tied to"`
	Edges []DependencyEdge `json:"edges"`
}

// DependencyNode is a project, SDK, package or repository.
type DependencyNode struct {
	ID     string `json:"id" doc:"its type and name"`
	Type   string `json:"type" enum:"project,sdk,package,repo"`
	Title  string `json:"title"`
	Latest string `json:"latest_version,omitempty" doc:"newest stable version"`
	URL    string `json:"url,omitempty"`
	AsOf   string `json:"as_of,omitempty" doc:"day that a project's entry was last checked"`
}

// DependencyEdge ties a project to another node.
type DependencyEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Relation string `json:"relation" enum:"builds_on,publishes,developed_in"`
	Standing
}

// Graph draws projects with the SDKs, packages and repositories that they
// state, each node once. url returns the address of a record.
func (l libraryIndex) Graph(projects []catalog.Record, url func(catalog.Record) string) (g DependencyGraph) {
	seen := map[string]bool{}
	node := func(kind, key string, n DependencyNode) string {
		n.ID, n.Type = kind+":"+key, kind
		if !seen[n.ID] {
			seen[n.ID] = true
			g.Nodes = append(g.Nodes, n)
		}
		return n.ID
	}
	for _, r := range projects {
		d, err := catalog.Decode[catalog.Project](r)
		if err != nil {
			continue
		}
		from := node("project", r.Key, DependencyNode{Title: r.Title, URL: url(r), AsOf: d.Verified})
		edge := func(to, relation string, s Standing) {
			g.Edges = append(g.Edges, DependencyEdge{from, to, relation, s})
		}
		for _, sdk := range d.SDKs {
			at := l.Standing(sdk.Name, sdk.Version)
			n := DependencyNode{Title: sdk.Name, Latest: at.Latest}
			if at.Record != nil {
				n.URL = url(*at.Record)
			}
			edge(node("sdk", sdk.Name, n), "builds_on", at)
		}
		for _, pkg := range d.Packages {
			n := DependencyNode{Title: pkg, Latest: l.Standing(pkg, "").Latest}
			edge(node("package", pkg, n), "publishes", Standing{})
		}
		for _, repo := range d.Repos {
			n := DependencyNode{Title: repo, Latest: l.Standing(repo, "").Latest}
			if r, ok := l.records[repo]; ok {
				n.URL = url(r)
			}
			edge(node("repo", repo, n), "developed_in", Standing{})
		}
	}
	return g
}
