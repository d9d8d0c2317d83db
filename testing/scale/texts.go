package scale

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Texts are the paragraphs of a directory of real texts.
type Texts struct {
	files []file
}

// file is a text of at least one heading and one paragraph.
type file struct {
	headings   []string
	paragraphs [][]string // words, with the space and the marks around them
}

// The paragraphs that are used, in bytes: others are menus, tables and listings.
const (
	shortest = 80
	longest  = 1500
)

// ErrNoTexts: the directory holds no texts.
var ErrNoTexts = errors.New("no texts")

// ReadTexts reads the Markdown and reStructuredText files below a directory.
func ReadTexts(dir string) (*Texts, error) {
	t := &Texts{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".mdx", ".rst"}, filepath.Ext(path)) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if f := parse(string(b)); len(f.headings) > 0 && len(f.paragraphs) > 0 {
			t.files = append(t.files, f)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("scale: %w", err)
	}
	if len(t.files) == 0 {
		return nil, fmt.Errorf("scale: %s: %w", dir, ErrNoTexts)
	}
	return t, nil
}

// parse splits a text at blank lines. Paragraphs that open or close something
// (code, directives, tags, tables) are left out: apart from the rest they would
// swallow what follows.
func parse(text string) file {
	var f file
	for block := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
		block = strings.TrimSpace(block)
		if heading, ok := strings.CutPrefix(block, "#"); ok && !strings.Contains(block, "\n") {
			f.headings = append(f.headings, strings.TrimSpace(strings.TrimLeft(heading, "#")))
			continue
		}
		if lines := strings.Split(block, "\n"); len(lines) == 2 && underline(lines[1]) {
			f.headings = append(f.headings, strings.TrimSpace(lines[0]))
			continue
		}
		if len(block) >= shortest && len(block) <= longest && !strings.ContainsAny(block, "`<>|{}") &&
			!strings.HasPrefix(block, "..") && !strings.HasPrefix(block, "---") {
			f.paragraphs = append(f.paragraphs, strings.Fields(block))
		}
	}
	return f
}

// underline reports whether a line marks the one above it as a heading.
func underline(line string) bool {
	return len(line) > 2 && strings.Trim(line, line[:1]) == "" && strings.ContainsAny(line[:1], "=-~^*")
}
