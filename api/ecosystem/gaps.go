package ecosystem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type gapsIn struct {
	Limit int `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many of each kind"`
}

// Gaps is what was asked for and not answered.
type Gaps struct {
	Topics  find.Found[OpenTopic]  `json:"unanswered_topics" doc:"forum threads, most viewed first"`
	Threads find.Found[OpenThread] `json:"unanswered_mailing_threads" doc:"questions first, then newest"`
	Labels  find.Found[LabelGap]   `json:"grant_labels" doc:"fewest accepted first, then most proposals"`
	AsOf    time.Time              `json:"as_of"`
	evidence.Grounds
}

// OpenTopic is a forum topic without a reply.
type OpenTopic struct {
	kb.Item
	Category string `json:"category"`
	Views    int64  `json:"views"`
}

// OpenThread is a mailing-list thread without an answer.
type OpenThread struct {
	kb.Item
	Asks bool `json:"asks" doc:"whether it asks something"`
}

// gapsAge is how long gaps are cached: what waits depends on the day.
const gapsAge = time.Hour

var gaps = kb.New(op.Spec{
	ID: "get_ecosystem_gaps", Tool: "get_ecosystem_gaps", Kinds: gapKinds,
	Doc: `
Gaps of the ecosystem
Unanswered threads that many read, and grant labels with few accepted proposals.

Lists unanswered forum threads that many read, unanswered mailing threads, and labels of grants with few accepted
proposals. For the funding of one label use get_funding_landscape.
`,
}, func(ctx context.Context, b kb.Base, in gapsIn) (out Gaps, err error) {
	q := catalog.ListQuery{Kinds: gapKinds, WithBody: true}
	found, at, err := kb.DerivedFrom(ctx, b, "gaps", gapsAge, q, func(records []catalog.Record) foundGaps {
		return findGaps(records, b.Now())
	})
	out.AsOf = at
	out.Topics = gap(found.Topics, in.Limit, func(r catalog.Record) OpenTopic {
		return OpenTopic{b.Item(r), r.Category, r.Views}
	})
	out.Threads = gap(found.Threads, in.Limit, func(t silentThread) OpenThread {
		return OpenThread{b.Item(t.Record), t.Asks}
	})
	var proofs []evidence.Proof
	out.Labels = gap(found.Labels, in.Limit, func(g LabelGap) LabelGap {
		proofs = append(proofs, g.Proofs()...)
		return g
	})
	out.Evidence = evidence.Of(b, proofs)
	out.Method = fmt.Sprintf("Open topics of 3 days or more without a reply and with at least the median of %d views; "+
		"threads of one message in lists where at least half get an answer; labels with a smaller share of merged "+
		"proposals than all have (%.0f %%).", found.MedianViews, 100*found.Share)
	return out, err
})

func gap[T, R any](all []T, limit int, row func(T) R) find.Found[R] {
	g := find.Found[R]{Total: len(all)}
	for _, x := range all[:min(limit, len(all))] {
		g.Items = append(g.Items, row(x))
	}
	if len(all) == 0 {
		g.Hint = "there is none: what was asked is answered, or nothing of this kind is indexed"
	}
	return g
}

// gapAge is how old a question must be to count as unanswered: three days,
// which a weekend does not fill.
const gapAge = 72 * time.Hour

// gapKinds are the kinds of records that gaps are found in.
var gapKinds = slices.Concat(catalog.KindsAt(catalog.PlaceForum, catalog.RoleThread),
	catalog.KindsAt(catalog.PlaceMail), catalog.KindsAt(catalog.PlaceGrants))

// foundGaps is what the community asked for and did not get.
type foundGaps struct {
	Topics      []catalog.Record // see unansweredTopics
	MedianViews int64
	Threads     []silentThread // questions first, then newest
	Labels      []LabelGap     // see labelGaps
	Share       float64        // of accepted grant proposals
}

// silentThread is a mailing-list thread without an answer.
type silentThread struct {
	catalog.Record
	Asks bool
}

// findGaps finds the gaps in records of gapKinds; only messages need their
// bodies.
func findGaps(records []catalog.Record, now time.Time) (g foundGaps) {
	of := map[catalog.Kind][]catalog.Record{}
	asks := map[int64]bool{} // by thread
	for _, r := range records {
		of[r.Kind] = append(of[r.Kind], r)
		if r.Kind == catalog.KindMailMessage && asksSomething(r.Body) {
			asks[r.Parent] = true
		}
	}
	g.Topics, g.MedianViews = unansweredTopics(of[catalog.KindTopic], now)
	g.Labels, g.Share = labelGaps(of[catalog.KindGrant])
	silent := silentThreads(of[catalog.KindMailThread], now)
	for _, asking := range []bool{true, false} {
		for _, t := range silent {
			if asks[t.ID] == asking {
				g.Threads = append(g.Threads, silentThread{t, asking})
			}
		}
	}
	return g
}

// unansweredTopics returns the forum topics that wait for an answer and have at least
// as many views as half of all topics, most views first, and the median of views. The
// records may lack their bodies.
func unansweredTopics(topics []catalog.Record, now time.Time) (out []catalog.Record, median int64) {
	if len(topics) == 0 {
		return nil, 0
	}
	var views []int64
	for _, t := range topics {
		views = append(views, t.Views)
	}
	slices.Sort(views)
	median = views[len(views)/2]
	for _, t := range topics {
		if t.Views >= median && waits(t, now) {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b catalog.Record) int {
		return cmp.Or(cmp.Compare(b.Views, a.Views), cmp.Compare(a.ID, b.ID))
	})
	return out, median
}

// silentThreads returns the mailing-list threads that wait for an answer, newest
// first. Lists in which less than half of the threads have one are for announcements
// and left out.
func silentThreads(threads []catalog.Record, now time.Time) []catalog.Record {
	all, answered := map[string]int{}, map[string]int{}
	for _, t := range threads {
		if all[t.Container]++; !kb.Unanswered(t) {
			answered[t.Container]++
		}
	}
	alone := slices.DeleteFunc(slices.Clone(threads), func(t catalog.Record) bool {
		return 2*answered[t.Container] < all[t.Container] || !waits(t, now)
	})
	slices.SortStableFunc(alone, func(a, b catalog.Record) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return alone
}

// waits reports whether a thread has waited for an answer for long enough.
func waits(r catalog.Record, now time.Time) bool {
	return kb.Unanswered(r) && !r.CreatedAt.IsZero() && now.Sub(r.CreatedAt) >= gapAge
}

// LabelGap is a label of grant proposals of which few are accepted.
type LabelGap struct {
	Label     string           `json:"label"`
	Proposals int              `json:"proposals"`
	Accepted  int              `json:"accepted"`
	Open      int              `json:"open"`
	Declined  int              `json:"declined" doc:"closed without being accepted"`
	Pending   []catalog.Record `json:"-"` // the proposals that are not accepted, newest first
}

// perLabel is the maximum of proposals in evidence of a label.
const perLabel = 2

// Proofs are the newest proposals that are not accepted, weighed by their share
// in all of these.
func (g LabelGap) Proofs() (out []evidence.Proof) {
	for _, r := range g.Pending[:min(perLabel, len(g.Pending))] {
		why := "proposed under " + g.Label + " and not accepted"
		out = append(out, evidence.Proof{Record: r, Why: why, Weight: 1 / float64(len(g.Pending))})
	}
	return out
}

// labelGaps returns the labels whose share of accepted proposals is below that
// of all: the fewest accepted first, then the most proposals; and the share of
// all. A proposal is accepted when its pull request is merged. Further files of
// a proposal do not count.
func labelGaps(grants []catalog.Record) (gaps []LabelGap, share float64) {
	of := map[string]*LabelGap{}
	accepted, all := 0, 0
	for _, r := range grants {
		d, err := catalog.Decode[catalog.Grant](r)
		if err != nil || r.Parent != 0 {
			continue
		}
		all++
		if d.Merged {
			accepted++
		}
		for _, label := range d.Labels {
			g := of[label]
			if g == nil {
				g = &LabelGap{Label: label}
				of[label] = g
			}
			g.Proposals++
			switch {
			case d.Merged:
				g.Accepted++
				continue
			case r.State == "open":
				g.Open++
			default:
				g.Declined++
			}
			g.Pending = append(g.Pending, r)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(of)) {
		if g := of[label]; g.Accepted*all < accepted*g.Proposals {
			slices.SortStableFunc(g.Pending, func(a, b catalog.Record) int { return b.CreatedAt.Compare(a.CreatedAt) })
			gaps = append(gaps, *g)
		}
	}
	slices.SortStableFunc(gaps, func(a, b LabelGap) int {
		return cmp.Or(a.Accepted-b.Accepted, b.Proposals-a.Proposals)
	})
	return gaps, float64(accepted) / float64(max(1, all))
}

var question = regexp.MustCompile(`\pL[^\n?]*\?(?:\s|["')]|$)`)

// asksSomething reports whether a message asks something, in its own words: quoted lines
// do not count.
func asksSomething(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") && question.MatchString(line) {
			return true
		}
	}
	return false
}
