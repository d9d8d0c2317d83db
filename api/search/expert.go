package search

import (
	"cmp"
	"context"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// Experts are people who likely know a topic.
type Experts struct {
	Topic  string   `json:"topic"`
	Items  []Expert `json:"items"`
	Total  int      `json:"total" doc:"names found with the topic"`
	Method string   `json:"method"`
	Hint   string   `json:"hint,omitempty" doc:"if nobody was found: what to try"`
}

// Expert is one of them.
type Expert struct {
	Name  string  `json:"name"`
	Score float64 `json:"score" doc:"share of what was found on the topic, 0 to 1"`
	Activity
	Evidence []evidence.Row `json:"evidence" doc:"the heaviest contributions"`
}

type expertIn struct {
	topicIn
	Limit int `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many people"`
}

const (
	// leastRead is how many contributions on the topic are weighed at least, and
	// each how many for each person. What is ranked lower is hardly about it.
	leastRead, each = 100, 4
	// leastRelevant is the least relevance that counts, of the best.
	leastRelevant = 0.5
	proofsShown   = 3
)

var expertKinds = append(catalog.KindsAt(catalog.PlaceForum, catalog.RoleMessage),
	catalog.KindsAt(catalog.PlaceForge, catalog.RoleThread, catalog.RoleWork, catalog.RoleMessage)...)

var expert = kb.New(op.Spec{
	ID: "find_expert", Tool: "find_expert", MayFail: unavailable, Kinds: expertKinds,
	Doc: `
Find an expert
People who likely know a topic, by what they wrote on forum and forge.

Ranks the people who likely know a topic by their posts, comments, accepted answers, pull requests and likes, with
the evidence. For what maintainers advise use find_maintainer_guidance.
`,
}, func(ctx context.Context, b kb.Base, in expertIn) (Experts, error) {
	search := find.Search{Field: "topic", Query: in.Topic, Kinds: expertKinds, Limit: max(leastRead, each*in.Limit)}
	found, err := search.Run(ctx, b)
	if err != nil {
		return Experts{}, err
	}
	all := rankExperts(find.Relevant(found.Items, leastRelevant))
	out := Experts{Topic: in.Topic, Total: len(all), Method: "Each contribution on the topic counts for its author: " +
		"relevance squared, times 2 for an accepted answer, 1.5 for a pull request, 1 for an answer, 0.4 for a " +
		"question, times 1 + log2(1 + likes) / 4. Names on forum and forge are one person if they are equal but for case."}
	for _, e := range all[:min(in.Limit, len(all))] {
		out.Items = append(out.Items, expertRow(b, e))
	}
	if len(all) == 0 {
		out.Hint = cmp.Or(found.Hint, find.Empty(found.Total, nil, search.Filter))
	}
	return out, nil
})

func expertRow(b kb.Base, e expertise) Expert {
	row := Expert{Name: e.Name, Score: kb.Score(e.Score), Activity: e.Activity}
	row.Evidence = evidence.Of(b, e.Evidence[:min(proofsShown, len(e.Evidence))])
	for i := range row.Evidence {
		row.Evidence[i].Author = "" // it is the expert
	}
	return row
}
