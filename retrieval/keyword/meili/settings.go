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

// unwanted are the settings that settingsOf cannot give, as the client leaves out what is
// empty or false, and how to remove them.
var unwanted = []struct {
	in     func(*meilisearch.Settings) bool
	remove func(meilisearch.IndexManager, context.Context) (*meilisearch.TaskInfo, error)
}{
	{func(s *meilisearch.Settings) bool { return s.FacetSearch },
		func(x meilisearch.IndexManager, ctx context.Context) (*meilisearch.TaskInfo, error) {
			return x.UpdateFacetSearchWithContext(ctx, false)
		}},
	{func(s *meilisearch.Settings) bool { return len(s.StopWords) > 0 },
		meilisearch.IndexManager.ResetStopWordsWithContext},
	{func(s *meilisearch.Settings) bool { return len(s.Synonyms) > 0 },
		meilisearch.IndexManager.ResetSynonymsWithContext},
	{func(s *meilisearch.Settings) bool { return s.DistinctAttribute != nil },
		meilisearch.IndexManager.ResetDistinctAttributeWithContext},
	{func(s *meilisearch.Settings) bool { return len(s.Dictionary) > 0 },
		meilisearch.IndexManager.ResetDictionaryWithContext},
	{func(s *meilisearch.Settings) bool { return len(s.SeparatorTokens) > 0 },
		meilisearch.IndexManager.ResetSeparatorTokensWithContext},
	{func(s *meilisearch.Settings) bool { return len(s.NonSeparatorTokens) > 0 },
		meilisearch.IndexManager.ResetNonSeparatorTokensWithContext},
	{func(s *meilisearch.Settings) bool { return s.PrefixSearch != nil && *s.PrefixSearch != "indexingTime" },
		meilisearch.IndexManager.ResetPrefixSearchWithContext},
}

// ensureSettings has the server give the index our settings unless it has them, as any
// change can make it index everything again. With others it puts passages into another
// order, so that no search is answered until they are ours. A server that takes longer
// than one request may is an error, to be told, and the next call waits on.
func (e *Engine) ensureSettings(ctx context.Context, uid string, filled bool) error {
	if len(e.changing) == 0 {
		have, err := e.settings(ctx, uid)
		if err != nil {
			return err
		}
		if ours(have) {
			e.unset.Store(false)
			return nil
		}
		e.unset.Store(true)
		if filled {
			e.log.Warn("another program has changed the settings of the index, which are restored", "index", uid)
		}
		if err := e.change(ctx, uid, have); err != nil {
			return err
		}
	}
	patient, cancel := context.WithTimeoutCause(ctx, e.timeout, errors.New("the server has not finished, and until "+
		"then the index finds passages in another order"))
	defer cancel()
	for _, task := range e.changing {
		if err := e.await(patient, "restore the settings of index "+uid, task, nil); err != nil {
			if patient.Err() == nil {
				e.changing = nil // the next call finds out what became of it
			}
			return err
		}
	}
	e.changing = nil
	e.unset.Store(false)
	return nil
}

// settings returns those of an index; nil if they are of another version.
func (e *Engine) settings(ctx context.Context, uid string) (*meilisearch.Settings, error) {
	have, err := e.client.Index(uid).GetSettingsWithContext(ctx)
	switch {
	case unknownForm(err):
		return nil, nil
	case err != nil:
		return nil, e.failed(ctx, "read the settings of index "+uid, err)
	}
	return have, nil
}

// change asks the server for our settings in place of those that the index has.
func (e *Engine) change(ctx context.Context, uid string, have *meilisearch.Settings) error {
	index := e.client.Index(uid)
	task, err := index.UpdateSettingsWithContext(ctx, settingsOf())
	for _, x := range unwanted {
		if err == nil && (have == nil || x.in(have)) {
			e.changing = append(e.changing, task)
			task, err = x.remove(index, ctx)
		}
	}
	if err != nil {
		e.changing = nil
		return e.failed(ctx, "change the settings of index "+uid, err)
	}
	e.changing = append(e.changing, task)
	return nil
}

// unknownForm reports whether a response is JSON in a form that the client cannot read.
func unknownForm(err error) bool {
	var failure *meilisearch.Error
	return errors.As(err, &failure) && failure.ErrCode == meilisearch.ErrCodeResponseUnmarshalBody &&
		json.Valid([]byte(failure.ResponseToString))
}

// ours reports whether an index has what settingsOf sets, and nothing unwanted.
func ours(have *meilisearch.Settings) bool {
	if have == nil {
		return false
	}
	want := settingsOf()
	sameSet := func(a, b []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
	}
	for _, x := range unwanted {
		if x.in(have) {
			return false
		}
	}
	return slices.Equal(have.RankingRules, want.RankingRules) &&
		slices.Equal(have.SearchableAttributes, want.SearchableAttributes) &&
		sameSet(have.FilterableAttributes, want.FilterableAttributes) &&
		sameSet(have.DisplayedAttributes, want.DisplayedAttributes) &&
		reflect.DeepEqual(have.LocalizedAttributes, want.LocalizedAttributes) &&
		reflect.DeepEqual(have.TypoTolerance, want.TypoTolerance) &&
		have.ProximityPrecision == want.ProximityPrecision && reflect.DeepEqual(have.Pagination, want.Pagination) &&
		reflect.DeepEqual(have.Faceting, want.Faceting) && have.SearchCutoffMs == want.SearchCutoffMs
}
