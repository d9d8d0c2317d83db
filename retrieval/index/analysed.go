package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// analysed is a record being indexed: cut into passages and analysed.
type analysed struct {
	record  catalog.Record
	pieces  []passage.Piece
	embed   []string // the text of each piece to embed
	vectors [][]float32
	terms   []analysis.Packed // of each piece
	blobs   [][]byte          // the same as stored
	keyword keyword.Record
}

// analyseAll cuts and analyses records on all cores.
func analyseAll(records []catalog.Record) []*analysed {
	out := make([]*analysed, len(records))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				out[i] = analyse(records[i])
			}
		})
	}
	for i := range records {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

func analyse(r catalog.Record) *analysed {
	path := pathText(r)
	a := &analysed{record: r, pieces: passage.Cut(passage.Source{Title: r.Title, Path: path, Body: r.Body})}
	title, pathTokens := analysis.Analyze(r.Title), analysis.Analyze(path)
	a.keyword = keyword.Record{ID: r.ID, Attributes: corpus.AttributesOf(r),
		Title: keyword.Text{Raw: r.Title, Tokens: title}, Path: keyword.Text{Raw: path, Tokens: pathTokens}}
	for _, p := range a.pieces {
		id := passage.NewID(r.ID, p.Ordinal)
		heading, body := analysis.Analyze(p.Heading), analysis.Analyze(p.Text)
		blob := analysis.Pack([analysis.NumFields][]analysis.Token{
			analysis.Title: title, analysis.Heading: heading, analysis.Body: body, analysis.Path: pathTokens})
		view, err := analysis.View(blob)
		if err != nil {
			panic("index: packed terms cannot be read back: " + err.Error())
		}
		a.blobs = append(a.blobs, blob)
		a.terms = append(a.terms, view)
		a.embed = append(a.embed, passage.EmbedText(r.Title, p))
		a.keyword.Passages = append(a.keyword.Passages, keyword.Passage{ID: id,
			Heading: keyword.Text{Raw: p.Heading, Tokens: heading}, Body: keyword.Text{Raw: p.Text, Tokens: body}})
	}
	return a
}

// pathText returns the searchable part of a record's path and key: the last
// three segments without the file's extension, and the key if it adds
// something.
func pathText(r catalog.Record) string {
	segments := strings.Split(strings.Trim(r.Path, "/"), "/")
	if len(segments) > 3 {
		segments = segments[len(segments)-3:]
	}
	segments[len(segments)-1] = corpus.FileName(r.Path)
	text := strings.Join(segments, " / ")
	if !strings.Contains(r.Path, r.Key) && len(r.Key) <= 80 {
		text = strings.TrimSpace(r.Key + " " + text)
	}
	return text
}

// textsOf yields the texts of records with their tokens.
func textsOf(records []*analysed) iter.Seq2[string, []analysis.Token] {
	return func(yield func(string, []analysis.Token) bool) {
		for _, a := range records {
			all := []keyword.Text{a.keyword.Title, a.keyword.Path}
			for _, p := range a.keyword.Passages {
				all = append(all, p.Heading, p.Body)
			}
			for _, t := range all {
				if !yield(t.Raw, t.Tokens) {
					return
				}
			}
		}
	}
}

// stored returns the record's rows of the passages table.
func (a *analysed) stored() catalog.RecordPassages {
	rows := catalog.RecordPassages{Record: a.record.ID}
	for i, p := range a.pieces {
		sum := sha256.Sum256([]byte(a.embed[i]))
		id := passage.NewID(a.record.ID, p.Ordinal)
		rows.Passages = append(rows.Passages, catalog.Passage{ID: int64(id), Record: a.record.ID, Ordinal: p.Ordinal,
			Anchor: p.Anchor, Section: p.Section, Heading: p.Heading, Text: p.Text, Terms: a.blobs[i],
			Hash: hex.EncodeToString(sum[:16])})
	}
	return rows
}

// vector returns the record for vector engines.
func (a *analysed) vector() vector.Record {
	return vector.Record{ID: a.record.ID, Attributes: a.keyword.Attributes, Vectors: a.vectors, Terms: a.terms}
}

// embedAll embeds the passages of all records in one call.
func (f *Follower) embedAll(ctx context.Context, records []*analysed) error {
	var texts []string
	for _, a := range records {
		texts = append(texts, a.embed...)
	}
	if len(texts) == 0 {
		return nil
	}
	vectors, err := f.cfg.Embedder.Embed(ctx, texts, embed.Document)
	if err != nil {
		return fmt.Errorf("index: embed %d passages: %w", len(texts), err)
	}
	for _, a := range records {
		a.vectors, vectors = vectors[:len(a.embed)], vectors[len(a.embed):]
	}
	return nil
}
