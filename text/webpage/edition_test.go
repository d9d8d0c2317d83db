package webpage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"almanac/testing/editiontest"
	"almanac/text/webpage"
)

func TestEdition(t *testing.T) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var pages []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := webpage.Parse(data, "text/html", "https://www.example.org/operate/install/")
		pages = append(pages, fmt.Sprintf("%+v %v", page, err))
	}
	editiontest.Check(t, pages...)
}
