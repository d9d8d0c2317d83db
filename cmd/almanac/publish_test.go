package main

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/sqlite"
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
	session := connect(t, at.stdio(t))
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: datadir.File(at.data)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const word = "glimmerwort" // which no text has
	page := "page-029"
	first := func(s *server) bool {
		f := s.search(t, word)
		return len(f.Items) > 0 && strings.Contains(f.Items[0].Key, page)
	}
	process := map[string]func() bool{
		"the writer": func() bool { return first(writer) },
		"the reader": func() bool { return first(reader) },
		"the tools": func() bool {
			res, err := session.CallTool(t.Context(),
				&sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": word}})
			return err == nil && strings.Contains(textOf(res), page)
		},
		"the command line": func() bool { return strings.Contains(at.run(t, "search", "--json", word), page) },
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
	for _, s := range []*server{writer, reader} {
		if code := s.stop(t); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}
