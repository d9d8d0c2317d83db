package derive

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"almanac/catalog"
)

// The checks of a draft of a grant proposal.

// minStep is the least text of a milestone, with its title, in characters.
const minStep = 40

func checkMilestones(d grantDraft, _ *GrantBase, _ []catalog.Record) verdict {
	texts := map[string]bool{}
	for _, m := range d.milestones {
		if own := quotable(m); utf8.RuneCountInString(own) >= minStep {
			texts[own] = true
		}
	}
	switch {
	case len(d.milestones) == 0:
		return verdict{why: "no numbered milestones: write a heading or a bold line such as Milestone 1: Name for each"}
	case len(texts) < 2:
		return verdict{
			why:  fmt.Sprintf("%d of %d milestones say what is delivered; two or more should", len(texts), len(d.milestones)),
			text: quotable(d.milestones[0]),
		}
	}
	return verdict{
		passed: true, why: fmt.Sprintf("%d of %d milestones say what is delivered", len(texts), len(d.milestones)),
		text: quotable(d.milestones[0]),
	}
}

// quotable is a milestone's title and text without markup.
func quotable(m GrantMilestone) string { return strings.TrimRight(inline(m.Title+": "+m.Text), ": ") }

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
func checkCode(d grantDraft, _ *GrantBase, _ []catalog.Record) verdict {
	if d.code != "" {
		return verdict{passed: true, why: "it shows code", text: d.code}
	}
	spoken := ""
	for line := range strings.Lines(d.prose) {
		if strings.Contains(line, "#") && workReference.MatchString(line) {
			return verdict{passed: true, why: "it names an issue or a pull request", text: line}
		}
		if !codeWords.MatchString(line) {
			continue
		}
		if webAddress.MatchString(line) || repositoryName.MatchString(line) {
			return verdict{passed: true, why: "it says where code can be seen", text: line}
		}
		if spoken == "" {
			spoken = line
		}
	}
	if spoken != "" {
		return verdict{why: "it speaks of code but does not say where it is", text: spoken}
	}
	return verdict{why: "no code, repository, issue or proof of concept: link one"}
}

// minSources is how many distinct references count as sources; readSources how
// many are counted.
const (
	minSources  = 2
	readSources = 20
)

func checkSources(d grantDraft, _ *GrantBase, _ []catalog.Record) verdict {
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
	v := verdict{passed: len(found) >= minSources, text: strings.Join(found[:min(5, len(found))], ", ")}
	v.why = fmt.Sprintf("%d distinct references to addresses, proposals, issues or grants; two are enough", len(found))
	return v
}

func checkBudget(d grantDraft, b *GrantBase, _ []catalog.Record) verdict {
	if d.funding == "" {
		return verdict{why: "no requested amount: write a line such as Total funding request: 10,000 with the unit"}
	}
	a := b.units.parse(d.funding)
	if a.Value == 0 {
		return verdict{why: "the requested amount is not one settled sum", text: d.funding}
	}
	return verdict{passed: true, why: fmt.Sprintf("it requests %s", a), text: d.funding}
}

// minBase is the least number of accepted grants for a comparison.
const minBase = 5

func checkRange(d grantDraft, b *GrantBase, _ []catalog.Record) verdict {
	a := b.units.parse(d.funding)
	sums := b.sums[a.Unit]
	switch {
	case a.Value == 0:
		return verdict{why: "no sum to compare", text: d.funding}
	case len(sums) < minBase:
		return verdict{unjudged: true, why: fmt.Sprintf("only %d accepted grants state a sum in %s", len(sums), a.Unit)}
	}
	most := quantile(sums, 0.9)
	return verdict{
		passed: a.Value <= most, text: d.funding,
		why: fmt.Sprintf("more than %.0f %% of %d accepted grants; nine of ten ask for %s at most", 100*below(sums, a.Value),
			len(sums), Amount{most, a.Unit}),
	}
}

// checkSums wants an amount for every milestone, and the total to be their sum
// within a hundredth.
func checkSums(d grantDraft, b *GrantBase, _ []catalog.Record) verdict {
	total := b.units.parse(d.funding)
	sum, stated := 0.0, 0
	for _, m := range d.milestones {
		if a := b.units.parse(AmountIn(m.Title + "\n" + m.Text)); a.Value > 0 && a.Unit == total.Unit {
			sum += a.Value
			stated++
		}
	}
	v := verdict{
		why: fmt.Sprintf("%d of %d milestones state an amount in the unit of the total", stated, len(d.milestones)),
	}
	if total.Value > 0 && stated > 0 {
		v.passed = stated == len(d.milestones) && math.Abs(sum-total.Value) <= total.Value/100
		v.why += fmt.Sprintf(", %s together", Amount{sum, total.Unit})
		v.text = d.funding
	}
	return v
}

const count = `(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twelve)`

var timeSpan = regexp.MustCompile(`(?i)\b` + count + `(?:\s?(?:-|–|to)\s?` + count + `)?[\s-](?:calendar |working )?` +
	`(?:days?|weeks?|months?|quarters?)\b|\bQ[1-4]\s?/?\s?\d{4}\b|\b(?:weeks?|months?)\s\d{1,2}\s?(?:-|–|to)\s?\d{1,2}\b`)

// checkSchedule wants a time for half of the milestones, or one for the whole in
// a line that names it.
func checkSchedule(d grantDraft, _ *GrantBase, _ []catalog.Record) verdict {
	timed, text := 0, ""
	for _, m := range d.milestones {
		s := m.Title + "\n" + m.Text
		if at := firstTime(s); at != "" {
			timed++
			if text == "" {
				text = at
			}
		}
	}
	if timed > 0 && 2*timed >= len(d.milestones) {
		return verdict{true, false, fmt.Sprintf("%d of %d milestones have a time", timed, len(d.milestones)), text}
	}
	for line := range strings.Lines(d.prose) {
		if planWords.MatchString(line) && firstTime(line) != "" {
			return verdict{passed: true, why: "it states a time for the whole", text: line}
		}
	}
	return verdict{why: "no schedule: give each milestone a time, such as eight weeks", text: text}
}

var planWords = regexp.MustCompile(`(?i)\b(?:duration|timeline|schedule|deliver(?:y|ed|able|ables)?|` +
	`complet\w+|takes?|over|within)\b`)

// firstTime is the first span of time or date in a text.
func firstTime(s string) string {
	if at := timeSpan.FindString(s); at != "" {
		return at
	}
	if days := datesIn(s); len(days) > 0 {
		return s[days[0].start:days[0].end]
	}
	return ""
}

// checkScope compares the number of milestones with those of accepted grants.
func checkScope(d grantDraft, b *GrantBase, _ []catalog.Record) verdict {
	if len(b.steps) < minBase {
		return verdict{unjudged: true, why: fmt.Sprintf("only %d accepted grants number their milestones", len(b.steps))}
	}
	least, most := quantile(b.steps, 0.1), quantile(b.steps, 0.9)
	n := float64(len(d.milestones))
	return verdict{passed: n >= least && n <= most, why: fmt.Sprintf(
		"%d milestones; eight of ten accepted grants have %.0f to %.0f", len(d.milestones), least, most)}
}

// maxLikeness is the likeness above which a draft has to name the funded work.
// Among the 49 accepted grants of a real fund, different works have 0.24 at most,
// those that continue or port another 0.43 to 0.46, revisions 0.87 and more.
const maxLikeness = 0.4

// checkOverlap passes a draft that is unlike funded work, or names what it is
// like.
func checkOverlap(d grantDraft, b *GrantBase, funded []catalog.Record) verdict {
	if b.AcceptedN == 0 {
		return verdict{unjudged: true, why: "there are no accepted grants"}
	}
	own := b.vector(d.text)
	best, nearest := 0.0, catalog.Record{}
	for _, f := range funded {
		if x := cosine(own, b.vector(f.Body)); x > best {
			best, nearest = x, f
		}
	}
	v := verdict{passed: true, why: "no accepted grant is like it"}
	if best == 0 {
		return v
	}
	v.text = nearest.Title
	v.why = fmt.Sprintf("the nearest accepted grant is %s, likeness %.2f of at most %.2f",
		nearest.Key, best, maxLikeness)
	if best > maxLikeness {
		named := regexp.MustCompile(
			`(?i)(?:#|\b(?:grants?|proposal|pr)[\s#-]{1,2})` + regexp.QuoteMeta(nearest.Key) + `\b`)
		if v.passed = named.MatchString(d.text); v.passed {
			v.why += ", and the draft names it"
		} else {
			v.why += ": say how it differs, and name it"
		}
	}
	return v
}
