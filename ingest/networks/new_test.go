package networks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/outbound"
)

// TestABegunFileIsValid reads the file to begin with as it is, and with all that is
// commented out.
func TestABegunFileIsValid(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := string(networks.New(filepath.Join(dir, "My Lagoon.yaml")))
	n, err := network.Parse("mine.yaml", []byte(text))
	if err != nil || n.Name != "my-lagoon" || n.Title != "My Lagoon" || len(n.Sources) != 1 {
		t.Fatalf("%q, %q, %d sources: %v", n.Name, n.Title, len(n.Sources), err)
	}
	all := regexp.MustCompile(`(?m)^(  )?#(- |  |[a-z]+:)`).ReplaceAllString(text, "$1$2")
	if n, err = network.Parse("mine.yaml", []byte(all)); err != nil || n.Proposals.Prefix != "LIP" {
		t.Fatal(n.Proposals.Prefix, err)
	}
	usual := map[string]bool{}
	for _, f := range connectors.Check(t.Context(), connectors.CheckConfig{Environment: ingest.Environment{
		Network: n, Now: time.Now, HTTP: outbound.New(outbound.Config{}), WorkDir: t.TempDir(),
		Pseudonym: func(s string) string { return s },
	}}) {
		usual[f.Source.Kind] = true
		for _, problem := range f.Problems {
			if !strings.Contains(problem, "does not exist") && !strings.Contains(problem, "folder") {
				t.Errorf("%s: %s", f.Source.Name, problem)
			}
		}
	}
	if len(usual) < 11 {
		t.Errorf("only the kinds %v", usual)
	}
}
