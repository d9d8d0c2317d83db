package snapshot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestEndpoints: the newest version of a description counts, and what is none is passed
// over.
func TestEndpoints(t *testing.T) {
	text := "openapi: 3.0.0\ninfo: {title: Lamps}\npaths:\n  /lamps:\n    get: {$ref: '../parts.yaml#/list'}\n"
	texts := map[string]string{
		"api/1.9.0/lamps.yaml": text, "api/1.10.0/lamps.yaml": text, "api/parts.yaml": "list: {summary: List lamps}",
		"api/notes.md": "# openapi: 3.0.0", "api/broken.yaml": text + "{", "api/bells.json": `{"swagger": "2.0",
"paths": {"/bells": {"post": {}}}}`,
	}
	var manifest strings.Builder
	for name := range texts {
		fmt.Fprintf(&manifest, `{"path": %q, "source_path": %[1]q, "source_repo": "a/lamps", "commit": "c1", `+
			`"content_type": "api"}`+"\n", name)
	}
	c := within(t, small(manifest.String(), texts), map[string]any{"content_types": map[string]any{"api": "endpoint"}})
	out := newRecorder()
	if _, o, err := c.Sync(context.Background(), nil, out); err != nil || !o.Complete {
		t.Fatal(o, err)
	}
	var got []string
	for _, e := range out.entries {
		got = append(got, fmt.Sprint(e.Record.Key, " ", e.Record.URL, " ", e.Record.Summary, " ", e.Record.Tags))
	}
	slices.Sort(got)
	const at = "https://forge.example/a/lamps/blob/c1/api/"
	if diff := cmp.Diff([]string{
		"api/1.10.0/lamps.yaml#/lamps GET " + at + "1.10.0/lamps.yaml#L5 List lamps [method:get]",
		"api/1.9.0/lamps.yaml#/lamps GET " + at + "1.9.0/lamps.yaml#L5 List lamps [method:get " +
			catalog.TagOtherVersion + "]",
		"api/bells.json#/bells POST " + at + "bells.json#L2  [method:post]",
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(out.skips) != 1 || !strings.HasPrefix(out.skips[0], "api/broken.yaml: ") {
		t.Errorf("skipped %q", out.skips)
	}
}
