package main

import (
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/testing/wait"
)

// TestEveryProcessUsesWhatIsPublished publishes beside a server that writes the
// index, one that reads it, and a client's own process.
func TestEveryProcessUsesWhatIsPublished(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	writer := at.serve(t)
	writer.ready(t)
	reader := at.serve(t)
	reader.ready(t)
	session := at.stdio(t)
	store := at.store(t)
	const word = "glimmerwort" // which no text has
	process := map[string]func() bool{
		"the writer": func() bool { return writer.search(t, word).has(29) },
		"the reader": func() bool { return reader.search(t, word).has(29) },
		"the tools": func() bool {
			answer, _ := callTool(t, session, "search", map[string]any{"query": word})
			return strings.Contains(answer, "page-029")
		},
		"the command line": func() bool { return strings.Contains(at.run(t, "search", "--json", word), "page-029") },
	}
	for name, finds := range process {
		if finds() {
			t.Fatalf("%s finds a word that no text has", name)
		}
	}
	r, err := store.SaveRevision(t.Context(), catalog.Revision{Kind: catalog.SynonymsRevision, By: "ada",
		Data: word + ": [" + only(29) + "]\n"})
	if err == nil {
		_, err = store.Publish(t.Context(), catalog.Publication{Kind: r.Kind, Number: r.Number, By: "ada"}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, finds := range process {
		wait.Until(t, name+" reads the synonym", finds)
	}
	if out := at.run(t, "config"); !strings.Contains(out, "synonyms@1") || !strings.Contains(out, "ada") {
		t.Errorf("config says %s", out)
	}
	writer.stop(t)
	reader.stop(t)
}
