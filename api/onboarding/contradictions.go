package onboarding

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/markdown"
	"almanac/text/prose"
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

// statement is something that a text says in a form that can be compared.
type statement struct {
	subject
	Source Body
	Value  string // as written
	Text   string // the sentence
	Record catalog.Record
	Date   time.Time // zero if unknown: older than any other

	same string // equal for equal values, however they are written
}

// subject is what a statement is about: the version of a product ("postgresql, at
// least"), the port of a service ("ledger api"), or a deprecated name.
type subject struct{ Aspect, Name string }

// statementsOf reads what a source's records say, each value once. Each is dated by
// when the record was last written: what others add to it later does not count.
func statementsOf(source Body, records []catalog.Record, names deprecated.Names) (out []statement) {
	for _, r := range records {
		first := len(out)
		for _, s := range append(stated(r.Body), named(r, names)...) {
			s.Source, s.Record, s.Date = source, r, cmp.Or(r.UpdatedAt, r.CreatedAt)
			same := func(o statement) bool { return o.subject == s.subject && o.same == s.same }
			if !slices.ContainsFunc(out[first:], same) {
				out = append(out, s)
			}
		}
	}
	return out
}

// named says which of the deprecated names and their replacements a text uses.
func named(r catalog.Record, names deprecated.Names) (out []statement) {
	for _, m := range names.In(r.Title, r.Body) {
		s := statement{subject: subject{"name", strings.ToLower(m.Record.Title)}, Value: m.Record.Title, same: "deprecated"}
		text := m.Replaced
		switch {
		case text != "":
			s.Value, s.same = m.Data.Replacement, "current"
		case m.Data.Replacement == "":
			continue
		default:
			text = m.Current[0]
		}
		s.Text = markdown.Inline(text)
		out = append(out, s)
	}
	return out
}

const (
	product  = `([A-Za-z@][\w@/-]*)`
	dotted   = `v?(\d{1,4}(?:\.\d{1,5}){1,3}(?:-[0-9A-Za-z.]*[0-9A-Za-z])?)`
	numbered = `v?(\d{1,4}(?:\.\d{1,5}){0,3})`
	ends     = `(?:[^\w.]|\.?$)`
)

// forms say the version of a product or the port of a service; precision comes before
// recall.
var forms = []struct {
	aspect, relation string
	pattern          *regexp.Regexp
}{
	{"version", ", at least", regexp.MustCompile(product + `(?: is| version| v\.?)? ` + numbered +
		` or (?:later|newer|higher|above|greater)\b`)},
	{"version", ", at least", regexp.MustCompile(`(?i)\b(?:requires?|needs?|at least|minimum(?: version)?(?: of| is|:)?|` +
		`>=|≥) (?:the )?` + product + ` (?:version )?` + dotted + ends)},
	{"version", ", latest", regexp.MustCompile(`(?i)\b(?:latest|newest|most recent|current) (?:stable )?` +
		`(?:(?:version|release) )?(?:of (?:the )?)?` + product + `:? (?:is )?(?:version )?` + dotted + ends)},
	{"version", ", latest", regexp.MustCompile(product + ` ` + dotted + ` is the (?:latest|newest|most recent|current)\b`)},
	{"version", ", recommended", regexp.MustCompile(`(?i)\brecommend(?:s|ed)?:?(?: version)?(?: is)? ` + product + ` ` +
		dotted + ends)},
	{"version", ", recommended", regexp.MustCompile(product + ` ` + dotted + ` is (?:the )?recommended\b`)},
	{"port", "", regexp.MustCompile(`(?:[Tt]he )?((?:[A-Z][\w/-]* )?[A-Za-z@][\w@./-]*) (?:(?:listens?|runs?|is|are|` +
		`served|available|answers?|exposed|reachable) )?(?:on|at|uses) (?:TCP )?port (\d{2,5})\b`)},
}

var (
	// doubtful are sentences that do not say what is, or that speak of a feature or of some cases.
	doubtful = regexp.MustCompile(`(?i)\b(?:if|would|could|should|was|were|had|used to|before|until|instead|unless|` +
		`proposed?|suggest\w*|example|e\.g|assume|deprecated|removed|planned|will|not|no longer|old|former)\b|\?$|` +
		`^(?:To|For|On|In|Since|From|With|When|Note|Only)\b`)
	// requires are words of requirements; without one, "node 2.5 or later" says where a
	// feature is, unless a line begins so.
	requires = regexp.MustCompile(`(?i)\b(?:requir\w+|needs?|must|install|check|minimum|at least|prerequisites?)\b|>=|≥`)
)

// maxSentence is the length of a sentence in bytes from which it is a table or
// a list that was not recognised.
const maxSentence = 600

// stated reads the versions and ports that a text states.
func stated(text string) (out []statement) {
	for _, s := range sentences(text) {
		if len(s) > maxSentence || doubtful.MatchString(s) {
			continue
		}
		for _, f := range forms {
			for _, m := range f.pattern.FindAllStringSubmatchIndex(s, -1) {
				name, value := strings.ToLower(s[m[2]:m[3]]), s[m[4]:m[5]]
				first, _, several := strings.Cut(name, " ")
				switch {
				case prose.StopWords[first]:
				case f.aspect == "port" && !several && !strings.ContainsAny(name, "-_./"): // one word is too general
				case f.relation == ", at least" && m[0] > 0 && !requires.MatchString(s):
				default:
					out = append(out, statement{subject: subject{f.aspect, name + f.relation}, Value: value, Text: s,
						same: trailingZeros.ReplaceAllString(value, "")})
				}
			}
		}
	}
	return out
}

var trailingZeros = regexp.MustCompile(`(?:\.0)+$`)

// sentences returns those of a text that have a number, without code and without what
// is quoted, which belongs to somebody else. A row of a table is one.
func sentences(text string) (out []string) {
	for b := range markdown.Blocks(text) {
		switch {
		case !strings.ContainsAny(b.Text, "0123456789"): // most; to split them costs most of the time
		case b.Kind == markdown.Table:
			for row := range strings.Lines(b.Text) {
				out = append(out, markdown.Inline(strings.Join(strings.Fields(strings.ReplaceAll(row, "|", " ")), " ")))
			}
		case b.Kind == markdown.Heading, b.Kind == markdown.Item,
			b.Kind == markdown.Paragraph && !b.Quoted && b.Indent <= 3:
			out = append(out, derive.Sentences(markdown.Inline(strings.ReplaceAll(b.Text, "\n", " ")))...)
		}
	}
	return out
}

// leastRelevant is the least relevance of what is compared, of the best.
const leastRelevant = 0.7

// relevantPages returns the ids of the hits that are on their topic, without
// pages of older versions: they state what was true of those.
func relevantPages(hits []find.Match) (ids []int64) {
	records := find.Records(hits)
	best := 0.0
	for _, h := range hits {
		if past(h.Record) || slices.ContainsFunc(records, newerThan(h.Record)) {
			continue
		}
		if best = max(best, h.Relevance); h.Relevance >= leastRelevant*best {
			ids = append(ids, h.Record.ID)
		}
	}
	return ids
}
