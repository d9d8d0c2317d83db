package onboarding

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
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

// Finding is one contradiction.
type Finding struct {
	Aspect  string `json:"aspect" enum:"version,port,name,amount"`
	Subject string `json:"subject"`
	Sides   []Side `json:"sides" doc:"what each source says last"`
}

// Side is the latest statement of a source.
type Side struct {
	Source  string `json:"source" enum:"docs,forum,forge"`
	Value   string `json:"value"`
	Records int    `json:"records" doc:"of the source that state this value"`
	kb.Item
	Snippet string `json:"snippet" doc:"the statement"`
}

// Compared is what was read of a source.
type Compared struct {
	Source     string `json:"source" enum:"docs,forum,forge"`
	Records    int    `json:"records" doc:"found for the topic"`
	Statements int    `json:"statements" doc:"comparable ones in them"`
}

type driftIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"a subject, such as a component or a setting"`
}

var (
	sides     = []string{"docs", "forum", "forge"}
	sideKinds = [][]catalog.Kind{
		{catalog.KindDoc}, {catalog.KindPost},
		{catalog.KindIssue, catalog.KindPull, catalog.KindDiscussion, catalog.KindComment, catalog.KindRelease},
	}
)

const (
	recordsRead    = 25  // of each source
	leastRelevant  = 0.7 // of the best score
	findingsShown  = 10
	statementShown = 240 // characters
)

var contradictions = kb.New(op.Spec{
	ID: "detect_drift", Tool: "detect_drift", MayFail: unavailable,
	Doc: `
Find contradictions between sources
What docs, forum and forge state differently on a topic.

Compares what documentation, forum and forge state on a topic (versions, ports, amounts, deprecated names) and returns
where their latest statements differ. For facts against live values use get_kb_drift.
`,
}, runContradictions)

func runContradictions(ctx context.Context, b kb.Base, in driftIn) (SourceDrift, error) {
	deprecations, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDeprecation}})
	if err != nil {
		return SourceDrift{}, err
	}
	names := derive.DeprecatedNames(deprecations)
	search := kb.Search{Field: "topic", Query: in.Topic, Limit: recordsRead}
	found, err := kb.BestOf(ctx, b, search, sideKinds, func(_ kb.Base, m kb.Match) (kb.Match, error) { return m, nil })
	if err != nil {
		return SourceDrift{}, err
	}
	out := SourceDrift{Topic: in.Topic, Method: fmt.Sprintf("Reads up to %d records of each source with 0.7 of the best "+
		"score and compares the latest statements on the same subject: versions with at least, latest or recommended, "+
		"ports, amounts of the same unit beside the same noun phrase, deprecated names against their replacements. "+
		"Questions, conditions, the past and pages of older versions are left out.", recordsRead)}
	best := 0.0
	for _, f := range found {
		for _, m := range f.Items {
			best = max(best, m.Result.Score)
		}
	}
	var statements []derive.Statement
	for i, source := range sides {
		of, records, err := statementsIn(ctx, b, source, relevant(found[i].Items, best), names)
		if err != nil {
			return SourceDrift{}, err
		}
		statements = append(statements, of...)
		out.Compared = append(out.Compared, Compared{source, records, len(of)})
	}
	all, agreed := derive.Contradictions(statements)
	out.Total, out.Agreed = len(all), agreed
	for _, c := range all[:min(findingsShown, len(all))] {
		out.Findings = append(out.Findings, finding(b, c))
	}
	if len(all) == 0 {
		out.Hint = "no contradiction found: " + compared(out)
	}
	return out, nil
}

// relevant returns the ids of the matches that are on the topic.
func relevant(matches []kb.Match, best float64) (ids []int64) {
	for _, m := range matches {
		if m.Result.Score >= leastRelevant*best {
			ids = append(ids, m.Record.ID)
		}
	}
	return ids
}

// statementsIn reads the claims of records of a source. Pages of older versions
// state what was true of those.
func statementsIn(
	ctx context.Context, b kb.Base, source string, ids []int64, names []derive.DeprecatedName,
) (out []derive.Statement, read int, err error) {
	records, err := b.Catalog.Records(ctx, ids)
	if source == "docs" {
		records = derive.CurrentPages(records)
	}
	for _, r := range records {
		for _, c := range derive.Claims(r.Title, r.Body, names) {
			out = append(out, derive.Statement{Claim: c, Source: source, Record: r, Date: stated(r)})
		}
	}
	return out, len(records), err
}

// stated is when a record was last written: what others add later does not
// count.
func stated(r catalog.Record) time.Time {
	if !r.UpdatedAt.IsZero() {
		return r.UpdatedAt
	}
	return r.CreatedAt
}

func finding(b kb.Base, c derive.Contradiction) Finding {
	f := Finding{Aspect: c.Aspect, Subject: c.Subject}
	for _, s := range c.Sides {
		item := b.Item(s.Record)
		item.Date = kb.Time(s.Date)
		snippet := kb.First(s.Text, statementShown)
		if utf8.RuneCountInString(s.Text) > statementShown {
			snippet += "…"
		}
		f.Sides = append(f.Sides, Side{s.Source, s.Value, s.Records, item, snippet})
	}
	return f
}

func compared(d SourceDrift) string {
	text := ""
	for _, c := range d.Compared {
		text += fmt.Sprintf("%d statements in %d records of %s, ", c.Statements, c.Records, c.Source)
	}
	return text + fmt.Sprintf("%d subjects on which two sources agree", d.Agreed)
}
