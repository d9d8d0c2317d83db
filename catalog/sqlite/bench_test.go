package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// sample returns records of the size of a documentation page.
func sample(round, n int) []catalog.Entry {
	list := make([]catalog.Entry, n)
	for i := range list {
		list[i] = catalog.Entry{
			Record: catalog.Record{
				Kind: catalog.KindDoc, Key: fmt.Sprintf("guides/%d/page-%d.md", round, i),
				Title: fmt.Sprintf("Page %d", i), State: "current",
				Container: "example/docs", CreatedAt: time.Unix(int64(i), 0), Body: strings.Repeat("how to run a node ",
					200), Tags: []string{"docs"},
			},
			Links: []catalog.Link{{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0001"},
				Snippet: "see there"}},
		}
	}
	return list
}

func apply(b *testing.B, s *sqlstore.Store, list []catalog.Entry) {
	b.Helper()
	if _, err := s.Apply(context.Background(), catalog.Batch{Source: "docs", Entries: list}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkApply writes batches of 1,000 records of 3.6 kB.
func BenchmarkApply(b *testing.B) {
	b.Run("new", func(b *testing.B) {
		s := open(b, file(b))
		for round := 0; b.Loop(); round++ {
			apply(b, s, sample(round, 1_000))
		}
	})
	b.Run("changed", func(b *testing.B) {
		s := open(b, file(b))
		for round := 0; b.Loop(); round++ {
			list := sample(0, 1_000)
			for i := range list {
				list[i].Record.Views = int64(round)
			}
			apply(b, s, list)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		s := open(b, file(b))
		list := sample(0, 1_000)
		for b.Loop() {
			apply(b, s, list)
		}
	})
}

// BenchmarkList reads pages of a catalog of 20,000 records.
func BenchmarkList(b *testing.B) {
	s := open(b, file(b))
	for round := range 20 {
		apply(b, s, sample(round, 1_000))
	}
	docs := []catalog.Kind{catalog.KindDoc}
	for name, q := range map[string]catalog.ListQuery{
		"first":   {Kinds: docs, Limit: 20},
		"newest":  {Kinds: docs, Limit: 20, Order: catalog.ByCreated},
		"deep":    {Kinds: docs, Limit: 20, Offset: 15_000},
		"state":   {Kinds: docs, States: []string{"Current"}, Limit: 20, Order: catalog.ByCreated},
		"tag":     {Tags: []string{"docs"}, Limit: 20},
		"text":    {Kinds: docs, Text: "page 77", Limit: 20},
		"nothing": {Kinds: docs, States: []string{"none"}, Limit: 20},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.List(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
