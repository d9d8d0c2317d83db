package ecosystem

import (
	"context"
	"fmt"
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
