package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"almanac/api/dashboard/form"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
	"almanac/retrieval/ranking"
)

// shelf finds its records in their order for every query; pins, synonyms and a profile of
// the turning rank that are tried turn it around; for "ripple" they change less, and for "calm"
// nothing. For "storm" an engine is down.
type shelf struct{ results []retrieval.Result }

// turning is the rank_k of a profile that turns the shelf around.
const turning = 18

func (s *shelf) Search(_ context.Context, r retrieval.Request) (retrieval.Response, error) {
	out := append([]retrieval.Result{}, s.results...)
	if r.Query == "storm" {
		return retrieval.Response{Degraded: []string{"vector"}}, nil
	}
	if s := r.Relevance; s != nil && r.Query != "calm" && (len(s.Pins)+len(s.Aliases) > 0 || len(s.Profiles) > 0 && s.Profiles[0].RankK == turning) {
		last := len(out) - 1
		if r.Query == "ripple" {
			last = 1
		}
		out[0], out[last] = out[last], out[0]
	}
	return retrieval.Response{Query: r.Query, Results: out, Total: len(out)}, nil
}

func (*shelf) Absent(_ context.Context, _ retrieval.Request, record int64) (retrieval.Absence, error) {
	return retrieval.Absence{Record: record, Cause: retrieval.Filtered, Why: "the filter leaves it out"}, nil
}

func (*shelf) Indexed() (int64, *corpus.Corpus, error) { return 1, corpus.New(), nil }

func (*shelf) Status(context.Context) retrieval.Status { return retrieval.Status{Ready: true} }

// tuned is a dashboard over three records.
func tuned(t *testing.T) (http.Handler, *sqlstore.Store) {
	t.Helper()
	store := empty(t)
	found := &shelf{}
	for _, key := range []string{"a", "b", "c"} {
		ref := catalog.Ref{Kind: catalog.KindDoc, Key: key}
		_, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
			{Record: catalog.Record{Kind: ref.Kind, Key: ref.Key, Title: "<i>Page " + key}}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := store.Get(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		found.results = append(found.results, retrieval.Result{Record: r.ID, Title: r.Title})
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	find := func(ctx context.Context, name string) (catalog.Record, error) {
		kind, key, _ := strings.Cut(name, ":")
		r, err := store.Get(ctx, catalog.Ref{Kind: catalog.Kind(kind), Key: key})
		if errors.Is(err, catalog.ErrNotFound) {
			err = op.NotFound("there is no %s", name) // as operations say it
		}
		return r, err
	}
	h := serve(t, form.Config{Search: found, Network: "Sample", Find: find,
		Source: ranking.Source{Store: store, Base: retrieval.Relevance{Profiles: []ranking.Profile{p}}}})
	return h, store
}

func TestPins(t *testing.T) {
	h, store := tuned(t)
	page := get(h, "/rules/pins/edit?q=fees").Body.String()
	holds(t, page, `name="place doc:c"`)
	lacks(t, page, "<i>Page")
	form := url.Values{"query": {"fees"}, "place doc:c": {"1"}, "place doc:a": {""}, "place doc:b": {"0"},
		"until": {"2031-01-31"}, "base": {"0"}, "do": {"preview"}}
	holds(t, post(h, "/rules/pins", form).Body.String(), "↑ 2", "↓ 2", `value="2031-01-31"`)
	if all, err := store.Revisions(t.Context(), catalog.PinsRevision); err != nil || len(all) > 0 {
		t.Fatalf("a preview saves %v, %v", all, err)
	}
	form.Set("do", "publish")
	moves(t, post(h, "/rules/pins", form), "/rules/pins?published=1")
	holds(t, get(h, "/rules/pins").Body.String(), "fees", "doc:c", "buried", "pins@1", "31 Jan 2031")
	form = url.Values{"query": {"fees"}, "record": {"doc:c"}, "position": {"2"}, "base": {"1"}, "do": {"publish"}}
	moves(t, post(h, "/rules/pins", form), "/rules/pins?published=2")
	holds(t, get(h, "/rules/pins").Body.String(), "<b>2</b>", "doc:c", "pins@2")
	form.Set("base", "2")
	form.Set("do", "remove")
	moves(t, post(h, "/rules/pins", form), "/rules/pins?published=3")
	lacks(t, get(h, "/rules/pins").Body.String(), "doc:c")
}

func TestSynonyms(t *testing.T) {
	h, store := tuned(t)
	err := store.CountSearches(t.Context(), []catalog.SearchCount{{Query: "a big HSM", N: 1}, {Query: "fees", N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {"hsm"}, "others": {"security module, key box"}, "base": {"0"}, "do": {"preview"}}
	page := post(h, "/rules", form).Body.String()
	holds(t, page, "a big HSM")
	lacks(t, page, ">fees<")
	form.Set("do", "publish")
	moves(t, post(h, "/rules", form), "/rules?published=1")
	r, err := store.Revision(t.Context(), catalog.SynonymsRevision, "", 0)
	if err != nil || !strings.Contains(r.Data, "key box") {
		t.Errorf("saved is %+v, %v", r, err)
	}
	holds(t, get(h, "/rules").Body.String(), "security module, key box")
	for _, form := range []url.Values{{"name": {strings.Repeat("x", 201)}, "others": {"y"}},
		{"name": {"x"}, "others": {strings.Repeat("tide ", 41)}}, {"name": {"x"}, "others": {strings.Repeat("y,", 101)}}} {
		w := post(h, "/rules", form)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "at most 100") {
			t.Errorf("a group of %d and %d bytes is %d", len(form.Get("name")), len(form.Get("others")), w.Code)
		}
	}
}
