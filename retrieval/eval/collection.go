// Package eval measures rankings against judgments: it reads judged
// collections, runs their queries through a Searcher, computes the usual
// measures and says which differences are more than chance; from the same
// judgments it fits the reranker's weights. It knows no catalog: cases and runs
// that are stored are those of package workbench.
package eval

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Collection is a set of queries with judgments. Documents are identified by
// their id in its corpus, or by the path of a record.
type Collection struct {
	Name      string
	Queries   []Query
	Judgments map[string]map[string]int // query → document → grade
	Pool      map[string]bool           // documents that are ranked; nil = all
	Clusters  map[string]string         // document → set of copies, of those that have copies
}

// Query is one judged query.
type Query struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
	Kind string `json:"kind,omitempty"`
	Need string `json:"need,omitempty"` // the information need: what a good answer would have
	Note string `json:"note,omitempty"`
}

// Document is one of a collection's own corpus.
type Document struct {
	ID    string `json:"_id"`
	Kind  string `json:"kind"` // "": a page of documentation
	Title string `json:"title"`
	Text  string `json:"text"`
	State string `json:"state"`
}

// Documents returns the ids of all documents that are judged or in the pool.
func (c Collection) Documents() map[string]bool {
	all := maps.Clone(c.Pool)
	if all == nil {
		all = map[string]bool{}
	}
	for _, of := range c.Judgments {
		for id := range of {
			all[id] = true
		}
	}
	return all
}

// Load reads queries.jsonl, qrels.tsv and, if present, pool.txt and clusters.tsv
// from a directory (docs/relevance.md). A query without any judgment is left out, as it cannot be
// measured. Mistakes are errors that name file and line.
func Load(dir string) (Collection, error) {
	return LoadWith(dir, filepath.Join(dir, qrelsFile))
}

// LoadWith is Load with the judgments of another file.
func LoadWith(dir, qrels string) (Collection, error) {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(abs) // of "." too
	}
	return load(openFile, name, dir, qrels)
}

// LoadFS is Load of a file system, whose collection has no name of its own.
func LoadFS(fsys fs.FS, name string) (Collection, error) {
	return load(fsys.Open, name, "", qrelsFile)
}

// openFile opens a file of the machine.
func openFile(path string) (fs.File, error) { return os.Open(path) }

func load(open func(path string) (fs.File, error), name, dir, qrels string) (Collection, error) {
	judgments, err := read(open, qrels, ReadQrels)
	if err != nil {
		return Collection{}, err
	}
	queries, err := read(open, filepath.Join(dir, queriesFile), parseQueries)
	if err != nil {
		return Collection{}, err
	}
	c := Collection{Name: name, Judgments: judgments, Queries: slices.DeleteFunc(queries, func(q Query) bool {
		return len(judgments[q.ID]) == 0
	})}
	if len(c.Queries) == 0 {
		return Collection{}, fmt.Errorf("eval: %s: no query has a judgment", cmp.Or(dir, name))
	}
	if c.Pool, err = read(open, filepath.Join(dir, "pool.txt"), parsePool); err == nil || errors.Is(err, fs.ErrNotExist) {
		c.Clusters, err = read(open, filepath.Join(dir, "clusters.tsv"), parseClusters)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Collection{}, err
	}
	return c, nil
}

// parsePool reads a document from each line.
func parsePool(r io.Reader, name string) (map[string]bool, error) {
	pool := map[string]bool{}
	err := eachLine(r, name, func(_ int, line string) error {
		pool[strings.TrimSpace(line)] = true
		return nil
	})
	return pool, err
}

// parseClusters reads two columns: the name of a set of copies, and a document
// in it.
func parseClusters(r io.Reader, name string) (map[string]string, error) {
	clusters := map[string]string{}
	err := eachLine(r, name, func(_ int, line string) error {
		fields := columns(line)
		if len(fields) != 2 || fields[0] == "" || fields[1] == "" {
			return errors.New("want the columns cluster, document")
		}
		if before, ok := clusters[fields[1]]; ok && before != fields[0] {
			return fmt.Errorf("document %s is in cluster %s already", fields[1], before)
		}
		clusters[fields[1]] = fields[0]
		return nil
	})
	return clusters, err
}

// ReadDocuments reads corpus.jsonl from a directory. A repeated id is an error.
func ReadDocuments(dir string, fn func(Document) error) error {
	_, err := read(openFile, filepath.Join(dir, "corpus.jsonl"), func(r io.Reader, name string) (struct{}, error) {
		return struct{}{}, parseDocuments(r, name, fn)
	})
	return err
}

func parseDocuments(r io.Reader, name string, fn func(Document) error) error {
	seen := map[string]bool{}
	return eachLine(r, name, func(_ int, line string) error {
		var d Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return err
		}
		if d.ID == "" {
			return errors.New("a document needs _id")
		}
		if seen[d.ID] {
			return fmt.Errorf("document %q occurs twice", d.ID)
		}
		seen[d.ID] = true
		return fn(d)
	})
}

func parseQueries(r io.Reader, name string) (queries []Query, err error) {
	seen := map[string]bool{}
	err = eachLine(r, name, func(_ int, line string) error {
		var q Query
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return err
		}
		if q.ID == "" || strings.TrimSpace(q.Text) == "" {
			return errors.New("a query needs _id and text")
		}
		if seen[q.ID] {
			return fmt.Errorf("query %q occurs twice", q.ID)
		}
		seen[q.ID] = true
		queries = append(queries, q)
		return nil
	})
	return queries, err
}

// maxGrade bounds grades, so that gains stay exact numbers.
const maxGrade = 30

// ReadQrels reads judgments of three columns (query, document, grade) or, as
// TREC has them, four: query, iteration, document, grade. A first line whose
// grade is not a number is a header. Errors call the file by a name.
func ReadQrels(r io.Reader, name string) (map[string]map[string]int, error) {
	judgments := map[string]map[string]int{}
	err := eachLine(r, name, func(n int, line string) error {
		fields := columns(line)
		if len(fields) == 4 {
			fields = append(fields[:1], fields[2:]...)
		}
		if len(fields) != 3 || fields[0] == "" || fields[1] == "" {
			return fmt.Errorf("want the columns query, document, grade")
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil && n == 1 {
			return nil
		}
		if err != nil || grade > maxGrade {
			return fmt.Errorf("grade %q is not an integer up to %d", fields[2], maxGrade)
		}
		of := judgments[fields[0]]
		if of == nil {
			of = map[string]int{}
			judgments[fields[0]] = of
		}
		if before, ok := of[fields[1]]; ok && before != grade {
			return fmt.Errorf("query %s, document %s has the grade %d already", fields[0], fields[1], before)
		}
		of[fields[1]] = grade
		return nil
	})
	return judgments, err
}

// columns splits at tabs if there are any, so that ids may contain spaces, else at white space.
func columns(line string) []string {
	line = strings.TrimRight(line, " \t")
	if !strings.Contains(line, "\t") {
		return strings.Fields(line)
	}
	fields := strings.Split(line, "\t")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields
}

// read parses a file, by whose path errors call it.
func read[T any](open func(path string) (fs.File, error), path string,
	parse func(r io.Reader, name string) (T, error)) (T, error) {
	f, err := open(path)
	if err != nil {
		var none T
		return none, fmt.Errorf("eval: %w", err)
	}
	defer f.Close()
	return parse(f, path)
}

// eachLine calls fn for every line that is not blank, with its number from 1
// and without its end.
func eachLine(r io.Reader, name string, fn func(n int, line string) error) error {
	b := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := b.ReadString('\n')
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.TrimSpace(line) != "" {
			if err := fn(n, strings.TrimRight(line, "\r\n")); err != nil {
				return fmt.Errorf("eval: %s:%d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("eval: %s: %w", name, err)
		}
	}
}
