package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestImportsGoOneWay holds the direction of imports: cmd → api → retrieval →
// {catalog, embed}, ingest → catalog; two leaves are open to all.
func TestImportsGoOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "almanac/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	// What each layer may import besides itself.
	allowed := map[string][]string{
		"cmd": {"api", "retrieval", "catalog", "embed", "ingest"}, "api": {"retrieval", "catalog"}, "retrieval": {"catalog", "embed"},
		"ingest": {"catalog"}, "catalog": {}, "embed": {},
	}
	leaves := []string{"almanac/catalog/network", "almanac/ingest/outbound"}
	layer := func(path string) string {
		parts := strings.Split(path, "/")
		return parts[1]
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := layer(fields[0])
		if _, ok := allowed[from]; !ok {
			t.Errorf("%s is in no known layer", fields[0])
		}
		for _, to := range fields[1:] {
			if !strings.HasPrefix(to, "almanac/") || slices.Contains(leaves, to) {
				continue
			}
			if slices.Contains(leaves, fields[0]) {
				t.Errorf("%s is a leaf and imports %s", fields[0], to)
			}
			if l := layer(to); l != from && !slices.Contains(allowed[from], l) {
				t.Errorf("%s imports %s: %s may only import %v", fields[0], to, from, allowed[from])
			}
			if from == "retrieval" && to == "almanac/retrieval" && fields[0] != "almanac/retrieval/eval" {
				t.Errorf("%s imports retrieval: stages import nothing of it", fields[0])
			}
		}
	}
}
