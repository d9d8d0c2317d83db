package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"almanac/retrieval/analysis"
)

// collection holds passages and queries as terms. A term is spelt as a number
// in letters and digits, so that every engine's tokenizer keeps it as one
// token.
type collection struct {
	passages [][]string
	queries  [][]string
	names    map[string]string
}

func (c *collection) spell(term string) string {
	name, ok := c.names[term]
	if !ok {
		name = "t" + strconv.FormatInt(int64(len(c.names)), 36)
		c.names[term] = name
	}
	return name
}

func load(words int) (*collection, error) {
	c := &collection{names: map[string]string{}}
	dir := os.Getenv("ALMANAC_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
	if _, err := os.Stat(filepath.Join(dir, "judged")); err != nil {
		return nil, err
	}
	for _, name := range []string{"scifact", "eips-known-item", "vendor-docs-rag", "cosqa"} {
		if err := c.read(filepath.Join(dir, "judged", name), words); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *collection) read(dir string, words int) error {
	err := eachLine(filepath.Join(dir, "corpus.jsonl"), func(title, text string) {
		list := strings.Fields(text)
		for lo := 0; lo == 0 || lo < len(list); lo += words {
			body := strings.Join(list[lo:min(lo+words, len(list))], " ")
			var terms []string
			for _, t := range analysis.Analyze(title + "\n" + body) {
				terms = append(terms, c.spell(t.Term))
			}
			c.passages = append(c.passages, terms)
		}
	})
	for _, name := range []string{"queries.jsonl", "queries.dev.jsonl"} {
		err = errors.Join(err, eachLine(filepath.Join(dir, name), func(_, text string) {
			var terms []string
			for _, t := range analysis.Analyze(text) {
				if !analysis.IsStop(analysis.Fold(text[t.Start:t.End])) {
					terms = append(terms, c.spell(t.Term))
				}
			}
			if len(terms) > 0 {
				c.queries = append(c.queries, terms)
			}
		}))
	}
	return err
}

// eachLine calls fn with title and text of a file's lines; the file may be missing.
func eachLine(path string, fn func(title, text string)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct{ Title, Text string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fn(line.Title, line.Text)
	}
	return lines.Err()
}
