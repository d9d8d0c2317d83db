package markup_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"almanac/testing/rulestest"
	"almanac/text/markup"
)

func TestRules(t *testing.T) {
	tree := os.DirFS("testdata")
	files, err := fs.Glob(tree, "*/*/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var pages []string
	for _, file := range files {
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".golden") { // Markdown
			file += ".md"
		}
		page := markup.Parse(markup.Input{Path: file, Text: string(text), Resolve: resolver(tree)})
		pages = append(pages, fmt.Sprintf("%+v", page))
	}
	rulestest.Check(t, markup.Rules, pages...)
}
