package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// samples have pages of networks that do not exist.
var samples = []string{"ingest/sample/files", "ingest/networks", "testdata", ".git", ".cache", "bin"}

var (
	linked = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	code   = regexp.MustCompile("`[^`]+`")
	paged  = regexp.MustCompile(`\bdocs/[a-z/]+\.(?:md|png|jpg|go)\b`)
	coded  = regexp.MustCompile("`((?:api|catalog|cmd|compose|embed|ingest|retrieval|testing|text)/" +
		"[a-z0-9_/-]+\\.[a-z]+)`")
)

// TestLinksLead follows the relative links of all pages, with their headings, the files that pages name, and the pages
// of docs that comments, scripts and the Makefile name.
func TestLinksLead(t *testing.T) {
	const root = "../.."
	links, named := 0, 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		skip := func(name string) bool { return rel == name || d.Name() == name }
		if d.IsDir() {
			if slices.ContainsFunc(samples, skip) {
				return filepath.SkipDir
			}
			return nil
		}
		text, about := "", ""
		switch {
		case filepath.Ext(file) == ".md":
			text = contentOf(t, file)
			about = text
			for _, m := range coded.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s names %s, which is not there", rel, m[1])
				}
			}
			for _, m := range linked.FindAllStringSubmatch(code.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
				if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
					continue
				}
				links++
				if reason := leads(t, file, m[1]); reason != "" {
					t.Errorf("%s: the link %s: %s", rel, m[1], reason)
				}
			}
		case filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go"):
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, c := range parsed.Comments {
				about += c.Text()
			}
		case rel == "Makefile" || strings.HasPrefix(rel, ".ci/") || strings.HasPrefix(rel, "compose/"):
			for line := range strings.Lines(contentOf(t, file)) {
				if _, comment, ok := strings.Cut(line, "#"); ok {
					about += comment
				}
			}
		}
		for _, name := range paged.FindAllString(about, -1) {
			named++
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s names %s, which is not there", rel, name)
			}
		}
		return nil
	})
	if err != nil || links < 40 || named < 10 {
		t.Errorf("followed %d links and %d names: %v", links, named, err)
	}
}

// leads says why a link of a page leads nowhere.
func leads(t *testing.T, from, to string) (reason string) {
	t.Helper()
	path, heading, _ := strings.Cut(to, "#")
	target := from
	if path != "" {
		plain, err := url.PathUnescape(path)
		if err != nil {
			return err.Error()
		}
		target = filepath.Join(filepath.Dir(from), plain)
	}
	if _, err := os.Stat(target); err != nil {
		return "there is no such file"
	}
	if heading != "" && !slices.Contains(headings(contentOf(t, target)), heading) {
		return "there is no such heading"
	}
	return ""
}

// headings returns the anchors of a page's headings as forges make them: lower case, letters, digits and hyphens,
// blanks as hyphens.
func headings(text string) (anchors []string) {
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if level := strings.TrimLeft(line, "#"); level != line && strings.HasPrefix(level, " ") {
			anchors = append(anchors, strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
					return r
				}
				return -1
			}, strings.ToLower(strings.TrimSpace(level))))
		}
	}
	return anchors
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
