package ecosystem

import (
	"context"
	"fmt"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
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
