package meili

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"

	"github.com/meilisearch/meilisearch-go"
)

// Limits set on the server.
const (
	maxHits   = 20_000 // of one list: searches request hundreds, so this only stops mistakes
	maxFacets = 50_000 // values of a facet; none is asked for
	cutoff    = 5_000  // ms: a search that is cut off silently returns a part; our own deadline is an error
)

// settingsOf returns all settings of an index, so that nothing depends on settings made by hand.
func settingsOf() *meilisearch.Settings {
	return &meilisearch.Settings{
		// How many of the words match, in the order of the query, is all that
		// the server decides; see plan.
		RankingRules:         []string{"words"},
		SearchableAttributes: []string{"title", "heading", "names", "body", "path"},
		// so texts need not be unpacked
		DisplayedAttributes: []string{primaryKey, "owner", "generation", "format", "checkpoint"},
		FilterableAttributes: []string{"record", "ordinal", "kind", "source", "container", "state", "date", "card",
			"owner"},
		// Terms are ASCII words, see spell: the server must not guess scripts or languages.
		LocalizedAttributes: []*meilisearch.LocalizedAttributes{{Locales: []string{"eng"},
			AttributePatterns: []string{"*"}}},
		// Spelling is corrected before a query gets here, for every engine alike and
		// visibly to the user; what numbers and identifiers may match is decided there,
		// too.
		TypoTolerance: &meilisearch.TypoTolerance{
			Enabled:             false,
			MinWordSizeForTypos: meilisearch.MinWordSizeForTypos{OneTypo: 5, TwoTypos: 9},
			DisableOnWords:      []string{},
			DisableOnAttributes: []string{"names"},
			DisableOnNumbers:    true,
		},
		ProximityPrecision: meilisearch.ByWord, // otherwise the words of a phrase may be anywhere in a field
		Pagination:         &meilisearch.Pagination{MaxTotalHits: maxHits},
		Faceting: &meilisearch.Faceting{MaxValuesPerFacet: maxFacets,
			SortFacetValuesBy: map[string]meilisearch.SortFacetType{"*": meilisearch.SortFacetTypeAlpha}},
		SearchCutoffMs: cutoff,
	}
}

// ensureSettings applies the settings to the index unless it has them, as any
// change can make the server index everything again.
func (e *Engine) ensureSettings(ctx context.Context, uid string) error {
	index := e.client.Index(uid)
	have, err := index.GetSettingsWithContext(ctx)
	unknown := unknownForm(err) // settings of another version
	if err != nil && !unknown {
		return e.failed(ctx, "read the settings of index "+uid, err)
	}
	want := settingsOf()
	if !unknown && sameSettings(have, want) {
		return nil
	}
	e.log.Info("settings of index updated", "index", uid)
	change := func(task *meilisearch.TaskInfo, err error) error {
		return e.await(ctx, "change the settings of index "+uid, task, err)
	}
	if err := change(index.UpdateSettingsWithContext(ctx, want)); err != nil {
		return err
	}
	// The client leaves out what is empty or false.
	if unknown || have.FacetSearch {
		if err := change(index.UpdateFacetSearchWithContext(ctx, false)); err != nil {
			return err
		}
	}
	if unknown || len(have.StopWords) > 0 {
		if err := change(index.ResetStopWordsWithContext(ctx)); err != nil {
			return err
		}
	}
	if unknown || len(have.Synonyms) > 0 {
		return change(index.ResetSynonymsWithContext(ctx))
	}
	return nil
}

// unknownForm reports whether a response is JSON in a form that the client cannot read.
func unknownForm(err error) bool {
	var failure *meilisearch.Error
	return errors.As(err, &failure) && failure.ErrCode == meilisearch.ErrCodeResponseUnmarshalBody &&
		json.Valid([]byte(failure.ResponseToString))
}

// sameSettings compares what settingsOf sets.
func sameSettings(have, want *meilisearch.Settings) bool {
	sameSet := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	return slices.Equal(have.RankingRules, want.RankingRules) &&
		slices.Equal(have.SearchableAttributes, want.SearchableAttributes) &&
		sameSet(have.FilterableAttributes, want.FilterableAttributes) &&
		sameSet(have.DisplayedAttributes, want.DisplayedAttributes) && len(have.StopWords)+len(have.Synonyms) == 0 &&
		reflect.DeepEqual(have.LocalizedAttributes, want.LocalizedAttributes) &&
		reflect.DeepEqual(have.TypoTolerance, want.TypoTolerance) &&
		have.ProximityPrecision == want.ProximityPrecision && reflect.DeepEqual(have.Pagination, want.Pagination) &&
		reflect.DeepEqual(have.Faceting, want.Faceting) && have.SearchCutoffMs == want.SearchCutoffMs &&
		have.FacetSearch == want.FacetSearch
}
