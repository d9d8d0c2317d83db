package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/trace"
	"almanac/retrieval/vector"
)

// analysed is a record being indexed: cut into passages and analysed.
type analysed struct {
	record   catalog.Record
	pieces   []passage.Piece
	embed    []string // the text of each piece to embed
	vectors  [][]float32
	terms    []analysis.Packed // of each piece
	document *corpus.Document
	keyword  keyword.Record
}

// analyseAll cuts and analyses records: on all cores, or, while searches are
// answered, on all but one, or, while others answer them, on one, which gives way.
func (f *Follower) analyseAll(ctx context.Context, records []catalog.Record) ([]*analysed, error) {
	out := make([]*analysed, len(records))
	marked := strings.HasPrefix(f.cfg.Generation.Fingerprint, rules)
	if f.cfg.Yield != nil {
		for i, r := range records {
			if f.cfg.Yield(ctx); ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out[i] = analyse(r, marked)
		}
		return out, nil
	}
	workers := runtime.GOMAXPROCS(0)
	if f.Ready() {
		workers = max(1, workers-1)
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				out[i] = analyse(records[i], marked)
			}
		})
	}
	for i := range records {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return out, ctx.Err()
}

// analyse cuts and analyses a record, and marks its document if that is wanted. In an index by
// earlier rules there are no marks: programs of before read that at the same time.
func analyse(r catalog.Record, marked bool) *analysed {
	path := pathText(r)
	a := &analysed{record: r, pieces: passage.Cut(passage.Source{Title: r.Title, Path: path, Body: r.Body})}
	title, pathTokens := analysis.Analyze(r.Title), analysis.Analyze(path)
	a.keyword = keyword.Record{ID: r.ID, Attributes: corpus.AttributesOf(r),
		Title: keyword.Text{Raw: r.Title, Tokens: title}, Path: keyword.Text{Raw: path, Tokens: pathTokens}}
	for _, p := range a.pieces {
		heading, body := analysis.Analyze(p.Heading), analysis.Analyze(p.Text)
		terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
			analysis.Title: title, analysis.Heading: heading, analysis.Body: body, analysis.Path: pathTokens}))
		if err != nil {
			panic("index: packed terms cannot be read back: " + err.Error())
		}
		a.terms = append(a.terms, terms)
		a.embed = append(a.embed, passage.EmbedText(r.Title, p))
		a.keyword.Passages = append(a.keyword.Passages, keyword.Passage{ID: passage.NewID(r.ID, p.Ordinal),
			Heading: keyword.Text{Raw: p.Heading, Tokens: heading}, Body: keyword.Text{Raw: p.Text, Tokens: body}})
	}
	var marks []corpus.Mark
	if marked {
		marks = a.marks()
	}
	a.document = corpus.NewDocument(r, a.terms, marks...)
	return a
}

// marks are the headings of the record that are nothing but a coined name, and the options of
// commands in it, each once.
func (a *analysed) marks() (marks []corpus.Mark) {
	known := map[corpus.Mark]bool{}
	add := func(term string, passage int, option bool) {
		m := corpus.Mark{Term: analysis.IDOf(term), Option: option}
		if !known[m] {
			known[m], m.Passage = true, passage
			marks = append(marks, m)
		}
	}
	for i, p := range a.pieces {
		for _, heading := range p.Headings {
			if term := analysis.CoinedTerm(heading); term != "" {
				add(term, i, false)
			}
		}
		for _, text := range []keyword.Text{a.keyword.Title, a.keyword.Passages[i].Heading, a.keyword.Passages[i].Body} {
			for term := range analysis.Options(text.Raw, text.Tokens) {
				add(term, i, true)
			}
		}
	}
	return marks
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
	rows := catalog.RecordPassages{Record: a.record.ID, Document: a.document.Encoded()}
	for _, p := range a.pieces {
		id := passage.NewID(a.record.ID, p.Ordinal)
		rows.Passages = append(rows.Passages, catalog.Passage{ID: int64(id), Record: a.record.ID, Ordinal: p.Ordinal,
			Anchor: p.Anchor, Section: p.Section, Heading: p.Heading, Text: p.Text, Places: p.Places})
	}
	return rows
}

// vector returns the record for vector engines.
func (a *analysed) vector() vector.Record {
	return vector.Record{ID: a.record.ID, Attributes: a.keyword.Attributes, Vectors: a.vectors, Terms: a.terms}
}

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
