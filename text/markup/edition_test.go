package markup_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"almanac/testing/editiontest"
	"almanac/text/markup"
)

func TestEdition(t *testing.T) {
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
	editiontest.Check(t, pages...)
}
