package meili

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/analysis"
)

// Limits of the server, with the reason of each.
const (
	maxHits   = 20_000 // of one list: searches ask for hundreds, so this only ends mistakes
	maxFacets = 50_000 // records that facets are counted over
	cutoff    = 5_000  // ms: a search that is cut off is answered in part, without a word about it; our own deadline is an error
)

// settingsOf returns the settings of an index as code: what it does depends
// on nothing that somebody has set by hand.
func settingsOf(synonyms map[string][]string, stopWords []string) *meilisearch.Settings {
	return &meilisearch.Settings{
		// How many of the words match, in the order of the query, is all that
		// the server decides; see plan.
		RankingRules:         []string{"words"},
		SearchableAttributes: []string{"title", "heading", "names", "body", "path"},
		DisplayedAttributes:  []string{primaryKey, "owner", "generation", "format", "checkpoint"}, // texts need not be unpacked
		FilterableAttributes: []string{"record", "ordinal", "kind", "source", "container", "state", "date", "card", "owner"},
		// Terms are ASCII words, see spell: no script or language is to be guessed.
		LocalizedAttributes: []*meilisearch.LocalizedAttributes{{Locales: []string{"eng"}, AttributePatterns: []string{"*"}}},
		// Spelling is corrected before a query comes here, for every engine
		// alike and with a word to the user; so is what numbers and
		// identifiers may match.
		TypoTolerance: &meilisearch.TypoTolerance{
			Enabled:             false,
			MinWordSizeForTypos: meilisearch.MinWordSizeForTypos{OneTypo: 5, TwoTypos: 9},
			DisableOnWords:      []string{},
			DisableOnAttributes: []string{"names"},
			DisableOnNumbers:    true,
		},
		ProximityPrecision: meilisearch.ByWord, // or the words of a phrase may stand anywhere in a field
		Pagination:         &meilisearch.Pagination{MaxTotalHits: maxHits},
		Faceting: &meilisearch.Faceting{MaxValuesPerFacet: maxFacets,
			SortFacetValuesBy: map[string]meilisearch.SortFacetType{"*": meilisearch.SortFacetTypeAlpha}},
		SearchCutoffMs: cutoff,
		StopWords:      stopWords,
		Synonyms:       synonyms,
	}
}

// ensureSettings brings the index to the settings; one that has them is left
// alone, as any change can make the server index everything again.
func (e *Engine) ensureSettings(ctx context.Context, uid string) error {
	index := e.client.Index(uid)
	have, err := index.GetSettingsWithContext(ctx)
	unknown := unknownForm(err) // those of another version
	if err != nil && !unknown {
		return e.failed(ctx, "read the settings of index "+uid, err)
	}
	if !unknown && sameSettings(have, e.settings) {
		return nil
	}
	e.log.Info("meili: settings of index brought up to date", "index", uid)
	task, err := index.UpdateSettingsWithContext(ctx, e.settings)
	if err := e.await(ctx, "change the settings of index "+uid, task, err); err != nil {
		return err
	}
	// The client leaves out what is empty or false.
	if unknown || have.FacetSearch {
		task, err := index.UpdateFacetSearchWithContext(ctx, false) // nobody types values of facets
		if err := e.await(ctx, "change the settings of index "+uid, task, err); err != nil {
			return err
		}
	}
	if len(e.settings.StopWords) == 0 && (unknown || len(have.StopWords) > 0) {
		task, err := index.ResetStopWordsWithContext(ctx)
		if err := e.await(ctx, "remove the stop words of index "+uid, task, err); err != nil {
			return err
		}
	}
	if len(e.settings.Synonyms) == 0 && (unknown || len(have.Synonyms) > 0) {
		task, err := index.ResetSynonymsWithContext(ctx)
		if err := e.await(ctx, "remove the synonyms of index "+uid, task, err); err != nil {
			return err
		}
	}
	return nil
}

// unknownForm reports an answer that is JSON, but of another form than the
// client reads.
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
	return slices.Equal(have.RankingRules, want.RankingRules) && slices.Equal(have.SearchableAttributes, want.SearchableAttributes) &&
		sameSet(have.FilterableAttributes, want.FilterableAttributes) &&
		sameSet(have.DisplayedAttributes, want.DisplayedAttributes) && sameSet(have.StopWords, want.StopWords) &&
		reflect.DeepEqual(have.LocalizedAttributes, want.LocalizedAttributes) && reflect.DeepEqual(have.TypoTolerance, want.TypoTolerance) &&
		have.ProximityPrecision == want.ProximityPrecision && reflect.DeepEqual(have.Pagination, want.Pagination) &&
		reflect.DeepEqual(have.Faceting, want.Faceting) && have.SearchCutoffMs == want.SearchCutoffMs && have.FacetSearch == want.FacetSearch &&
		maps.EqualFunc(have.Synonyms, want.Synonyms, sameSet)
}

// synonymsOf writes synonyms in our terms: a word that is searched also
// matches the words and phrases beside it.
func synonymsOf(words map[string][]string) (map[string][]string, error) {
	out := make(map[string][]string, len(words))
	for word, others := range words {
		term := newStream(analysis.Analyze(word)).text
		if term == "" || strings.Contains(term, " ") {
			return nil, fmt.Errorf("synonyms of %q: want one word", word)
		}
		for _, other := range others {
			if text := newStream(analysis.Analyze(other)).text; text != "" && text != term && !slices.Contains(out[term], text) {
				out[term] = append(out[term], text)
			}
		}
	}
	return out, nil
}

// stopWordsOf writes stop words as the terms that they are in an index.
func stopWordsOf(words []string) []string {
	var out []string
	for _, word := range words {
		for _, t := range analysis.Analyze(word) {
			out = append(out, spell(t.Term))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
