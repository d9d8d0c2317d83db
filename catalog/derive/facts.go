// Package derive holds what follows from records and is stored: the facts of
// the table, which the pipeline keeps up to date, and what connectors store of
// the texts they read. All are pure functions, which read no store, no clock and
// no network. What only answers a question is computed where that is answered.
package derive

import (
	"context"

	"almanac/catalog"
)

// Fact are records, or links of records of other sources, that follow from the
// records of some kinds.
type Fact struct {
	Name  string
	From  []catalog.Kind // what it is made of: records without texts and links, but for
	Texts catalog.Kind   // those that are read with their texts
	Links catalog.Kind   // and those that are read with their links
	Of    catalog.Kind   // of what is made; no two facts make the same
	// Make makes it, or returns the error of a context that is done.
	Make func(context.Context, Input) ([]catalog.Entry, error)
}

// Input are the records that a fact is made of, by kind and id.
type Input map[catalog.Kind][]catalog.Entry

// Records are those of a kind, without their links.
func (in Input) Records(kind catalog.Kind) []catalog.Record {
	var records []catalog.Record
	for _, e := range in[kind] {
		records = append(records, e.Record)
	}
	return records
}

// Facts are the stored facts. A day's statistics, which have no entries, are
// made of the catalog's counts by Stats.
var Facts = []Fact{
	{
		Name: "radar", From: []catalog.Kind{catalog.KindRelease, catalog.KindRadar},
		Texts: catalog.KindRelease, Links: catalog.KindRadar, Of: catalog.KindRadar,
		Make: func(ctx context.Context, in Input) ([]catalog.Entry, error) {
			return RadarItems(ctx, in.Records(catalog.KindRelease), in[catalog.KindRadar])
		},
	},
	{
		Name: "joins", From: []catalog.Kind{catalog.KindProject, catalog.KindRepo, catalog.KindApp},
		Of: catalog.KindProject, Make: func(ctx context.Context, in Input) ([]catalog.Entry, error) {
			return Joins(ctx, in.Records(catalog.KindProject), in.Records(catalog.KindRepo), in.Records(catalog.KindApp))
		},
	},
	{
		Name: "deployments", From: []catalog.Kind{catalog.KindOperation, catalog.KindRelease},
		Of: catalog.KindOperation, Make: func(ctx context.Context, in Input) ([]catalog.Entry, error) {
			return OperationLinks(ctx, in.Records(catalog.KindOperation), in.Records(catalog.KindRelease))
		},
	},
}
