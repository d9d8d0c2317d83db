package library

import (
	"context"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type foundationIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"what to know of the foundation"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"20" doc:"how many to return"`
}

// FoundationInfo are the found pages of the foundation's website.
type FoundationInfo struct {
	Topic string `json:"topic"`
	find.Found[FoundationPage]
}

// FoundationPage is one of them.
type FoundationPage struct {
	kb.Item
	Section string `json:"section,omitempty"`
	find.Why
}

var foundation = kb.New(op.Spec{
	ID: "get_foundation_info", Tool: "get_foundation_info", MayFail: []error{op.ErrUnavailable},
	Kinds: []catalog.Kind{catalog.KindFoundation},
	Doc: `
Ask about the foundation
Pages of the foundation's website on a topic, with the passage that matched.

Searches the website of the network's foundation by words and meaning and returns the passages that matched. For
developer questions use get_faq, for everything search.
`,
}, func(ctx context.Context, b kb.Base, in foundationIn) (FoundationInfo, error) {
	found, err := find.Rows(ctx, b, find.Search{
		Field: "topic", Query: in.Topic, Kinds: []catalog.Kind{catalog.KindFoundation}, Limit: in.Limit,
	}, func(b kb.Base, m find.Match) (FoundationPage, error) {
		d, err := kb.Decode[catalog.Foundation](m.Record)
		return FoundationPage{b.Item(m.Record), d.Section, m.Why()}, err
	})
	return FoundationInfo{in.Topic, found}, err
})
