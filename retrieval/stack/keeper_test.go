package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/embed/transformer"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/testing/wait"
)

func TestAReaderTakesOver(t *testing.T) {
	cfg := newConfig(t, 10)
	first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the first is ready", func() bool { return first.log.hold("ready") })
	second := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the second is ready", func() bool { return second.log.hold("ready") })
	if !second.log.hold("another process writes the index: this one reads it and does not sync") {
		t.Error("the second does not read")
	}
	put(t, cfg.Store, 10, 15)
	wait.Until(t, "both find what is new", func() bool { return found(t, first) == 15 && found(t, second) == 15 })
	first.stop()
	wait.Until(t, "the second takes over", func() bool {
		return second.log.hold("the other process is gone: this one writes the index from here on")
	})
	if n := found(t, second); n != 15 {
		t.Errorf("at the change it finds %d documents", n)
	}
	put(t, cfg.Store, 15, 16)
	wait.Until(t, "it finds what is new", func() bool { return found(t, second) == 16 })
	second.stop()
	s, err := OpenReader(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if records, _ := s.Follower.Corpus().Size(); records != 16 {
		t.Errorf("%d records are stored", records)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNothingIsReadyBeforeTheFirstSync holds back the sync of the writer: no
// process may serve a fragment.
func TestNothingIsReadyBeforeTheFirstSync(t *testing.T) {
	cfg := newConfig(t, 5)
	release, passes := make(chan struct{}), make(chan func(), 1)
	kc := KeeperConfig{Config: cfg, Sync: func(ctx context.Context, firstPass func()) error {
		passes <- firstPass
		<-release
		firstPass()
		firstPass() // more often than once does no harm
		<-ctx.Done()
		return nil
	}}
	writer := keep(t, kc, (*Keeper).Run)
	<-passes
	reader := keep(t, kc, (*Keeper).Run)
	wait.Until(t, "both have indexed everything", func() bool {
		a, b := writer.Status(t.Context()), reader.Status(t.Context())
		return a.Records == 5 && a.Lag == 0 && b.Records == 5 && b.Lag == 0
	})
	for name, k := range map[string]running{"writer": writer, "reader": reader} {
		if _, err := k.Search(t.Context(), retrieval.Request{Query: "beacon"}); err != retrieval.ErrNotReady {
			t.Errorf("the %s answers before the first sync: %v", name, err)
		}
	}
	close(release)
	wait.Until(t, "both answer", func() bool { return found(t, writer) == 5 && found(t, reader) == 5 })
	writer.stop()
	reader.stop()
	// A first sync counts for every later process.
	kc.Sync = func(ctx context.Context, _ func()) error { <-ctx.Done(); return nil }
	later := keep(t, kc, (*Keeper).Run)
	wait.Until(t, "a later process answers", func() bool { return found(t, later) == 5 })
}

// TestFollowKeepsWhatItComputes holds that a reader without a writer leaves an
// index behind.
func TestFollowKeepsWhatItComputes(t *testing.T) {
	cfg := newConfig(t, 5)
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Follow)
	wait.Until(t, "it answers", func() bool { return found(t, k) == 5 })
	if lock, err := TryLock(t.Context(), cfg.Dir, nil); err != nil || lock == nil {
		t.Errorf("it holds the lock: %v", err)
	} else if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	k.stop()
	if files, err := snapshots(cfg.Dir); err != nil || len(files) != 2 {
		t.Errorf("it leaves the snapshots %v, %v", files, err)
	}
}

// TestAnotherModelTakesOver changes the model: the earlier index serves and is
// fed until the new one is complete, then it goes.
func TestAnotherModelTakesOver(t *testing.T) {
	cfg := newConfig(t, 40)
	first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the first index", func() bool { return found(t, first) == 40 })
	table := first.Status(t.Context()).Model
	first.stop()

	model := newModelServer(t)
	model.held.Lock()
	cfg.Embed = model.embed()
	second := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the model is asked", func() bool { return model.asks.Load() > 0 })
	put(t, cfg.Store, 40, 45)
	wait.Until(t, "the earlier index is fed", func() bool { return found(t, second) == 45 })
	if now := second.Status(t.Context()).Model; now != table {
		t.Errorf("meanwhile the model is %s", now)
	}
	// A reader that starts now takes the complete index too, and follows.
	reader := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Follow)
	wait.Until(t, "the reader answers", func() bool { return found(t, reader) == 45 })
	if now := reader.Status(t.Context()).Model; now != table {
		t.Errorf("the reader's model is %s", now)
	}
	model.held.Unlock()
	for name, k := range map[string]running{"writer": second, "reader": reader} {
		wait.Until(t, "the new index serves: "+name, func() bool {
			return strings.HasPrefix(k.Status(t.Context()).Model, "buoy-talk") && found(t, k) == 45
		})
	}
	wait.Until(t, "the earlier index is gone", func() bool {
		files, err := snapshots(cfg.Dir)
		all, listErr := cfg.Store.Generations(t.Context())
		return err == nil && listErr == nil && len(files) <= 2 && len(all) == 1
	})
	second.mu.Lock()
	defer second.mu.Unlock()
	if len(second.opened) != 1 {
		t.Errorf("%d stacks are open", len(second.opened))
	}
}

// TestAModelServerThatIsAway starts while the server of a new model is away: the
// earlier index serves, and the operator sees why. The log says it once, however often
// the server is asked again.
func TestAModelServerThatIsAway(t *testing.T) {
	cfg := newConfig(t, 10)
	first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the first index", func() bool { return found(t, first) == 10 })
	first.stop()

	model := newModelServer(t)
	model.down.Store(true)
	cfg.Embed = model.embed()
	second := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the earlier index serves", func() bool { return found(t, second) == 10 })
	if down := second.Status(t.Context()).Down; len(down) != 1 || down[0].Engine != "embedder" {
		t.Errorf("down: %v", down)
	}
	asked := model.refused.Load()
	wait.Until(t, "the server is asked several times again", func() bool { return model.refused.Load() > asked+4 })
	if n := second.log.count("the index cannot be opened and is tried again"); n != 1 {
		t.Errorf("the log says %d times that it cannot be opened", n)
	}
	model.down.Store(false)
	wait.Until(t, "the new index serves", func() bool {
		st := second.Status(t.Context())
		return strings.HasPrefix(st.Model, "buoy-talk") && len(st.Down) == 0
	})
}

// TestAFirstStartWithoutTheModelServer starts an empty directory while the
// model's server is away: the built-in model answers once every source was read,
// after a restart too, and gives way when the server is back.
func TestAFirstStartWithoutTheModelServer(t *testing.T) {
	cfg := newConfig(t, 10)
	model := newModelServer(t)
	model.down.Store(true)
	cfg.Embed = model.embed()
	release := make(chan struct{})
	kc := KeeperConfig{Config: cfg, Sync: func(ctx context.Context, firstPass func()) error {
		<-release
		firstPass()
		<-ctx.Done()
		return nil
	}}
	first := keep(t, kc, (*Keeper).Run)
	wait.Until(t, "everything is indexed", func() bool { return first.Status(t.Context()).Records == 10 })
	if n := found(t, first); n != 0 {
		t.Errorf("before the first sync it finds %d documents", n)
	}
	close(release)
	wait.Until(t, "it answers", func() bool { return found(t, first) == 10 })
	if down := first.Status(t.Context()).Down; len(down) != 1 || down[0].Engine != "embedder" {
		t.Errorf("down: %v", down)
	}
	first.stop()
	second := keep(t, kc, (*Keeper).Run)
	wait.Until(t, "it answers after a restart", func() bool { return found(t, second) == 10 })
	model.down.Store(false)
	wait.Until(t, "the configured model serves alone", func() bool {
		st := second.Status(t.Context())
		all, err := cfg.Store.Generations(t.Context())
		return strings.HasPrefix(st.Model, "buoy-talk") && len(st.Down) == 0 && err == nil && len(all) == 1
	})
	if n := found(t, second); n != 10 {
		t.Errorf("then it finds %d documents", n)
	}
	if said := slices.Concat(first.log.errors, second.log.errors); len(said) > 0 {
		t.Errorf("it says errors: %q", said)
	}
}

// TestAModelThatIsGone goes back from a model server, which is switched off, to
// the table: until the table's index is complete the server's is searched by
// words.
func TestAModelThatIsGone(t *testing.T) {
	cfg := newConfig(t, 10)
	model := newModelServer(t)
	cfg.Embed = model.embed()
	first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the first index", func() bool { return found(t, first) == 10 })
	first.stop()
	model.Close()

	g, o, ok, err := latestComplete(t.Context(), cfg.Store)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	cfg.Embed = Embed{}
	s, err := openEarlier(t.Context(), cfg, g, o, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CatchUp(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	res, err := s.Searcher.Search(t.Context(), retrieval.Request{Query: "harbour beacon"})
	if err != nil || res.Total != 10 || len(res.Degraded) != 1 {
		t.Errorf("%d results without %v, %v", res.Total, res.Degraded, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestWhatIsPublishedOutlivesAGeneration changes the model after a pin was
// published.
func TestWhatIsPublishedOutlivesAGeneration(t *testing.T) {
	cfg := newConfig(t, 10)
	first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the first index", func() bool { return found(t, first) == 10 })
	first.stop()

	model := newModelServer(t)
	model.held.Lock()
	cfg.Embed = model.embed()
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the earlier index serves", func() bool { return found(t, k) == 10 })
	best := func() int64 {
		res, err := k.Search(t.Context(), retrieval.Request{Query: "harbour beacon"})
		if err != nil || len(res.Results) == 0 {
			t.Fatalf("%d results, %v", len(res.Results), err)
		}
		return res.Results[0].Record
	}
	records, _, err := cfg.Store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	pinned := records[9].ID
	if best() == pinned {
		pinned = records[8].ID
	}
	pin := retrieval.Pin{Query: "harbour beacon", Places: []retrieval.Place{{ID: pinned, Position: 1}}}
	if err := k.Publish(retrieval.Relevance{Profiles: cfg.Profiles, Pins: []retrieval.Pin{pin}}); err != nil {
		t.Fatal(err)
	}
	if best() != pinned {
		t.Error("the pin does not apply")
	}
	if err := k.Publish(retrieval.Relevance{}); err == nil {
		t.Error("a set without a profile is published")
	}
	model.held.Unlock()
	wait.Until(t, "the new index serves", func() bool {
		return strings.HasPrefix(k.Status(t.Context()).Model, "buoy-talk")
	})
	if best() != pinned {
		t.Error("the pin does not apply to the new index")
	}
}

// TestWhatAnEngineRefusesLeavesItAsItWas publishes before and after an index is
// open.
func TestWhatAnEngineRefusesLeavesItAsItWas(t *testing.T) {
	cfg := newConfig(t, 5)
	log := newMessages()
	k := NewKeeper(KeeperConfig{Config: cfg})
	k.cfg.Log = slog.New(log)
	bad := retrieval.Relevance{Profiles: []ranking.Profile{{Name: ranking.DefaultName,
		Lists: []ranking.List{{Retriever: "luck", Weight: 1, Depth: 1}}}}}
	if err := k.Publish(bad); err != nil {
		t.Fatalf("before an index is open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	wait.Until(t, "it answers by the configuration", func() bool { return found(t, k) == 5 })
	if !log.hold("what is published cannot be used: the configuration is in force") {
		t.Error("the log does not say so")
	}
	if err := k.Publish(bad); err == nil {
		t.Error("an open index takes it")
	}
	if err := k.Publish(retrieval.Relevance{Profiles: cfg.Profiles}); err != nil {
		t.Error(err)
	}
	cancel()
	if err := errors.Join(<-ended, k.Close()); err != nil {
		t.Error(err)
	}
}

// TestTheTransformerStandsIn starts an empty directory while the model's server is away for
// long: the table serves first, then the transformer, after a restart too, until the model is
// there.
func TestTheTransformerStandsIn(t *testing.T) {
	cfg, _ := newAuto(t, 30)
	model := newModelServer(t)
	model.down.Store(true)
	cfg.Embed = model.embed()
	run := func(k *Keeper, ctx context.Context) error {
		k.outage = 0
		return k.Run(ctx)
	}
	k := keep(t, KeeperConfig{Config: cfg}, run)
	wait.Until(t, "the table answers", func() bool { return k.serving.Load() != nil && k.Status(t.Context()).Ready })
	reader := keep(t, KeeperConfig{Config: cfg, Reader: true}, (*Keeper).Run)
	stands := func(k running) func() bool {
		return func() bool {
			st := k.Status(t.Context())
			return st.Model == transformer.Model && st.Ready && found(t, k) == 30
		}
	}
	wait.Until(t, "the transformer answers", stands(k))
	wait.Until(t, "the transformer answers in the reader", stands(reader))
	for name, k := range map[string]running{"writer": k, "reader": reader} {
		wait.Until(t, "it has every vector, and says what is missing: "+name, func() bool {
			down := k.Status(t.Context()).Down
			return len(down) == 1 && down[0].Engine == "embedder"
		})
	}
	put(t, cfg.Store, 30, 33)
	wait.Until(t, "it is fed", func() bool { return found(t, k) == 33 })
	k.stop()
	k = keep(t, KeeperConfig{Config: cfg}, run)
	wait.Until(t, "it answers after a restart", func() bool { return found(t, k) == 33 })
	if got := k.Status(t.Context()).Model; got != transformer.Model {
		t.Errorf("after a restart the model is %s", got)
	}

	model.held.Lock()
	model.down.Store(false)
	wait.Until(t, "the model embeds", func() bool { return model.asks.Load() > 0 })
	wait.Until(t, "the reader sees that it is back", func() bool {
		return !slices.ContainsFunc(reader.Status(t.Context()).Down, func(d retrieval.Down) bool {
			return d.Engine == "embedder"
		})
	})
	if got := k.Status(t.Context()).Model; got != transformer.Model {
		t.Errorf("until the model's index is complete the model is %s", got)
	}
	model.held.Unlock()
	for name, k := range map[string]running{"writer": k, "reader": reader} {
		wait.Until(t, "the configured model takes over: "+name, func() bool {
			st := k.Status(t.Context())
			return strings.HasPrefix(st.Model, "buoy-talk") && len(st.Down) == 0 && found(t, k) == 33
		})
	}
	wait.Until(t, "its index is the only one", func() bool { return len(generations(t, cfg.Store)) == 1 })
}

// TestAModelThatFailsWhileItsIndexIsBuilt goes away in the middle of the first index: the
// transformer takes the table's place; when the model is back its index is completed.
func TestAModelThatFailsWhileItsIndexIsBuilt(t *testing.T) {
	cfg, _ := newAuto(t, 30)
	model := newModelServer(t)
	model.shut.Lock()
	cfg.Embed = model.embed()
	k := keep(t, KeeperConfig{Config: cfg}, func(k *Keeper, ctx context.Context) error {
		k.retry, k.outage = time.Second, 500*time.Millisecond
		return k.Run(ctx)
	})
	wait.Until(t, "the table answers", func() bool { return found(t, k) == 30 })
	model.held.Lock()
	model.shut.Unlock()
	wait.Until(t, "the model embeds", func() bool { return model.asks.Load() > 0 })
	model.down.Store(true)
	model.held.Unlock()
	wait.Until(t, "the transformer serves", func() bool { return k.Status(t.Context()).Model == transformer.Model })
	model.down.Store(false)
	wait.Until(t, "the configured model takes over", func() bool {
		return strings.HasPrefix(k.Status(t.Context()).Model, "buoy-talk") && found(t, k) == 30
	})
}

// TestAServerWithoutTheModel: who writes and who reads serve by the table, and say once that the
// model is missing.
func TestAServerWithoutTheModel(t *testing.T) {
	var asked atomic.Int64
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/pull" {
			fmt.Fprintf(w, `{"error":"dial tcp: lookup models.example: no such host, request %d"}`, asked.Add(1))
			return
		}
		fmt.Fprint(w, `{"models":[]}`)
	}))
	defer ollama.Close()
	cfg := newConfig(t, 10)
	cfg.Embed = Embed{URL: ollama.URL, Kind: "ollama", Model: "buoy-talk", Pull: true}
	reader := keep(t, KeeperConfig{Config: cfg, Reader: true}, (*Keeper).Run)
	writer := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	for name, k := range map[string]running{"writer": writer, "reader": reader} {
		wait.Until(t, "it answers: "+name, func() bool { return found(t, k) == 10 })
		wait.Until(t, "the model is asked for again", func() bool { return asked.Load() > 9 })
		if down := k.Status(t.Context()).Down; len(down) != 1 || down[0].Public() != "model is missing" {
			t.Errorf("%s: down: %v", name, down)
		}
		if n := k.log.count("the index cannot be opened and is tried again"); n != 1 {
			t.Errorf("%s says %d times that there is no model", name, n)
		}
	}
}
