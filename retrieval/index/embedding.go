package index

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"almanac/embed"
	"almanac/retrieval/trace"
)

// embedAll embeds the passages of records: in one call, or, if the model refuses
// a text of them, record by record.
func (f *Follower) embedAll(ctx context.Context, fd *feed, records []*analysed) error {
	var texts []string
	for _, a := range records {
		texts = append(texts, a.embed...)
	}
	if len(texts) == 0 {
		return nil
	}
	called, s := trace.Call(ctx, "embedder", f.cfg.EmbedderServer)
	s.SetAttributes(attribute.Int("texts", len(texts)))
	vectors, err := f.embed(called, texts)
	trace.End(s, err)
	if errors.Is(err, embed.ErrRefused) {
		for _, a := range records {
			if a.vectors, err = f.embedEach(ctx, fd, a); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("index: embed %d passages: %w", len(texts), err)
	}
	for _, a := range records {
		a.vectors, vectors = vectors[:len(a.embed)], vectors[len(a.embed):]
	}
	return nil
}

// embed embeds texts: in one call, or, to give way to searches, each in its own. What
// was embedded by then is kept when the process ends.
func (f *Follower) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	if f.cfg.Yield == nil {
		return f.cfg.Embedder.Embed(ctx, texts, embed.Document)
	}
	ctx = embed.GivingWay(ctx, f.cfg.Yield)
	for i := range texts {
		one, err := f.cfg.Embedder.Embed(ctx, texts[i:i+1], embed.Document)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, one...)
	}
	return vectors, nil
}

// embedEach embeds a record of which the model may refuse a text. That one gets
// the zero vector, which no search finds: the words of the passage still do.
func (f *Follower) embedEach(ctx context.Context, fd *feed, a *analysed) ([][]float32, error) {
	vectors, err := f.cfg.Embedder.Embed(ctx, a.embed, embed.Document)
	if err == nil || !errors.Is(err, embed.ErrRefused) {
		return vectors, err
	}
	vectors = make([][]float32, len(a.embed))
	for i, text := range a.embed {
		one, err := f.cfg.Embedder.Embed(ctx, []string{text}, embed.Document)
		switch {
		case err == nil:
			vectors[i] = one[0]
		case errors.Is(err, embed.ErrRefused):
			vectors[i] = make([]float32, f.cfg.Embedder.Dimensions())
			fd.refused.Add(1)
			f.cfg.Log.Warn("the model refuses a passage, which is found by its words only", "record", a.record.ID,
				"passage", i, "error", err)
		default:
			return nil, fmt.Errorf("index: embed record %d: %w", a.record.ID, err)
		}
	}
	return vectors, nil
}
