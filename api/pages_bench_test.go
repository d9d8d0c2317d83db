package api_test

import (
	"net/url"
	"strings"
	"testing"

	"almanac/catalog"
)

// BenchmarkPages measures what a client waits for the first byte of a page, over
// a snapshot. A keystroke is one request for suggestions and one for results,
// each for another beginning of a query.
func BenchmarkPages(b *testing.B) {
	l := openPreset(b, "corpus", sharedCorpus(b))
	first := func(kind catalog.Kind, order catalog.Order) string {
		records, _, err := l.store.List(b.Context(),
			catalog.ListQuery{Kinds: []catalog.Kind{kind}, Order: order, Limit: 1})
		if err != nil || len(records) == 0 {
			b.Skip(kind, err)
		}
		return strings.TrimPrefix(l.base.PageURL(records[0]), publicURL)
	}
	words := "how do i restore a validator node from a backup after an upgrade"
	query := func(n int) string { return url.QueryEscape(words[:3+n%(len(words)-3)]) }
	for _, p := range []struct {
		name string
		at   func(n int) string
	}{
		{"home", func(int) string { return "/" }},
		{"search", func(n int) string { return "/?q=" + query(n) }},
		{"keystroke/results", func(n int) string { return "/results?q=" + query(n) }},
		{"keystroke/suggestions", func(n int) string { return "/live?q=" + query(n) }},
		{"list", func(int) string { return "/cips" }},
		{"proposal", func(int) string { return first(catalog.KindCIP, catalog.ByKeyDesc) }},
		{"document", func(int) string { return first(catalog.KindDoc, catalog.ByKey) }},
	} {
		b.Run(p.name, func(b *testing.B) {
			targets := make([]string, 64)
			for i := range targets {
				targets[i] = p.at(i)
			}
			visit(l.public, targets[0])
			b.ResetTimer()
			for i := range b.N {
				if w := visit(l.public, targets[i%len(targets)]); w.Code != 200 {
					b.Fatalf("%s: %d", targets[i%len(targets)], w.Code)
				}
			}
		})
	}
}
