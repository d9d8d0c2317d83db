package derive

import (
	"cmp"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/text/markdown"
)

// GrantCheck is one check of the readiness of a draft.
type GrantCheck struct {
	Name     string   `json:"name"`
	Passed   bool     `json:"passed"`
	Judged   bool     `json:"judged" doc:"false: the catalog has nothing to compare with, so it does not count"`
	Why      string   `json:"why"`
	Text     string   `json:"text,omitempty" doc:"the words of the draft that decided it"`
	Weight   float64  `json:"weight" doc:"its share in the score, if all are judged"`
	Accepted *float64 `json:"accepted_rate" doc:"share of accepted grants that pass it; null if there are none"`
	Declined *float64 `json:"declined_rate" doc:"share of grants closed without being merged that pass it"`
}

// Readiness is how a draft of a grant proposal does in the checks.
type Readiness struct {
	Score  float64      `json:"score" doc:"0 to 1: weight of the passed checks in that of the judged ones"`
	Checks []GrantCheck `json:"checks"`
}

// The checks and their weights, which add up to 1. They were set by hand: a plan
// that can be followed counts as much as something to look at.
var grantChecks = []struct {
	name   string
	weight float64
	run    func(grantDraft, *GrantBase, []catalog.Record) verdict
}{
	{"milestones", 0.20, checkMilestones},
	{"code", 0.15, checkCode},
	{"sources", 0.15, checkSources},
	{"budget", 0.10, checkBudget},
	{"budget_in_range", 0.10, checkRange},
	{"milestone_amounts", 0.05, checkSums},
	{"schedule", 0.10, checkSchedule},
	{"scope", 0.05, checkScope},
	{"overlap", 0.10, checkOverlap},
}

type verdict struct {
	passed, unjudged bool
	why, text        string
}

// Readiness checks a draft: a pure function of its text, the base and the
// accepted grants, with their bodies, that it may overlap with. It judges form and comparison, never content,
// and reads in time linear in the text.
func (b *GrantBase) Readiness(text string, funded []catalog.Record) Readiness {
	var out Readiness
	passed, judged := 0.0, 0.0
	d := readDraft(text)
	for _, c := range grantChecks {
		v := c.run(d, b, funded)
		check := GrantCheck{
			Name: c.name, Passed: v.passed, Judged: !v.unjudged, Why: v.why, Text: quoted(v.text), Weight: c.weight,
		}
		check.Accepted, check.Declined = b.rates(c.name)
		if out.Checks = append(out.Checks, check); v.unjudged {
			continue
		}
		judged += c.weight
		if v.passed {
			passed += c.weight
		}
	}
	out.Score = math.Round(passed/judged*100) / 100
	return out
}

// grantDraft is what the checks read in a draft.
type grantDraft struct {
	text       string
	prose      string // without fenced code
	code       string // the first block of code with two lines
	milestones []GrantMilestone
	funding    string
}

// maxDraft is how much of a text is read, in bytes.
const maxDraft = 400_000

// asks matches the words before the amount that a draft asks for in a sentence.
var asks = regexp.MustCompile(`(?i)\b(?:ask(?:s|ing)?|appl(?:y|ies|ying)|request(?:s|ing)?)(?: for)?` +
	`(?: (?:a|the) (?:grant|total|budget|sum) of)?\s+`)

// purpose is what an amount is asked for.
var purpose = regexp.MustCompile(`\s+(?:to|for|so that)\s\pL.*`)

// askedIn returns the first amount that a sentence asks for, as written.
func askedIn(text string) string {
	for _, at := range asks.FindAllStringIndex(text, -1) {
		rest, _, _ := strings.Cut(text[at[1]:], "\n")
		if a := AmountIn(rest); a != "" && strings.HasPrefix(inline(rest), a) {
			return purpose.ReplaceAllString(a, "")
		}
	}
	return ""
}

func readDraft(text string) grantDraft {
	text = strings.ToValidUTF8(cutText(text, maxDraft), "")
	d := grantDraft{text: text, milestones: MilestonesIn(text), funding: cmp.Or(FundingIn(text), askedIn(text))}
	var prose, block strings.Builder
	var fence markdown.Fence
	lines := 0
	for line := range strings.Lines(text) {
		switch fence.Next(line) {
		case markdown.Opening:
			lines = 0
			block.Reset()
		case markdown.Closing:
			if d.code == "" && lines > 1 {
				d.code = strings.TrimSpace(block.String())
			}
		case markdown.Code:
			if block.WriteString(line); strings.TrimSpace(line) != "" {
				lines++
			}
		case markdown.Text:
			prose.WriteString(line)
		}
	}
	d.prose = prose.String()
	return d
}

// quotedLength bounds a quotation, in characters.
const quotedLength = 160

func quoted(s string) string {
	s = blanks.ReplaceAllString(strings.TrimSpace(s), " ")
	if utf8.RuneCountInString(s) > quotedLength {
		s = string([]rune(s)[:quotedLength-1]) + "…"
	}
	return s
}
