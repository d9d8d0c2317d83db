package cips

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var getSpec = op.Spec{
	ID: "get_cip", Path: "/api/v1/cips/{id}", Tool: "get_cip", Title: "Read an improvement proposal", MayFail: notFound,
	Summary: "One proposal with its full text.",
	Description: "Reads one improvement proposal: its header fields and full markdown text, 50,000 characters at a time. " +
		"Takes {{label}}, {{short}} or a draft's PR-203.",
	Forms: []op.Form{kb.MarkdownForm[Full]()},
}

type getIn struct {
	ID     kb.CIPID  `json:"id" required:"true"`
	Cursor kb.Cursor `json:"cursor"`
}

// Full is a proposal with its text.
type Full struct {
	kb.CIP
	kb.Text
	Header map[string]string `json:"header" doc:"every header field, as written"`
	Layer  string            `json:"layer,omitempty"`
}

// Markdown implements kb.Markdowner.
func (f Full) Markdown() kb.Markdown { return kb.Markdown{Title: f.Title, URL: f.URL, Text: f.Content} }

func (s service) get(ctx context.Context, in getIn) (Full, error) {
	r, err := s.CIP(ctx, in.ID)
	if err != nil {
		return Full{}, err
	}
	return s.full(r, in.Cursor)
}

func (s service) full(r catalog.Record, cursor kb.Cursor) (f Full, err error) {
	if f.CIP, err = s.CIPRow(r); err != nil {
		return f, err
	}
	if f.Text, err = kb.Cut(r.Body, cursor); err != nil {
		return f, err
	}
	d, err := kb.Decode[catalog.CIP](r)
	f.Header, f.Layer = d.Header, d.Layer
	return f, err
}

var batchSpec = op.Spec{
	ID: "batch_cips", Method: "POST", Path: "/api/v1/cips/batch",
	Summary: "Several proposals with full text, in input order, null for misses.",
}

type batchIn struct {
	IDs []kb.CIPID `json:"ids" maxItems:"50" required:"true" doc:"ids such as {{short}}, {{key}} or PR-203, at most 50"`
}

// Batch is the answer of a batch lookup.
type Batch[T any] struct {
	Items []*T `json:"items" doc:"in input order; null where nothing has the id"`
}

func (s service) batch(ctx context.Context, in batchIn) (Batch[Full], error) {
	return each(ctx, s, in.IDs, func(r catalog.Record) (Full, error) { return s.full(r, "") })
}

// each looks ids up in order.
func each[T any](ctx context.Context, s service, ids []kb.CIPID, row func(catalog.Record) (T, error)) (Batch[T], error) {
	out := Batch[T]{Items: make([]*T, len(ids))}
	for i, id := range ids {
		r, err := s.CIP(ctx, id)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return Batch[T]{}, err
		}
		v, err := row(r)
		if err != nil {
			return Batch[T]{}, err
		}
		out.Items[i] = &v
	}
	return out, nil
}
