package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

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
