// Package onboarding holds the operations that say what to know and in which
// order: breaking changes, frequent questions, references of APIs, paths for
// learning, and where sources contradict each other or the live network.
package onboarding

import (
	"context"
	"reflect"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
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

var (
	notFound    = []error{op.ErrNotFound}
	unavailable = []error{op.ErrUnavailable}
)

// Question is a frequent question with its answer.
type Question struct {
	kb.Item
	Answer  string              `json:"answer"`
	Related []catalog.NamedLink `json:"related"`
	Score   float64             `json:"score"`
}

type faqIn struct {
	Question string `json:"question" required:"true" maxLength:"1000" doc:"in your own words"`
	Limit    int    `json:"limit" unlisted:"true" default:"3" minimum:"1" maximum:"100" doc:"how many to return"`
}

// Answers are the nearest frequent questions.
type Answers struct {
	Question string `json:"question"`
	find.Found[Question]
}

var faq = kb.New(op.Spec{
	ID: "get_faq", Tool: "get_faq", MayFail: unavailable, Kinds: []catalog.Kind{catalog.KindFAQ},
	Doc: `
Ask the FAQ
The three nearest questions of the developer FAQ with their answers.

Finds the three nearest questions of the developer FAQ and returns their answers. For everything else use search.
`,
}, func(ctx context.Context, b kb.Base, in faqIn) (Answers, error) {
	search := find.Search{Field: "question", Query: in.Question, Kinds: []catalog.Kind{catalog.KindFAQ}, Limit: in.Limit}
	search.Bodies = true
	found, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (Question, error) {
		d, err := kb.Decode[catalog.FAQ](m.Record)
		return Question{b.Item(m.Record), m.Record.Body, d.Related, m.Why().Score}, err
	})
	return Answers{in.Question, found}, err
})

// API is the reference of one of the network's APIs.
type API struct {
	kb.Named
	Description string `json:"description"`
	catalog.APIReference
}

var apiReference = kb.New(op.Spec{
	ID: "get_api_reference", Tool: "get_api_reference", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindAPIReference},
	Doc: `
Reference of an API
Ports, endpoints, services and links of one of the network's APIs.

Returns ports, endpoints, services and links of one of the network's APIs by its slug or name.
`,
}, func(ctx context.Context, b kb.Base, in apiIn) (API, error) {
	r, err := b.Titled(ctx, catalog.KindAPIReference, "API", in.API)
	if err != nil {
		return API{}, err
	}
	d, err := kb.Decode[catalog.APIReference](r)
	return API{b.Named(r), r.Summary, d}, err
})

type apiIn struct {
	API string `json:"api" required:"true" maxLength:"100" doc:"slug or name, such as json-ledger-api"`
}

// Background is where a newcomer comes from.
type Background string

// Constraints implements op.Constrained.
func (Background) Constraints() reflect.StructTag {
	return `enum:"EVM,Solana,Sui/Move,Web,Enterprise,New to Blockchain" doc:"where the newcomer comes from: ask first"`
}

type guideIn struct {
	Background Background `json:"background" required:"true"`
}

// Guide is an onboarding path.
type Guide struct {
	kb.Named
	Introduction string `json:"introduction"`
	Steps        []Step `json:"steps"`
}

// Step is one step of it.
type Step struct {
	Title   string   `json:"title"`
	Text    string   `json:"text,omitempty"`
	URL     string   `json:"url,omitempty"`
	Read    *kb.Item `json:"read" doc:"the record to read; null if it leads elsewhere"`
	Minutes int      `json:"minutes,omitempty"`
}

var guide = kb.New(op.Spec{
	ID: "get_started_guide", Tool: "get_started_guide", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindOnboarding},
	Doc: `
Getting started
An onboarding path for a newcomer's background.

Returns an onboarding path for one background, step by step with what to read. Ask the person for the background
first.
`,
}, func(ctx context.Context, b kb.Base, in guideIn) (Guide, error) {
	r, err := b.Titled(ctx, catalog.KindOnboarding, "background", string(in.Background))
	if err != nil {
		return Guide{}, err
	}
	d, err := kb.Decode[catalog.Onboarding](r)
	if err != nil {
		return Guide{}, err
	}
	refs := make([]catalog.Ref, len(d.Steps))
	for i, s := range d.Steps {
		refs[i] = catalog.Ref{Kind: s.Kind, Key: s.Key}
	}
	heads, err := b.Catalog.HeadsOf(ctx, refs)
	g := Guide{Named: b.Named(r), Introduction: r.Body}
	for i, s := range d.Steps {
		step := Step{Title: s.Title, Text: s.Text, URL: s.URL, Minutes: s.Minutes}
		if to, ok := heads[refs[i]]; ok {
			step.Read = new(b.Item(to))
		}
		g.Steps = append(g.Steps, step)
	}
	return g, err
})
