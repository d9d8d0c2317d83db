package onboarding

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/api/kb/deprecated"
	"almanac/catalog/derive"
	"almanac/text/markdown"
	"almanac/text/prose"
)

// Aspects of claims: what can be compared.
const (
	aspectVersion = "version" // subject "postgresql, at least": the version of a product
	aspectPort    = "port"    // subject "ledger api": the port that it listens on
	aspectName    = "name"    // subject a deprecated name: it, or what replaces it
	aspectAmount  = "amount"  // subject "base allowance": a number with a unit
)

// claim is something that a text states in a form that can be compared.
type claim struct {
	Aspect  string
	Subject string // folded
	Value   string // as written
	Text    string // the sentence or the line of code that states it

	same string // equal for equal values, however they are written
}

// claimsIn scans a Markdown text for claims; precision comes before recall. From
// prose it reads versions with a word such as latest or at least, ports behind
// what listens on them, and numbers with a unit that stand directly behind a
// noun phrase of two words or an identifier ("the base allowance is 200 kB").
// Questions, conditions and the past are skipped. Of the deprecated names it
// says which a text uses in code or tells to use, and which it replaces; the
// title may say that the text is about moving away from one.
func claimsIn(title, text string, names deprecated.Names) []claim {
	text = strings.ToValidUTF8(text, "\uFFFD")
	blocks := derive.CodeBlocks(text)
	var sentences []string
	for p := range paragraphs(text) {
		if claimable(p, names) {
			sentences = append(sentences, derive.Sentences(markdown.Inline(p))...)
		}
	}
	var out []claim
	for _, s := range sentences {
		if len(s) <= maxSentence && !strings.HasSuffix(s, "?") && strings.ContainsAny(s, digits) {
			out = append(append(append(out, versionClaims(s)...), portClaims(s)...), amountClaims(s)...)
		}
	}
	for _, n := range names {
		if c, ok := nameClaim(n, title, sentences, blocks); ok {
			out = append(out, c)
		}
	}
	return out
}

const digits = "0123456789"

// claimable reports whether a paragraph can have a claim; most have none, and
// to split them into sentences costs most of the time.
func claimable(p string, names deprecated.Names) bool {
	return strings.ContainsAny(p, digits) || slices.ContainsFunc(names, func(n deprecated.Name) bool {
		return n.In(p) >= 0 || n.Replaced(p) >= 0
	})
}

// maxSentence is the length of a sentence in bytes from which it is a table or
// a list that was not recognised.
const maxSentence = 600

// paragraphs yields paragraphs, list items, headings and rows of tables, each on
// one line. Quoted lines belong to somebody else.
func paragraphs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for b := range markdown.Blocks(text) {
			parts := []string{strings.ReplaceAll(b.Text, "\n", " ")}
			switch b.Kind {
			case markdown.Source, markdown.Callout, markdown.Rule:
				continue
			case markdown.Paragraph:
				if b.Quoted || b.Indent > 3 {
					continue
				}
			case markdown.Table:
				parts = strings.Split(b.Text, "\n")
			}
			for _, p := range parts {
				if b.Kind == markdown.Table {
					p = strings.Join(strings.FieldsFunc(p, func(r rune) bool { return r == '|' }), " ")
				}
				if !yield(p) {
					return
				}
			}
		}
	}
}

const (
	productForm = `([A-Za-z@][\w@/-]*)`
	dottedForm  = `v?(\d{1,4}(?:\.\d{1,5}){1,3}(?:-[0-9A-Za-z.]*[0-9A-Za-z])?)`
	numberedVer = `v?(\d{1,4}(?:\.\d{1,5}){0,3})`
)

// versionForms say what the version of a product is, by relation.
var versionForms = []struct {
	relation string
	form     *regexp.Regexp
}{
	{"at least", regexp.MustCompile(productForm + `(?: is| version| v\.?)? ` + numberedVer +
		` or (?:later|newer|higher|above|greater)\b`)},
	{"at least", regexp.MustCompile(`(?i)\b(?:requires?|needs?|at least|minimum(?: version)?(?: of| is|:)?|>=|≥) ` +
		`(?:the )?` + productForm + ` (?:version )?` + dottedForm)},
	{"latest", regexp.MustCompile(`(?i)\b(?:latest|newest|most recent|current) (?:stable )?(?:(?:version|release) )?` +
		`(?:of (?:the )?)?` + productForm + `:? (?:is )?(?:version )?` + dottedForm)},
	{"latest", regexp.MustCompile(productForm + ` ` + dottedForm + ` is the (?:latest|newest|most recent|current)\b`)},
	{"recommended", regexp.MustCompile(`(?i)\brecommend(?:s|ed)?:?(?: version)?(?: is)? ` + productForm + ` ` +
		dottedForm)},
	{"recommended", regexp.MustCompile(productForm + ` ` + dottedForm + ` is (?:the )?recommended\b`)},
}

// some is how sentences begin that speak of a feature, or of some cases.
var some = regexp.MustCompile(`^(?:To|For|On|In|Since|From|With|When|Note|Only)\b`)

func versionClaims(s string) (out []claim) {
	if some.MatchString(s) || doubtful.MatchString(s) {
		return nil
	}
	for _, f := range versionForms {
		for _, m := range f.form.FindAllStringSubmatchIndex(s, -1) {
			product, version := strings.ToLower(s[m[2]:m[3]]), s[m[4]:m[5]]
			if prose.StopWords[product] || m[5] < len(s) && wordByte(s[m[5]]) ||
				f.relation == "at least" && m[0] > 0 && !requires.MatchString(s) {
				continue
			}
			same := version
			for strings.HasSuffix(same, ".0") {
				same = strings.TrimSuffix(same, ".0")
			}
			c := claim{aspectVersion, product + ", " + f.relation, version, s, same}
			if !slices.Contains(out, c) { // two forms may read the same words
				out = append(out, c)
			}
		}
	}
	return out
}

// requires are words of requirements; without one, "node 2.5 or later" says
// where a feature is.
var requires = regexp.MustCompile(`(?i)\b(?:requir\w+|needs?|must|install|check|minimum|at least|prerequisites?)\b|` +
	`>=|≥`)

var portForm = regexp.MustCompile(`\b(?:(?:listens?|runs?|is|are|served|available|answers?|exposed|reachable) )?` +
	`(?:on|at|uses) (?:TCP )?port (\d{2,5})\b`)

func portClaims(s string) (out []claim) {
	for _, m := range portForm.FindAllStringSubmatchIndex(s, -1) {
		if subject := nounPhrase(s[:m[0]]); subject != "" && !doubtful.MatchString(s) {
			port := s[m[2]:m[3]]
			out = append(out, claim{aspectPort, subject, port, s, port})
		}
	}
	return out
}

var (
	// doubtful are sentences that do not say what is.
	doubtful = regexp.MustCompile(`(?i)\b(?:if|would|could|should|was|were|had|used to|before|until|instead|unless|` +
		`proposed?|suggest\w*|example|e\.g|assume|deprecated|removed|planned|will|not|no longer|old|former)\b`)
	quantity = regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?) ?(%|[A-Za-z]+)`)
	// linking stands between a noun phrase and its amount.
	linking = regexp.MustCompile(`(?:^|\s)(?:is|are|of)(?: (at most|up to|no more than|at least|no less than|about|` +
		`exactly|now|currently|only))? $`)
	// setting is a phrase and nothing else before its amount: "clock margin: 15 s".
	setting = regexp.MustCompile(`^([^:=]+?)(?: ?=|:) ?$`)
	bounds  = map[string]string{"at most": ", at most", "up to": ", at most", "no more than": ", at most",
		"at least": ", at least", "no less than": ", at least"}
)

func amountClaims(s string) (out []claim) {
	if doubtful.MatchString(s) {
		return nil
	}
	for _, m := range quantity.FindAllStringSubmatchIndex(s, -1) {
		unit, known := unitOf(s[m[4]:m[5]])
		if !known || m[5] < len(s) && (wordByte(s[m[5]]) || s[m[5]] == '/' || s[m[5]] == '-') {
			continue
		}
		subject := amountSubject(s[:m[0]])
		number, err := strconv.ParseFloat(strings.ReplaceAll(s[m[2]:m[3]], ",", ""), 64)
		if subject == "" || err != nil {
			continue
		}
		for _, bound := range []string{"at most", "at least"} {
			if strings.HasPrefix(s[m[5]:], " "+bound) {
				subject += bounds[bound]
			}
		}
		same := strconv.FormatFloat(number*unit.factor, 'g', 12, 64)
		out = append(out, claim{aspectAmount, subject + " (" + unit.of + ")", s[m[0]:m[1]], s, same})
	}
	return out
}

// amountSubject returns the noun phrase before an amount, with the bound that
// stands between them.
func amountSubject(before string) string {
	if m := setting.FindStringSubmatch(before); m != nil {
		if phrase := nounPhrase(m[1]); len(strings.Fields(phrase)) == len(strings.Fields(m[1])) {
			return phrase
		}
		return ""
	}
	link := linking.FindStringSubmatchIndex(before)
	if link == nil {
		return ""
	}
	phrase := nounPhrase(before[:link[0]])
	if phrase != "" && link[2] >= 0 {
		phrase += bounds[before[link[2]:link[3]]]
	}
	return phrase
}

type unit struct {
	of     string // what it measures
	factor float64
}

var units = map[string]unit{
	"B": {"bytes", 1}, "byte": {"bytes", 1}, "bytes": {"bytes", 1}, "kB": {"bytes", 1e3}, "KB": {"bytes", 1e3},
	"KiB": {"bytes", 1 << 10}, "MB": {"bytes", 1e6}, "MiB": {"bytes", 1 << 20}, "GB": {"bytes", 1e9},
	"GiB": {"bytes", 1 << 30}, "TB": {"bytes", 1e12},
	"ms": {"time", 1e-3}, "milliseconds": {"time", 1e-3}, "s": {"time", 1}, "sec": {"time", 1},
	"second": {"time", 1}, "seconds": {"time", 1}, "min": {"time", 60}, "minute": {"time", 60},
	"minutes": {"time", 60}, "h": {"time", 3600}, "hour": {"time", 3600}, "hours": {"time", 3600},
	"d": {"time", 86400}, "day": {"time", 86400}, "days": {"time", 86400}, "week": {"time", 604800},
	"weeks": {"time", 604800}, "%": {"%", 1}, "percent": {"%", 1},
}

var ticker = regexp.MustCompile(`^[A-Z]{3,6}$`)

// unitOf reads a unit; the code of a currency or token measures itself.
func unitOf(s string) (unit, bool) {
	u, ok := units[s]
	if !ok && ticker.MatchString(s) {
		return unit{s, 1}, true
	}
	return u, ok
}
