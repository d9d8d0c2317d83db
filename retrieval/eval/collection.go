// Package eval measures rankings against judgments: it reads judged
// collections, runs their queries through a Searcher, computes the usual
// measures and says which differences are more than chance; from the same
// judgments it fits the reranker's weights. It knows no catalog: cases and runs
// that are stored are those of package workbench.
package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// The files of judged queries without documents.
const (
	queriesFile = "queries.jsonl"
	qrelsFile   = "qrels.tsv"
)

// ReadCase reads queries.jsonl and qrels.tsv from a file system, or from the one
// directory of it that has them: all queries, judged or not. Judgments may be
// missing.
func ReadCase(fsys fs.FS, name string) (Collection, error) {
	c := Collection{Name: name, Judgments: map[string]map[string]int{}}
	below, err := fs.Glob(fsys, "*/"+queriesFile)
	if err != nil {
		return c, fmt.Errorf("eval: %w", err)
	}
	if _, err := fs.Stat(fsys, queriesFile); err != nil {
		if len(below) != 1 {
			return c, fmt.Errorf("eval: there is no %s, or more than one", queriesFile)
		}
		if fsys, err = fs.Sub(fsys, path.Dir(below[0])); err != nil {
			return c, fmt.Errorf("eval: %w", err)
		}
	}
	if c.Queries, err = read(fsys.Open, queriesFile, parseQueries); err != nil {
		return c, err
	}
	judgments, err := read(fsys.Open, qrelsFile, ReadQrels)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	c.Judgments = judgments
	return c, err
}

// Files returns the collection as the files that ReadCase reads, with a README,
// by name. Judgments are in the order of the queries, the best first.
func (c Collection) Files(description string) (map[string][]byte, error) {
	var queries, qrels bytes.Buffer
	for _, q := range c.Queries {
		sep := "{"
		for _, field := range [][2]string{{"_id", q.ID}, {"text", q.Text}, {"kind", q.Kind}, {"need", q.Need},
			{"note", q.Note}} {
			if field[1] == "" {
				continue
			}
			fmt.Fprintf(&queries, `%s"%s": %s`, sep, field[0], quoted(field[1]))
			sep = ", "
		}
		queries.WriteString("}\n")
	}
	qrels.WriteString("query-id\tcorpus-id\tscore\n")
	judged := 0
	err := c.each(func(query, document string, grade int) error {
		judged++
		if strings.ContainsAny(query+document, "\t\r\n") || strings.TrimSpace(query) != query ||
			strings.TrimSpace(document) != document {
			return fmt.Errorf("eval: %s cannot hold %q of query %q: it has white space", qrelsFile, document, query)
		}
		fmt.Fprintf(&qrels, "%s\t%s\t%d\n", query, document, grade)
		return nil
	})
	readme := fmt.Sprintf("# %s\n\n%s%d queries with %d judgments.\n\n| file | what |\n|---|---|\n"+
		"| %s | `_id`, `text`, and where they are known `kind`, `need` (the information need) and `note` |\n"+
		"| %s | query, document, grade: 3 the answer, 2 clearly useful, 1 related, 0 read and not relevant |\n\n"+
		"A document is named by its path, or as `kind:key` where it has no path of its own.\n",
		c.Name, paragraph(description), len(c.Queries), judged, queriesFile, qrelsFile)
	return map[string][]byte{queriesFile: queries.Bytes(), qrelsFile: qrels.Bytes(), "README.md": []byte(readme)}, err
}

// WriteQrels writes the judgments as TREC has them: query, 0, document, grade. An id
// with white space, which the format cannot represent, is an error.
func (c Collection) WriteQrels(w io.Writer) error {
	return c.each(func(query, document string, grade int) error {
		for _, name := range []string{query, document} {
			if strings.ContainsFunc(name, unicode.IsSpace) {
				return fmt.Errorf("eval: TREC's judgments cannot hold %q: it has white space", name)
			}
		}
		_, err := fmt.Fprintf(w, "%s 0 %s %d\n", query, document, grade)
		return err
	})
}

// each calls fn for every judgment in the order of the queries, the best first.
func (c Collection) each(fn func(query, document string, grade int) error) error {
	for _, q := range c.Queries {
		of := c.Judgments[q.ID]
		for _, id := range slices.SortedFunc(maps.Keys(of), func(a, b string) int {
			return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
		}) {
			if err := fn(q.ID, id, of[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// quoted writes a string as JSON, with <, > and & as they are.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// paragraph ends a text with a blank line, unless it is empty.
func paragraph(s string) string {
	if s = strings.TrimSpace(s); s != "" {
		s += "\n\n"
	}
	return s
}
