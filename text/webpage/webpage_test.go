package webpage_test

import (
	"flag"

	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/text/webpage"
)

var update = flag.Bool("update", false, "write the golden files of testdata again")

// TestPages reads pages as the common generators write them.
func TestPages(t *testing.T) {
	tests := map[string]webpage.Page{
		"docusaurus": {
			Title: "Install a keeper node", Description: "How to install a keeper node on Linux and in containers.",
			Canonical: "https://docs.causeway.example.org/operate/install", Language: "en",
		},
		"sphinx": {Title: "Gate API", Language: "en"},
		"mkdocs": {Title: "Tides", Description: "Tides and how to read them.",
			Canonical: "https://handbook.example.org/tides/", Language: "en"},
		"blog": {
			Title:     "The second bridge is open",
			Canonical: "https://journal.causeway.example.org/2031/05/second-bridge/",
			Authors:   []string{"Ada Quay", "Bram Pier"}, Image: "https://www.example.org/uploads/2031/05/bridge.jpg",
			Language: "en-GB", Tags: []string{"Bridges", "CWP-0012"},
			Published: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
			Modified:  time.Date(2031, 5, 7, 10, 0, 0, 0, time.UTC),
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + name + ".html")
			if err != nil {
				t.Fatal(err)
			}
			got, err := webpage.Parse(data, "text/html", "https://www.example.org/operate/install/")
			if err != nil {
				t.Fatal(err)
			}
			golden := "testdata/" + name + ".md"
			if *update {
				if err := os.WriteFile(golden, []byte(got.Body+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			body, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			want.Body = strings.TrimSuffix(string(body), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
