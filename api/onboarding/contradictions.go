package onboarding

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"almanac/api/kb"
	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/markdown"
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
	Aspect  string `json:"aspect" enum:"version,port,name"`
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

Compares what documentation, forum and forge state on a topic (versions, ports, deprecated names) and returns
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
		"ports of named services, deprecated names against their replacements. "+
		"Questions, conditions, the past and pages of older versions are left out.", recordsRead)}
	var statements []statement
	for i, source := range sides {
		records, err := b.Catalog.Records(ctx, relevantPages(found[i].Items))
		if err != nil {
			return SourceDrift{}, err
		}
		of := statementsOf(source, records, names)
		statements = append(statements, of...)
		out.Compared = append(out.Compared, Compared{source, len(records), len(of)})
	}
	out.Findings, out.Agreed = compare(statements, b.Item)
	out.Total = len(out.Findings)
	out.Findings = out.Findings[:min(findingsShown, out.Total)]
	if out.Total == 0 {
		out.Hint = fmt.Sprintf("no contradiction found among %d statements: see compared", len(statements))
	}
	return out, nil
})

// statementShown is the maximum of a statement in an answer, in characters.
const statementShown = 240

// compare compares the latest statements of the sources on each subject and returns
// the contradictions, the newest first, and the number of subjects of which at least
// two sources say the same.
func compare(statements []statement, item func(catalog.Record) kb.Item) (found []Finding, agreed int) {
	slices.SortStableFunc(statements, func(a, b statement) int { return b.Date.Compare(a.Date) })
	bySubject := map[subject]map[Body][]statement{}
	var subjects []subject // by their newest statement
	for _, s := range statements {
		if bySubject[s.subject] == nil {
			bySubject[s.subject] = map[Body][]statement{}
			subjects = append(subjects, s.subject)
		}
		bySubject[s.subject][s.Source] = append(bySubject[s.subject][s.Source], s)
	}
	for _, subject := range subjects {
		bySource := bySubject[subject]
		f := Finding{Aspect: subject.Aspect, Subject: subject.Name}
		values := map[string]bool{}
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			latest, records := latestOf(bySource[source])
			if records == 0 {
				continue
			}
			values[latest.same] = true
			side := Side{source, latest.Value, records, item(latest.Record), markdown.Clip(latest.Text, statementShown)}
			side.Date = kb.Time(latest.Date)
			f.Sides = append(f.Sides, side)
		}
		switch {
		case len(values) > 1:
			found = append(found, f)
		case len(f.Sides) > 1:
			agreed++
		}
	}
	return found, agreed
}

// latestOf returns the latest of a source's statements on a subject, newest first, and
// how many records state its value. Of several values of the same date, as of pages
// without one, that of most records counts; 0 if no value has most.
func latestOf(all []statement) (latest statement, records int) {
	count := map[string]int{}
	for _, s := range all {
		count[s.same]++
	}
	for _, s := range all {
		switch n := count[s.same]; {
		case !s.Date.Equal(all[0].Date):
		case n > count[latest.same]:
			latest, records = s, n
		case n == records && s.same != latest.same:
			records = 0
		}
	}
	return latest, records
}
