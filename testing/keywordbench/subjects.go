package main

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/search/query"
	_ "modernc.org/sqlite" // driver

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
)

const batchSize = 500

type embeddedSubject struct{ engine *embedded.Engine }

func (s *embeddedSubject) name() string { return "embedded" }
func (s *embeddedSubject) close() error { return s.engine.Close() }

func (s *embeddedSubject) index(passages [][]string) (err error) {
	if s.engine, err = embedded.Open(embedded.Config{}); err != nil {
		return err
	}
	for lo := 0; lo < len(passages); lo += batchSize {
		b := keyword.Batch{Checkpoint: int64(lo + 1)}
		for i := lo; i < min(lo+batchSize, len(passages)); i++ {
			tokens := make([]analysis.Token, len(passages[i]))
			for j, t := range passages[i] {
				tokens[j] = analysis.Token{Term: t, Position: j}
			}
			b.Records = append(b.Records, keyword.Record{ID: int64(i), Passages: []keyword.Passage{
				{ID: passage.NewID(int64(i), 0), Body: keyword.Text{Tokens: tokens}}}})
		}
		if err := s.engine.Apply(context.Background(), b); err != nil {
			return err
		}
	}
	return nil
}

func (s *embeddedSubject) search(terms []string, k int) ([]int, error) {
	q := keyword.Query{Terms: make([]keyword.Term, len(terms))}
	for i, t := range terms {
		q.Terms[i] = keyword.Term{Text: t, Weight: 1}
	}
	hits, err := s.engine.Search(context.Background(), q, passage.Filter{}, k)
	out := make([]int, len(hits))
	for i, h := range hits {
		out[i] = int(h.Record)
	}
	return out, err
}

type bleveSubject struct {
	dir string
	db  bleve.Index
}

func (s *bleveSubject) name() string { return "bleve" }
func (s *bleveSubject) close() error { return s.db.Close() }

func (s *bleveSubject) index(passages [][]string) (err error) {
	mapping := bleve.NewIndexMapping()
	if err := mapping.AddCustomAnalyzer("words",
		map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		return err
	}
	mapping.ScoringModel = "bm25"
	field := bleve.NewTextFieldMapping()
	field.Analyzer, field.Store, field.IncludeInAll, field.DocValues = "words", false, false, false
	mapping.DefaultMapping.AddFieldMappingsAt("text", field)
	if s.db, err = bleve.NewUsing(s.dir, mapping, scorch.Name, scorch.Name, nil); err != nil {
		return err
	}
	batch := s.db.NewBatch()
	for i, terms := range passages {
		if err := batch.Index(strconv.Itoa(i), map[string]string{"text": strings.Join(terms, " ")}); err != nil {
			return err
		}
		if batch.Size() == batchSize || i == len(passages)-1 {
			if err := s.db.Batch(batch); err != nil {
				return err
			}
			batch.Reset()
		}
	}
	return nil
}

func (s *bleveSubject) search(terms []string, k int) ([]int, error) {
	var any []query.Query
	for _, t := range terms {
		q := bleve.NewTermQuery(t)
		q.SetField("text")
		any = append(any, q)
	}
	found, err := s.db.Search(bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(any...), k, 0, false))
	if err != nil {
		return nil, err
	}
	out := make([]int, len(found.Hits))
	for i, h := range found.Hits {
		if out[i], err = strconv.Atoi(h.ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type ftsSubject struct {
	path string
	db   *sql.DB
}

func (s *ftsSubject) name() string { return "FTS5" }
func (s *ftsSubject) close() error { return s.db.Close() }

func (s *ftsSubject) index(passages [][]string) (err error) {
	if s.db, err = sql.Open("sqlite",
		s.path+"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-200000)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.Exec(`CREATE VIRTUAL TABLE p USING fts5(text, content='', tokenize='ascii')`); err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i, terms := range passages {
		if _, err := tx.Exec(`INSERT INTO p (rowid, text) VALUES (?, ?)`, i, strings.Join(terms, " ")); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *ftsSubject) search(terms []string, k int) ([]int, error) {
	rows, err := s.db.Query(`SELECT rowid FROM p WHERE p MATCH ? ORDER BY rank LIMIT ?`, strings.Join(terms, " OR "), k)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
