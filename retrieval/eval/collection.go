// Package eval measures rankings against judgments: it reads judged
// collections, runs their queries through a Searcher and computes the usual
// measures. It is the only package under retrieval that imports retrieval.
package eval

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Collection is a set of queries with judgments. Documents are named by ids:
// those of its corpus, or the paths of records.
type Collection struct {
	Name      string
	Queries   []Query
	Judgments map[string]map[string]int // query → document → grade
	Pool      map[string]bool           // documents that are ranked; nil = all
}

// Query is one judged query.
type Query struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"`
}

// Document is one document of a collection's own corpus.
type Document struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Load reads queries.jsonl, qrels.tsv and, where it is, pool.txt of a
// directory. A query without any judgment is left out, as nothing can be said
// of it.
func Load(dir string) (Collection, error) {
	c := Collection{Name: filepath.Base(filepath.Clean(dir)), Judgments: map[string]map[string]int{}}
	err := eachLine(filepath.Join(dir, "qrels.tsv"), func(n int, line string) error {
		fields := strings.Fields(line)
		if n == 1 && len(fields) > 0 && strings.HasPrefix(fields[0], "query") {
			return nil // header
		}
		if len(fields) == 4 { // the TREC form has an iteration in the second column
			fields = append(fields[:1], fields[2:]...)
		}
		if len(fields) != 3 {
			return fmt.Errorf("%d columns: want query, document, grade", len(fields))
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil {
			return fmt.Errorf("grade %q is not an integer", fields[2])
		}
		if c.Judgments[fields[0]] == nil {
			c.Judgments[fields[0]] = map[string]int{}
		}
		c.Judgments[fields[0]][fields[1]] = grade
		return nil
	})
	if err != nil {
		return Collection{}, err
	}
	err = eachLine(filepath.Join(dir, "queries.jsonl"), func(_ int, line string) error {
		var q Query
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return err
		}
		if q.ID == "" || strings.TrimSpace(q.Text) == "" {
			return errors.New("a query needs _id and text")
		}
		if len(c.Judgments[q.ID]) > 0 {
			c.Queries = append(c.Queries, q)
		}
		return nil
	})
	if err != nil {
		return Collection{}, err
	}
	if len(c.Queries) == 0 {
		return Collection{}, fmt.Errorf("eval: %s: no query has a judgment", dir)
	}
	err = eachLine(filepath.Join(dir, "pool.txt"), func(_ int, line string) error {
		if c.Pool == nil {
			c.Pool = map[string]bool{}
		}
		c.Pool[strings.TrimSpace(line)] = true
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Collection{}, err
	}
	return c, nil
}

// Documents reads corpus.jsonl of a directory.
func Documents(dir string, fn func(Document) error) error {
	return eachLine(filepath.Join(dir, "corpus.jsonl"), func(_ int, line string) error {
		var d Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return err
		}
		if d.ID == "" {
			return errors.New("a document needs _id")
		}
		return fn(d)
	})
}

// eachLine calls fn for every line of a file that is not blank, with its
// number from 1.
func eachLine(path string, fn func(n int, line string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("eval: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			if err := fn(n, strings.TrimRight(line, "\r\n")); err != nil {
				return fmt.Errorf("eval: %s:%d: %w", path, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("eval: %s: %w", path, err)
		}
	}
}
