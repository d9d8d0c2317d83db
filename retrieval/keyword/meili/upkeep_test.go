package meili_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
)

// write applies records of one passage each, from id 1, up to the checkpoint.
func write(t *testing.T, e *meili.Engine, checkpoint int64, texts ...string) {
	t.Helper()
	b := keyword.Batch{Checkpoint: checkpoint}
	for i, text := range texts {
		id := int64(i + 1)
		b.Records = append(b.Records,
			keyword.Record{ID: id, Passages: []keyword.Passage{{ID: passage.NewID(id, 0), Body: words(text)}}})
	}
	if err := e.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// finds checks which records a word finds.
func finds(t *testing.T, e *meili.Engine, word string, want ...int64) {
	t.Helper()
	hits, err := e.Search(t.Context(), term(word), passage.Filter{}, 10)
	var got []int64
	for _, h := range hits {
		got = append(got, h.Record)
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v, want %v", word, got, err, want)
	}
}

// begin opens an engine and reads its checkpoint, as a follower does.
func begin(t *testing.T, c meili.Config, want int64) *meili.Engine {
	t.Helper()
	e := open(t, c)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if at, err := e.Checkpoint(t.Context()); at != want || err != nil {
		t.Fatalf("checkpoint %d, %v, want %d", at, err, want)
	}
	return e
}

func TestUpkeep(t *testing.T) {
	p := newPlace(t, "upkeep")
	for name, test := range map[string]func(*testing.T, *place, meili.Config){
		"promotion": testPromotion, "settings": testSettings, "empty": testServerThatLostTheIndex,
		"backwards": testFollowerThatBeginsAnew,
		"foreign":   testForeignIndex, "long": testLongTerms, "key": testWrongKey,
	} {
		t.Run(name, func(t *testing.T) { test(t, p, p.config(t)) })
	}
}

func testPromotion(t *testing.T, p *place, c meili.Config) {
	old := begin(t, c, 0)
	write(t, old, 5, "amber")
	if err := old.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	finds(t, old, "amber", 1)
	write(t, old, 6, "amber", "amber")
	finds(t, old, "amber", 1, 2)
	c.Generation = 2
	e := begin(t, c, 0)
	write(t, e, 6, "quartz", "quartz")
	finds(t, old, "amber", 1, 2) // still live
	finds(t, e, "quartz", 1, 2)
	for range 2 {
		if err := e.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		finds(t, e, "quartz", 1, 2)
		write(t, e, 7)
	}
	if _, err := old.Search(t.Context(), term("amber"), passage.Filter{}, 10); err == nil {
		t.Error("a search of the old generation: no error")
	}
	finds(t, begin(t, c, 7), "quartz", 1, 2)
	for _, uid := range []string{c.Index + "-g1", c.Index + "-g2"} {
		if index, err := p.client.GetIndex(uid); err == nil {
			t.Errorf("index %s is left", index.UID)
		}
	}
}

func testSettings(t *testing.T, p *place, c meili.Config) {
	e := begin(t, c, 0)
	write(t, e, 5, "amber", "quartz amber")
	index := p.client.Index(c.Index + "-g1")
	task, err := index.UpdateSettings(&meilisearch.Settings{RankingRules: []string{"typo"},
		SearchableAttributes: []string{"title"}, StopWords: []string{"amber"},
		Synonyms: map[string][]string{"amber": {"quartz"}}, FilterableAttributes: []string{"kind"}})
	if err != nil {
		t.Fatal(err)
	}
	p.wait(t, task)
	if at, err := e.Checkpoint(t.Context()); at != 5 || err != nil {
		t.Fatalf("checkpoint %d, %v", at, err)
	}
	finds(t, e, "amber", 1, 2)
	settings, err := index.GetSettings()
	if err != nil || len(settings.StopWords) > 0 || len(settings.Synonyms) > 0 ||
		!slices.Equal(settings.RankingRules, []string{"words"}) {
		t.Errorf("settings %+v, %v", settings, err)
	}
}

func testServerThatLostTheIndex(t *testing.T, p *place, c meili.Config) {
	e := begin(t, c, 0)
	write(t, e, 5, "amber")
	write(t, e, 6, "amber", "amber")
	p.remove(t, c.Index+"-g1")
	fails := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	search := func() error {
		_, err := e.Search(t.Context(), term("amber"), passage.Filter{}, 10)
		return err
	}
	fails(search(), "it was not built yet, or the server has lost it")
	fails(e.Apply(t.Context(), batch(7)), "it has them up to 0, not 6; it must be filled again from there")
	fails(e.Apply(t.Context(), batch(7)), "not 6")
	if at, err := e.Checkpoint(t.Context()); at != 0 || err != nil {
		t.Fatalf("checkpoint %d, %v", at, err)
	}
	write(t, e, 5, "amber")
	fails(search(), "it is being filled again: 5 of 6 changes")
	write(t, e, 6, "amber", "amber")
	finds(t, e, "amber", 1, 2)
}

func testFollowerThatBeginsAnew(t *testing.T, _ *place, c meili.Config) {
	e := begin(t, c, 0)
	write(t, e, 50, "amber")
	write(t, e, 7, "quartz") // of an older copy of the catalog
	finds(t, e, "quartz", 1)
	finds(t, begin(t, c, 7), "quartz", 1)
}

func testForeignIndex(t *testing.T, p *place, c meili.Config) {
	c.Index += "-g3" // a name that a generation of another index has
	theirs := begin(t, meili.Config{URL: c.URL, Key: c.Key, Index: c.Index, Generation: 1, Owner: "another",
		Transport: c.Transport}, 0)
	if err := theirs.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := open(t, c)
	for name, call := range calls {
		if err := call(t.Context(), e); !errors.Is(err, meili.ErrForeign) ||
			!strings.Contains(err.Error(), "index "+c.Index) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	p.remove(t, c.Index)
}

func testLongTerms(t *testing.T, _ *place, c meili.Config) {
	e := begin(t, c, 0)
	long := strings.Repeat("я", 32) // spelt in six bytes each
	other := strings.Repeat("я", 31) + "ю"
	write(t, e, 1, "日本語", "cip-56", "zz z", "a_b/c.d", "0.5.9", "node node")
	b := keyword.Batch{Checkpoint: 2,
		Records: []keyword.Record{{ID: 7, Passages: []keyword.Passage{{ID: passage.NewID(7, 0), Body: words(long)}}}}}
	if err := e.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for id, text := range []string{1: "日本", 2: "cip-56", 3: "zz", 4: "a_b/c.d", 5: "0.5.9", 6: "node",
		7: words(long).Tokens[0].Term} {
		if text != "" {
			finds(t, e, text, int64(id))
		}
	}
	finds(t, e, words(other).Tokens[0].Term)
	finds(t, e, "zzz")
	finds(t, e, "nodezq")
	finds(t, e, `" OR -node`)
}

func testWrongKey(t *testing.T, _ *place, c meili.Config) {
	c.Key = "a wrong key"
	e := open(t, c)
	for name, call := range calls {
		fails(t, name, call(t.Context(), e), c.URL, "HOST refuses the API key (403 Forbidden)")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// live skips a test whose requests no recording can hold.
func live(t *testing.T) *place {
	t.Helper()
	url, key := os.Getenv("ALMANAC_TEST_MEILI_URL"), os.Getenv("ALMANAC_TEST_MEILI_KEY")
	if url == "" {
		t.Skip("needs the server of ALMANAC_TEST_MEILI_URL")
	}
	return connect(t, url, key)
}

func TestSearchesDuringPromotion(t *testing.T) {
	c := live(t).config(t)
	old := begin(t, c, 0)
	write(t, old, 5, "amber")
	if err := old.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Generation = 2
	e := begin(t, c, 0)
	write(t, e, 5, "amber", "amber")
	done, wg := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		wg.Go(func() {
			for {
				hits, err := e.Search(t.Context(), term("amber"), passage.Filter{}, 10)
				if err != nil || len(hits) != 2 {
					t.Errorf("%+v, %v", hits, err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	if err := e.Promote(t.Context()); err != nil {
		t.Error(err)
	}
	close(done)
	wg.Wait()
}
