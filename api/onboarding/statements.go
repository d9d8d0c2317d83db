package onboarding

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/markdown"
	"almanac/text/prose"
)

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
