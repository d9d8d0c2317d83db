package stack

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/embed"
	"almanac/embed/transformer"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/testing/wait"
)

// newAuto is a configuration whose model is chosen by the program, with a profile for
// each kind of model that shows which one is in force: by the table's, which asks for
// vectors alone, any word finds all documents, by the transformer's only those that have
// it.
func newAuto(t *testing.T, documents int) (cfg Config, embedded *atomic.Int64) {
	t.Helper()
	if !transformer.Fast() {
		t.Skip("this processor is too slow for the transformer")
	}
	cfg = newConfig(t, documents)
	cfg.Embed = Embed{Model: embed.Auto}
	words, err := cfg.Profiles[0].Only(ranking.KeywordEngine)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transformer = &words
	if cfg.Profiles[0], err = cfg.Profiles[0].Only(ranking.VectorEngine); err != nil {
		t.Fatal(err)
	}
	cfg.Profiles[0].Name, cfg.Profiles[0].Floor = ranking.DefaultName, -1
	embedded = new(atomic.Int64)
	cfg.Embedded = func(_, unknown int) { embedded.Add(int64(unknown)) }
	return cfg, embedded
}

// absent is how many documents a search for a word finds that none has.
func absent(t *testing.T, s retrieval.Searcher) int {
	t.Helper()
	res, err := s.Search(t.Context(), retrieval.Request{Query: "marmalade", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return res.Total
}

// occupied runs a keeper in which a search is under way from before its first index is
// ready, and embedding waits for it until it is left.
func occupied(t *testing.T, cfg Config) (k running, leave func()) {
	t.Helper()
	synced := make(chan struct{})
	k = keep(t, KeeperConfig{Config: cfg, Sync: func(ctx context.Context, firstPass func()) error {
		<-synced
		firstPass()
		<-ctx.Done()
		return nil
	}}, func(k *Keeper, ctx context.Context) error {
		k.most = time.Hour
		return k.Run(ctx)
	})
	wait.Until(t, "an index is open", func() bool { return k.serving.Load() != nil })
	s := k.serving.Load()
	if !s.users.enter() {
		t.Fatal("the first index is closed")
	}
	leave = sync.OnceFunc(s.users.leave)
	t.Cleanup(leave) // before the keeper is closed, which waits for searches
	close(synced)
	wait.Until(t, "the first index is ready", func() bool { return k.Status(t.Context()).Ready })
	return k, leave
}

func served(k running) func() bool {
	return func() bool {
		st := k.Status(context.Background())
		return st.Model == transformer.Model && st.Next == nil
	}
}

// TestAutoBeginsWithTheTable wants answers by the table, and by its profile, while the
// index of the transformer waits for a search that is under way, and by the transformer
// and its profile when that index is complete.
func TestAutoBeginsWithTheTable(t *testing.T) {
	cfg, embedded := newAuto(t, 40)
	k, leave := occupied(t, cfg)
	wait.Until(t, "the other index is begun", func() bool { return k.Status(t.Context()).Next != nil })
	put(t, cfg.Store, 40, 45)
	wait.Until(t, "the table's index is fed", func() bool { return absent(t, k) == 45 })
	st := k.Status(t.Context())
	if !strings.HasPrefix(st.Model, "static") || st.Next.Model != transformer.Model || st.Next.Vectors != 0 {
		t.Errorf("meanwhile the model is %s, and of %s %d passages have vectors", st.Model, st.Next.Model, st.Next.Vectors)
	}
	if k.Transformed() {
		t.Error("the index that serves has vectors of a transformer")
	}
	wait.Until(t, "other processes can read of it", func() bool {
		f, err := FillingOf(t.Context(), cfg.Store)
		return err == nil && f != nil && f.Model == transformer.Model
	})
	before := embedded.Load()
	leave()
	wait.Until(t, "the transformer serves", served(k))
	if n := absent(t, k); n != 0 || !k.Transformed() {
		t.Errorf("by the transformer's profile %d documents are found", n)
	}
	if n := embedded.Load() - before; n != 45 { // the profile has no use for the query's
		t.Errorf("%d texts were embedded for 45 documents", n)
	}
	if f, err := FillingOf(t.Context(), cfg.Store); err != nil || f != nil {
		t.Errorf("then other processes read of %+v, %v", f, err)
	}
	wait.Until(t, "the table's index is gone", func() bool {
		all, err := cfg.Store.Generations(t.Context())
		return err == nil && len(all) == 1
	})
	k.stop()

	// From then on every process has the transformer.
	for name, open := range map[string]func(context.Context, Config) (*Stack, error){
		"a command": Open, "a reader": OpenReader, "a rebuilt index": Rebuild,
	} {
		s, err := open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CatchUp(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if got := s.Searcher.Status(t.Context()).Model; got != transformer.Model || found(t, s.Searcher) != 45 {
			t.Errorf("%s has the model %s", name, got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestALittleTextNeedsNoTable: the transformer answers first where it takes but a moment.
func TestALittleTextNeedsNoTable(t *testing.T) {
	for _, model := range []string{embed.Auto, embed.Transformer} {
		cfg, embedded := newAuto(t, 20)
		cfg.Embed.Model = model
		if err := MarkSynced(t.Context(), cfg.Store); err != nil {
			t.Fatal(err)
		}
		k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
		wait.Until(t, "it answers", func() bool { return found(t, k) == 20 })
		if st := k.Status(t.Context()); st.Model != transformer.Model {
			t.Errorf("%s: a server begins with %s", model, st.Model)
		}
		if n := embedded.Load(); n != 20 {
			t.Errorf("%s: %d texts were embedded for 20 documents", model, n)
		}
		k.stop()
	}

	for what, documents := range map[string]int{"the transformer": 20, "the table": fewRecords + 1} {
		cfg, _ := newAuto(t, documents)
		model := func() string {
			t.Helper()
			e, err := Resolve(t.Context(), cfg.Store, cfg.Embed)
			if err != nil {
				t.Fatal(err)
			}
			return e.Model
		}
		if got := model(); got != embed.Table {
			t.Errorf("before the first sync a command has %s", got)
		}
		if err := MarkSynced(t.Context(), cfg.Store); err != nil {
			t.Fatal(err)
		}
		if got := model(); (got == embed.Transformer) != (what == "the transformer") {
			t.Errorf("for %d documents a command has %s, want %s", documents, got, what)
		}
		long := catalog.Record{Kind: catalog.KindDoc, Key: "long", Title: "Long", Data: []byte("{}"),
			Body: strings.Repeat("tide ", fewBytes/5)}
		if _, err := cfg.Store.Apply(t.Context(), catalog.Batch{Source: "site",
			Entries: []catalog.Entry{{Record: long}}}); err != nil {
			t.Fatal(err)
		}
		if got := model(); got != embed.Table {
			t.Errorf("with a long document a command has %s", got)
		}
	}
}

// TestNothingIsEmbeddedTwice stops a process in the middle, and afterwards rebuilds the
// index and undoes a change.
func TestNothingIsEmbeddedTwice(t *testing.T) {
	const documents, part = 60, 20
	cfg, embedded := newAuto(t, documents)
	count, reached, resume := cfg.Embedded, make(chan struct{}), make(chan struct{})
	cfg.Embedded = func(texts, unknown int) {
		count(texts, unknown)
		if unknown > 0 && embedded.Load() == documents+part { // those of the table, and so many
			close(reached)
			<-resume
		}
	}
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	<-reached
	stopped := make(chan struct{})
	go func() { defer close(stopped); k.stop() }()
	wait.Until(t, "it stops", func() bool { return k.filling.Load() == nil })
	close(resume)
	<-stopped
	f, err := FillingOf(t.Context(), cfg.Store)
	if err != nil || f != nil && f.Passages != documents {
		t.Errorf("what is stored of its progress is %+v, %v", f, err)
	}
	k = keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the transformer serves", served(k))
	if n := embedded.Load() - documents; n != documents+1 { // one was under way
		t.Errorf("%d texts were embedded for %d documents", n, documents)
	}
	made := embedded.Load()
	if err := k.Rebuild(t.Context(), func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	if n := embedded.Load() - made; n != 0 {
		t.Errorf("%d texts were embedded again for the same index", n)
	}
	body := func(text string) {
		t.Helper()
		entry := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "page-007", Title: "Page 7",
			Data: []byte("{}"), Body: text}}
		_, err := cfg.Store.Apply(t.Context(), catalog.Batch{Source: "site", Entries: []catalog.Entry{entry}})
		if err != nil {
			t.Fatal(err)
		}
		head, err := cfg.Store.LastChange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := k.serving.Load().Follower.WaitAll(t.Context(), head); err != nil {
			t.Fatal(err)
		}
	}
	body("The lock of the canal is closed at night.")
	body("The harbour has a beacon, number7, which the tugs pass at every tide.")
	if n := embedded.Load() - made; n != 1 {
		t.Errorf("a change and its undoing embedded %d texts", n)
	}
}

// TestPace estimates by what was done lately: not by vectors that were there before, nor
// by how fast it was long ago.
func TestPace(t *testing.T) {
	at := time.Date(2031, 5, 6, 8, 0, 0, 0, time.UTC)
	p := pace{began: at}
	if left := p.left(at, 500, 1000); left != 0 {
		t.Errorf("at its beginning it knows that %v are left", left)
	}
	done := 500
	tick := func(seconds, each int) (left time.Duration) {
		for range seconds {
			at, done = at.Add(time.Second), done+each
			left = p.left(at, done, 10_000)
		}
		return left
	}
	if left := tick(10, 5); left != time.Duration(10_000-done)*time.Second/5 {
		t.Errorf("%v are left at five in a second", left)
	}
	tick(600, 2)
	if left := tick(180, 1); left != time.Duration(10_000-done)*time.Second {
		t.Errorf("%v are left at one in a second", left)
	}
}
