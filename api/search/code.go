package search

import (
	"context"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/prose"
)

// CodeExamples are the found posts with code.
type CodeExamples struct {
	Topic string `json:"topic"`
	find.Found[CodeExample]
}

// CodeExample is a forum post with the one of its code blocks that fits best.
type CodeExample struct {
	kb.Item
	Likes     int64  `json:"likes"`
	Accepted  bool   `json:"accepted" doc:"it is the accepted answer of its thread"`
	Language  string `json:"language,omitempty" doc:"as the author marked it"`
	Code      string `json:"code" doc:"the first 2,000 characters of the block"`
	Truncated bool   `json:"truncated,omitempty" doc:"the block is longer: get_doc has all of it"`
	Blocks    int    `json:"blocks" doc:"code blocks in the post"`
	find.Why
}

const (
	codeShown     = 2_000 // characters
	languageShown = 30
)

type codeIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"what the code is to do, or what it uses"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
}

var codeExamples = kb.New(op.Spec{
	ID: "find_code_examples", Tool: "find_code_examples", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindPost},
	Doc: `
Find code examples
Forum posts with code on a topic.

Finds forum posts with blocks of code on a topic and returns the block itself, with its author, likes and whether it
was accepted. For code in documentation use search with type doc.
`,
}, func(ctx context.Context, b kb.Base, in codeIn) (CodeExamples, error) {
	posts := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindPost}, AllTags: []string{catalog.TagCode}}
	ids, _, err := kb.DerivedFrom(ctx, b, "posts with code", 0, posts, find.Among)
	if err != nil {
		return CodeExamples{}, err
	}
	search := find.Search{Field: "topic", Query: in.Topic, Kinds: posts.Kinds, Limit: in.Limit, Offset: in.Offset}
	search.Filter.Records, search.Bodies = ids, true
	found, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (CodeExample, error) {
		return codeExample(b, m, in.Topic)
	})
	return CodeExamples{in.Topic, found}, err
})

func codeExample(b kb.Base, m find.Match, topic string) (CodeExample, error) {
	r := m.Record
	d, err := kb.Decode[catalog.Post](r)
	blocks := derive.CodeBlocks(r.Body)
	best := bestBlock(blocks, topic)
	return CodeExample{
		Item: b.Item(r), Likes: r.Votes, Accepted: d.Accepted, Language: prose.First(best.Language, languageShown),
		Code: prose.First(best.Code, codeShown), Truncated: utf8.RuneCountInString(best.Code) > codeShown,
		Blocks: len(blocks), Why: m.Why(),
	}, err
}
