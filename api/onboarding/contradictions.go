package onboarding

import (
	"context"
	"fmt"
	"reflect"

	"almanac/api/kb"
	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

// SourceDrift is what docs, forum and forge state differently on a topic.
type SourceDrift struct {
	Topic    string     `json:"topic"`
	Findings []Finding  `json:"findings" doc:"the newest first"`
	Total    int        `json:"total" doc:"number of contradictions"`
	Agreed   int        `json:"agreed" doc:"subjects of which at least two sources say the same"`
	Compared []Compared `json:"compared" doc:"what was read of each source"`
	Method   string     `json:"method"`
	Hint     string     `json:"hint,omitempty" doc:"if nothing was found: what was compared"`
}

// Body is a body of texts that is compared with the others.
type Body string

// Constraints implements op.Constrained.
func (Body) Constraints() reflect.StructTag { return `enum:"docs,forum,forge"` }

// Finding is one contradiction.
type Finding struct {
	Aspect  string `json:"aspect" enum:"version,port,name,amount"`
	Subject string `json:"subject"`
	Sides   []Side `json:"sides" doc:"what each source says last"`
}

// Side is the latest statement of a source.
type Side struct {
	Source  Body   `json:"source"`
	Value   string `json:"value"`
	Records int    `json:"records" doc:"of the source that state this value"`
	kb.Item
	Snippet string `json:"snippet" doc:"the statement"`
}

// Compared is what was read of a source.
type Compared struct {
	Source     Body `json:"source"`
	Records    int  `json:"records" doc:"found for the topic"`
	Statements int  `json:"statements" doc:"comparable ones in them"`
}

type contradictionsIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"a subject, such as a component or a setting"`
}

var (
	sides     = []Body{"docs", "forum", "forge"}
	sideKinds = [][]catalog.Kind{
		{catalog.KindDoc}, catalog.KindsAt(catalog.PlaceForum, catalog.RoleMessage),
		catalog.KindsAt(catalog.PlaceForge, catalog.RoleWork, catalog.RoleThread, catalog.RoleMessage,
			catalog.RoleChange),
	}
)

const (
	recordsRead   = 25 // of each source
	findingsShown = 10
)

var contradictions = kb.New(op.Spec{
	ID: "detect_drift", Tool: "detect_drift", MayFail: unavailable, Kinds: []catalog.Kind{catalog.KindDeprecation},
	Doc: `
Find contradictions between sources
What docs, forum and forge state differently on a topic.

Compares what documentation, forum and forge state on a topic (versions, ports, amounts, deprecated names) and returns
contradictions. For facts against live values use get_kb_drift.
`,
}, func(ctx context.Context, b kb.Base, in contradictionsIn) (SourceDrift, error) {
	deprecations, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDeprecation}})
	if err != nil {
		return SourceDrift{}, err
	}
	names := deprecated.Of(deprecations)
	search := find.Search{Field: "topic", Query: in.Topic, Limit: recordsRead}
	found, err := search.RunEach(ctx, b, sideKinds)
	if err != nil {
		return SourceDrift{}, err
	}
	out := SourceDrift{Topic: in.Topic, Method: fmt.Sprintf("Reads up to %d records of each source with 0.7 of the best "+
		"score and compares the latest statements on the same subject: versions with at least, latest or recommended, "+
		"ports, amounts of the same unit beside the same noun phrase, deprecated names against their replacements. "+
		"Questions, conditions, the past and pages of older versions are left out.", recordsRead)}
	var statements []statement
	for i, source := range sides {
		records, err := b.Catalog.Records(ctx, relevantPages(found[i].Items))
		if err != nil {
			return SourceDrift{}, err
		}
		of := statementsOf(string(source), records, names)
		statements = append(statements, of...)
		out.Compared = append(out.Compared, Compared{source, len(records), len(of)})
	}
	all, agreed := compare(statements)
	out.Total, out.Agreed = len(all), agreed
	for _, c := range all[:min(findingsShown, len(all))] {
		out.Findings = append(out.Findings, finding(b, c))
	}
	if len(all) == 0 {
		out.Hint = fmt.Sprintf("no contradiction found among %d statements: see compared", len(statements))
	}
	return out, nil
})

func finding(b kb.Base, c contradiction) Finding {
	f := Finding{Aspect: c.Aspect, Subject: c.Subject}
	for _, s := range c.Sides {
		item := b.Item(s.Record)
		item.Date = kb.Time(s.Date)
		f.Sides = append(f.Sides, Side{Body(s.Source), s.Value, s.Records, item, s.Snippet()})
	}
	return f
}
