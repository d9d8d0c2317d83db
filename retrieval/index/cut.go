package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// cut is a record being indexed.
type cut struct {
	record  catalog.Record
	pieces  []passage.Piece
	embed   []string // the text of each piece to embed
	vectors [][]float32
	packed  []Passage
	blobs   [][]byte // packed terms as stored
	keyword keyword.Record
}

// cutAll cuts and analyses records on all cores.
func cutAll(records []catalog.Record) []*cut {
	cuts := make([]*cut, len(records))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				cuts[i] = newCut(records[i])
			}
		})
	}
	for i := range records {
		next <- i
	}
	close(next)
	wg.Wait()
	return cuts
}

func newCut(r catalog.Record) *cut {
	path := pathText(r)
	c := &cut{record: r, pieces: passage.Cut(passage.Source{Title: r.Title, Path: path, Body: r.Body})}
	title, pathTokens := analysis.Analyze(r.Title), analysis.Analyze(path)
	c.keyword = keyword.Record{ID: r.ID, Attributes: AttributesOf(r),
		Title: keyword.Text{Raw: r.Title, Tokens: title}, Path: keyword.Text{Raw: path, Tokens: pathTokens}}
	for _, p := range c.pieces {
		id := passage.NewID(r.ID, p.Ordinal)
		heading, body := analysis.Analyze(p.Heading), analysis.Analyze(p.Text)
		blob := analysis.Pack([analysis.NumFields][]analysis.Token{
			analysis.Title: title, analysis.Heading: heading, analysis.Body: body, analysis.Path: pathTokens})
		view, err := analysis.View(blob)
		if err != nil {
			panic("index: packed terms cannot be read back: " + err.Error())
		}
		c.blobs = append(c.blobs, blob)
		c.packed = append(c.packed, Passage{ID: id, Terms: view})
		c.embed = append(c.embed, passage.EmbedText(r.Title, p))
		c.keyword.Passages = append(c.keyword.Passages, keyword.Passage{ID: id,
			Heading: keyword.Text{Raw: p.Heading, Tokens: heading}, Body: keyword.Text{Raw: p.Text, Tokens: body}})
	}
	return c
}

// stored returns the record's rows of the passages table.
func (c *cut) stored() catalog.RecordPassages {
	rows := catalog.RecordPassages{Record: c.record.ID}
	for i, p := range c.pieces {
		sum := sha256.Sum256([]byte(c.embed[i]))
		rows.Passages = append(rows.Passages, catalog.Passage{ID: int64(c.packed[i].ID), Record: c.record.ID,
			Ordinal: p.Ordinal, Anchor: p.Anchor, Section: p.Section, Heading: p.Heading, Text: p.Text, Terms: c.blobs[i],
			Hash: hex.EncodeToString(sum[:16])})
	}
	return rows
}

// vector returns the record for vector engines.
func (c *cut) vector() vector.Record {
	r := vector.Record{ID: c.record.ID, Attributes: c.keyword.Attributes, Vectors: c.vectors}
	for _, p := range c.packed {
		r.Terms = append(r.Terms, p.Terms)
	}
	return r
}

// embedAll embeds the passages of all cuts in one call.
func (f *Follower) embedAll(ctx context.Context, cuts []*cut) error {
	var texts []string
	for _, c := range cuts {
		texts = append(texts, c.embed...)
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := f.cfg.Embedder.Embed(ctx, texts, embed.Document)
	if err != nil {
		return fmt.Errorf("index: embed %d passages: %w", len(texts), err)
	}
	for _, c := range cuts {
		c.vectors, vectors = vectors[:len(c.embed)], vectors[len(c.embed):]
	}
	return nil
}
