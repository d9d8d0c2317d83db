package devfund

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/markdown"
)

// Readiness is how ready a draft of a grant proposal is.
type Readiness struct {
	Score  float64 `json:"score" doc:"0 to 1: weight of the passed checks"`
	Checks []Check `json:"checks"`
	evidence.Grounds
}

type draftIn struct {
	Text string `json:"draft_text" required:"true" maxLength:"50000" doc:"the draft, in Markdown"`
}

var readiness = kb.New(op.Spec{
	ID: "proposal_success_predictor", Tool: "proposal_success_predictor", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindGrant},
	Doc: `
Is a draft ready
Readiness checklist of a draft grant proposal, beside the accepted grants most like it.

Checks a draft's text for milestones, code, sources, a realistic scope and a budget, and names the accepted grants most
like it: form, not merit. For an idea without a text use detect_builder_overlap.
`,
}, runReadiness)

func runReadiness(ctx context.Context, b kb.Base, in draftIn) (out Readiness, err error) {
	out.Score, out.Checks = checkDraft(in.Text)
	out.Evidence, err = fundedLike(ctx, b, in.Text)
	out.Method = "A checklist with fixed weights over the draft's form, which is no probability of acceptance; the " +
		"evidence are the accepted grants that a search for the draft finds."
	return out, err
}

// fundedShown is how many accepted grants are shown beside a draft.
const fundedShown = 3

// fundedLike finds the accepted grants most like a draft.
func fundedLike(ctx context.Context, b kb.Base, draft string) (rows []evidence.Row, err error) {
	search := find.Search{
		Field: "draft_text", Query: draftQuery(draft), Plain: true, Kinds: grants.Kinds, Limit: overlapRead,
	}
	search.Filter.States = []string{catalog.GrantClosed} // which merged ones are, too
	found, err := find.Rows(ctx, b, search, similar)
	for _, e := range found.Items {
		if e.State == catalog.GrantMerged && len(rows) < fundedShown {
			rows = append(rows, e)
		}
	}
	evidence.Weigh(rows)
	return rows, err
}

// Check is one check of the readiness of a draft.
type Check struct {
	Name   string  `json:"name"`
	Passed bool    `json:"passed"`
	Why    string  `json:"why"`
	Text   string  `json:"text,omitempty" doc:"the words of the draft that decided it"`
	Weight float64 `json:"weight" doc:"its share in the score"`
}

// draftChecks are the checks and their weights, which add up to 1. They were set
// by hand: a plan that can be followed counts as much as something to look at.
var draftChecks = []struct {
	name   string
	weight float64
	run    func(draft) (passed bool, why, text string)
}{
	{"milestones", 0.25, checkMilestones},
	{"code", 0.20, checkCode},
	{"sources", 0.20, checkSources},
	{"scope", 0.20, checkScope},
	{"budget", 0.15, checkBudget},
}

// checkDraft checks the text of a draft, and returns the weight of the checks
// that it passes. They judge form, never content, and take time linear in the
// text.
func checkDraft(text string) (score float64, checks []Check) {
	d := readDraft(text)
	for _, c := range draftChecks {
		check := Check{Name: c.name, Weight: c.weight}
		check.Passed, check.Why, check.Text = c.run(d)
		check.Text = quoted(check.Text)
		if checks = append(checks, check); check.Passed {
			score += c.weight
		}
	}
	return math.Round(score*100) / 100, checks
}

// draft is what the checks read.
type draft struct {
	prose      string // without fenced code
	code       string // the first block of code with two lines
	milestones []derive.GrantMilestone
	funding    string
	sums       []amount // what is asked for, then what each milestone costs
}

// maxDraft is how much of a text is read, in bytes.
const maxDraft = 400_000

func readDraft(text string) draft {
	text = strings.ToValidUTF8(text[:min(maxDraft, len(text))], "")
	d := draft{milestones: derive.MilestonesIn(text), funding: cmp.Or(derive.FundingIn(text), askedIn(text))}
	var prose strings.Builder
	for b := range markdown.Blocks(text) {
		if b.Kind != markdown.Source {
			prose.WriteString(text[b.Start:b.End])
		}
	}
	d.prose = prose.String()
	blocks := derive.CodeBlocks(text)
	if at := slices.IndexFunc(blocks, func(b derive.CodeBlock) bool { return strings.Contains(b.Code, "\n") }); at >= 0 {
		d.code = blocks[at].Code
	}
	statements := []string{d.funding}
	for _, m := range d.milestones {
		statements = append(statements, derive.AmountIn(m.Title+"\n"+m.Text))
	}
	d.sums = parseAmounts(statements)
	return d
}

var (
	// asks matches the words before the amount that a draft asks for in a sentence.
	asks = regexp.MustCompile(`(?i)\b(?:ask(?:s|ing)?|appl(?:y|ies|ying)|request(?:s|ing)?)(?: for)?` +
		`(?: (?:a|the) (?:grant|total|budget|sum) of)?\s+`)
	// purpose is what an amount is asked for.
	purpose = regexp.MustCompile(`\s+(?:to|for|so that)\s\pL.*`)
)

// askedIn returns the first amount that a sentence asks for, as written.
func askedIn(text string) string {
	for _, at := range asks.FindAllStringIndex(text, -1) {
		rest, _, _ := strings.Cut(text[at[1]:], "\n")
		if a := derive.AmountIn(rest); a != "" && strings.HasPrefix(markdown.Inline(rest), a) {
			return purpose.ReplaceAllString(a, "")
		}
	}
	return ""
}

// quotedLength bounds a quotation, in characters.
const quotedLength = 160

func quoted(s string) string {
	return markdown.Clip(strings.Join(strings.Fields(s), " "), quotedLength)
}

// minStep is the least text of a milestone, with its title, in characters.
const minStep = 40

func checkMilestones(d draft) (bool, string, string) {
	if len(d.milestones) == 0 {
		return false, "no numbered milestones: write a heading or a bold line such as Milestone 1: Name for each", ""
	}
	told := map[string]bool{}
	for _, m := range d.milestones {
		if own := quotable(m); utf8.RuneCountInString(own) >= minStep {
			told[own] = true
		}
	}
	why := fmt.Sprintf("%d of %d milestones say what is delivered", len(told), len(d.milestones))
	if len(told) < 2 {
		return false, why + "; two or more should", quotable(d.milestones[0])
	}
	return true, why, quotable(d.milestones[0])
}

// quotable is a milestone's title and text without markup.
func quotable(m derive.GrantMilestone) string {
	return strings.TrimRight(markdown.Inline(m.Title+": "+m.Text), ": ")
}

var (
	workReference = regexp.MustCompile(`\b[A-Za-z0-9][\w-]*/[\w.-]+#\d{1,7}\b`)
	webAddress    = regexp.MustCompile(`https?://[^\s<>()\[\]"'` + "`" + `]+`)
	cited         = regexp.MustCompile(`\b[A-Z]{2,5}-\d{1,6}\b|(?i:\b(?:grant|proposal|issue|PR)\s#?\d{1,6}\b)`)
	codeWords     = regexp.MustCompile(`(?i)\b(?:code|prototypes?|proofs?[- ]of[- ]concept|poc|reference implementation|` +
		`repositor(?:y|ies)|demo|working implementation)\b`)
	repositoryName = regexp.MustCompile("`(?:[\\w-]+(?:\\.[\\w-]+)+/)?[A-Za-z0-9][\\w-]*/[\\w.-]+`" +
		`|\b[\w-]+(?:\.[\w-]+)+/[A-Za-z0-9][\w-]*/[\w.-]+`) // also host/owner/name
)

// checkCode passes a block of code, an issue or pull request by name, or a line
// that speaks of code with an address or a repository.
func checkCode(d draft) (bool, string, string) {
	if d.code != "" {
		return true, "it shows code", d.code
	}
	spoken := ""
	for line := range strings.Lines(d.prose) {
		if strings.Contains(line, "#") && workReference.MatchString(line) {
			return true, "it names an issue or a pull request", line
		}
		if !codeWords.MatchString(line) {
			continue
		}
		if webAddress.MatchString(line) || repositoryName.MatchString(line) {
			return true, "it says where code can be seen", line
		}
		spoken = cmp.Or(spoken, line)
	}
	if spoken != "" {
		return false, "it speaks of code but does not say where it is", spoken
	}
	return false, "no code, repository, issue or proof of concept: link one", ""
}

// minSources is how many distinct references count as sources; readSources how
// many are counted.
const (
	minSources  = 2
	readSources = 20
)

func checkSources(d draft) (bool, string, string) {
	var found []string
	for line := range strings.Lines(d.prose) {
		for _, form := range []struct {
			mark string // every match has one of these
			*regexp.Regexp
		}{{"/", webAddress}, {"#", workReference}, {"0123456789", cited}} {
			if !strings.ContainsAny(line, form.mark) || len(found) >= readSources {
				continue
			}
			for _, s := range form.FindAllString(line, readSources) {
				if s = strings.ToLower(strings.TrimRight(s, ".,;:!?")); !slices.Contains(found, s) {
					found = append(found, s)
				}
			}
		}
	}
	why := fmt.Sprintf("%d distinct references to addresses, proposals, issues or grants; two are enough", len(found))
	return len(found) >= minSources, why, strings.Join(found[:min(5, len(found))], ", ")
}

func checkBudget(d draft) (bool, string, string) {
	if d.funding == "" {
		return false, "no requested amount: write a line such as Total funding request: 10,000 with the unit", ""
	}
	if d.sums[0].Value == 0 {
		return false, "the requested amount is not one settled sum", d.funding
	}
	return true, "it requests " + d.sums[0].String(), d.funding
}

const count = `(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve)`

var (
	timeSpan = regexp.MustCompile(`(?i)\b` + count + `(?:\s?(?:-|–|to)\s?` + count + `)?[\s-](?:calendar |working )?` +
		`(?:days?|weeks?|months?|quarters?)\b|\bQ[1-4]\s?/?\s?\d{4}\b|` +
		`\b(?:weeks?|months?)\s\d{1,2}\s?(?:-|–|to)\s?\d{1,2}\b`)
	planWords = regexp.MustCompile(`(?i)\b(?:duration|timeline|schedule|deliver(?:y|ed|able|ables)?|` +
		`complet\w+|takes?|over|within)\b`)
)

// hasTime reports whether a text has a span of time or a date.
func hasTime(s string) bool {
	_, dated := derive.ParseTime(s)
	return dated || timeSpan.MatchString(s)
}

// maxMilestones is how many milestones can be followed: no proposal of a real fund,
// of 380, has more.
const maxMilestones = 10

// checkScope passes a plan that can be followed: not too many milestones; amounts that
// add up to the total within a hundredth, if all have one; and a time for half of the
// milestones, or for the whole in a line that names it.
func checkScope(d draft) (bool, string, string) {
	n := len(d.milestones)
	if n == 0 || n > maxMilestones {
		return false, fmt.Sprintf("%d milestones: a plan that can be followed has 1 to %d", n, maxMilestones), ""
	}
	total := d.sums[0]
	sum, priced, timed := 0.0, 0, 0
	for i, m := range d.milestones {
		if a := d.sums[i+1]; a.Value > 0 && a.Unit == total.Unit {
			sum += a.Value
			priced++
		}
		if hasTime(m.Title + "\n" + m.Text) {
			timed++
		}
	}
	why, at := fmt.Sprintf("%d of %d milestones have a time", timed, n), ""
	if 2*timed < n {
		for line := range strings.Lines(d.prose) {
			if planWords.MatchString(line) && hasTime(line) {
				why, at = "it states a time for the whole", line
				break
			}
		}
		if at == "" {
			return false, why + ": give each a time, such as eight weeks", ""
		}
	}
	if priced == n {
		why += fmt.Sprintf(", their amounts are %s together", amount{sum, total.Unit})
		if math.Abs(sum-total.Value) > total.Value/100 {
			return false, why + ", which is not the total", d.funding
		}
	}
	return true, why, at
}
