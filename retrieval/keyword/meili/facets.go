package meili

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// Facets implements keyword.Engine. The server counts passages, so it is
// queried for the records found, by their cards, and they are counted here.
// More records than it lists (maxFacets) are an error.
func (e *Engine) Facets(ctx context.Context, q keyword.Query, f passage.Filter,
	attributes []string) (map[string]map[string]int, error) {
	out := make(map[string]map[string]int, len(attributes))
	for _, a := range attributes {
		if !slices.Contains(facetAttributes[:], a) {
			return nil, fmt.Errorf("meili: facets: unknown attribute %q", a)
		}
		out[a] = map[string]int{}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("meili: facets: %w", err)
	}
	queries, err := e.matching(q)
	if err != nil {
		return nil, err
	}
	cards, err := e.cards(ctx, queries, f)
	if err != nil {
		return nil, err
	}
	if words := e.words(q.Exclude); q.Unit == keyword.Documents && len(words) > 0 {
		// A record is excluded by any of its passages.
		var excluded []string
		for _, word := range words {
			excluded = append(excluded, quote(word))
		}
		without, err := e.cards(ctx, excluded, f)
		if err != nil {
			return nil, err
		}
		for card := range without {
			delete(cards, card)
		}
	}
	for card := range cards {
		values := strings.Split(card, cardSeparator)
		if len(values) != 1+len(facetAttributes) {
			return nil, fmt.Errorf("meili: facets: %s returned a card of another form", e.host)
		}
		for i, a := range facetAttributes {
			if value := values[1+i]; out[a] != nil && value != "" {
				out[a][value]++
			}
		}
	}
	return out, nil
}

// matching returns searches that together find every passage that matches: one
// for each term or, as every hit must have the phrases, one for the phrases.
func (e *Engine) matching(q keyword.Query) ([]string, error) {
	p, err := e.newPlan(q)
	if err != nil || len(p.lists) == 0 {
		return nil, err
	}
	if p.lists[0].fixed > 0 {
		return []string{p.lists[0].query}, nil
	}
	var exclude []string
	for _, word := range e.words(q.Exclude) {
		exclude = append(exclude, "-"+quote(word))
	}
	var queries []string
	for _, t := range p.terms {
		query := strings.Join(append(slices.Clone(exclude), t.head()), " ")
		if !t.prefix {
			query += " "
		}
		queries = append(queries, query)
	}
	return queries, nil
}

// cards returns the cards of the records with a passage that any of the
// queries finds.
func (e *Engine) cards(ctx context.Context, queries []string, f passage.Filter) (map[string]int, error) {
	var cards map[string]int
	if len(queries) == 0 {
		return cards, nil
	}
	filter := filterOf(f)
	err := e.onIndex(ctx, "count facets", func(uid string) (m mark, err error) {
		requests := make([]*meilisearch.SearchRequest, len(queries))
		for i, query := range queries {
			requests[i] = &meilisearch.SearchRequest{IndexUID: uid, Query: query, MatchingStrategy: meilisearch.Last,
				AttributesToRetrieve: []string{primaryKey}}
			if filter != "" {
				requests[i].Filter = filter
			}
		}
		response, err := e.client.MultiSearchWithContext(ctx, &meilisearch.MultiSearchRequest{Queries: requests,
			Federation: &meilisearch.MultiSearchFederation{Limit: 1, FacetsByIndex: map[string][]string{uid: {"card"}},
				MergeFacets: &meilisearch.MultiSearchFederationMergeFacets{MaxValuesPerFacet: maxFacets}}})
		if err != nil {
			return m, err
		}
		cards = nil
		if raw := response.FacetDistribution["card"]; raw != nil {
			if err := json.Unmarshal(raw, &cards); err != nil {
				return m, fmt.Errorf("answer of %s: %w", e.host, err)
			}
		}
		if len(cards) >= maxFacets {
			return m, fmt.Errorf("%d records or more match, too many to count", maxFacets)
		}
		err = e.client.Index(uid).GetDocumentWithContext(ctx, markID, nil, &m)
		return m, err
	})
	return cards, err
}
