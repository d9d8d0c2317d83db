// Package onboarding holds the operations that say what to know and in which
// order: breaking changes, frequent questions, references of APIs, paths for
// learning, and where sources contradict each other or the live network.
package onboarding

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{radar, faq, apiReference, guide, kbDrift, contradictions, learningPath}

// Alert is a breaking change or deadline.
type Alert struct {
	kb.Item
	Level    string     `json:"level" enum:"critical,important,ecosystem"`
	Note     string     `json:"note"`
	Action   string     `json:"action,omitempty" doc:"what to do"`
	Deadline *time.Time `json:"deadline"`
	Written  string     `json:"deadline_raw,omitempty" doc:"the deadline as written"`
	Affected []string   `json:"affected" doc:"components"`
	Versions []string   `json:"versions"`
}

var radar = kb.New(op.Spec{
	ID: "get_radar", Path: "/api/v1/radar", Tool: "get_radar", Kinds: []catalog.Kind{catalog.KindRadar},
	Doc: `
Breaking changes and deadlines
Radar alerts by level, newest first.

Lists radar alerts, newest first, each with its deadline, the affected components and the source; filter by level
critical, important or ecosystem.
`,
	Example: radarIn{Level: "critical", Paging: arg.Paging{Limit: 5}},
}, func(ctx context.Context, b kb.Base, in radarIn) (kb.List[Alert], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindRadar}, Order: catalog.ByCreated, Categories: arg.Only(in.Level, "all"),
	}
	return kb.Rows(ctx, b, q, in.Paging, alert)
})

type radarIn struct {
	Level string `json:"level" enum:"all,critical,important,ecosystem" default:"all" doc:"only alerts of this level"`
	arg.Paging
}

func alert(b kb.Base, r catalog.Record) (Alert, error) {
	d, err := kb.Decode[catalog.Radar](r)
	return Alert{
		b.Item(r), r.Category, r.Summary, d.Action, kb.Time(r.EndsAt), d.Deadline, d.Affected, d.Versions,
	}, err
}
