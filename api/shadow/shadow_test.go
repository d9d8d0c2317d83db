package shadow_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/api/shadow"
	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/retrieval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

// shelf finds three records, with a candidate in the other order, and keeps what it
// was asked.
type shelf struct {
	mu      sync.Mutex
	asked   []retrieval.Request
	hold    chan struct{} // nil: it answers at once
	degrade bool
	fail    error
}

func (s *shelf) Search(_ context.Context, r retrieval.Request) (retrieval.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	out := []retrieval.Result{{Record: 1}, {Record: 2}, {Record: 3}}
	if r.Relevance != nil {
		slices.Reverse(out)
	}
	res := retrieval.Response{Results: out}
	if s.degrade {
		res.Degraded = []string{"vector"}
	}
	return res, s.fail
}

func (*shelf) Status(context.Context) retrieval.Status { return retrieval.Status{Ready: true} }

func (s *shelf) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// disk is a catalog that takes no counts while it is full.
type disk struct {
	*sqlite.Store
	full  atomic.Bool
	tried atomic.Int64 // counts that it refused
}

func (d *disk) CountShadows(ctx context.Context, counts []catalog.ShadowCount) error {
	if d.full.Load() {
		d.tried.Add(1)
		return errors.New("no space left on the disk")
	}
	return d.Store.CountShadows(ctx, counts)
}

// stage is a searcher with a saved candidate on all searches.
type stage struct {
	*shadow.Searcher
	store        *disk
	live, beside *shelf
	stop         func() // Run, which writes what was counted
}

func open(t *testing.T) *stage {
	t.Helper()
	file, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	store := &disk{Store: file}
	p, err := profile.Load(profile.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	p.RankK = 7
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = revision.SaveProfile(t.Context(), store, catalog.Revision{Name: "mine", Data: string(data)})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{store: store, live: &shelf{}, beside: &shelf{}}
	s.set(t, "mine@1", 100)
	s.Searcher = shadow.New(s.live, s.beside,
		revision.Source{Store: store, Base: retrieval.Relevance{Profiles: []profile.Profile{p}}},
		slog.New(slog.NewTextHandler(t.Output(), nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	s.stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(s.stop)
	return s
}

func (s *stage) set(t *testing.T, candidate string, share int) {
	t.Helper()
	err := revision.SetShadow(t.Context(), s.store, revision.Shadow{Candidate: candidate, Share: share, By: "ada",
		Since: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

// ask searches as a call does, which ends with its answer.
func (s *stage) ask(t *testing.T, r retrieval.Request) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := s.Search(ctx, r)
	if err != nil || res.Results[0].Record != 1 {
		t.Errorf("the answer is %+v, %v", res, err)
	}
}

// until asks once a second, by the bubble's clock, until something holds.
func (s *stage) until(t *testing.T, r retrieval.Request, holds func() bool) {
	t.Helper()
	for range 60 {
		if holds() {
			return
		}
		s.ask(t, r)
		time.Sleep(time.Second)
	}
	t.Fatal("it does not hold after a minute")
}

func TestACandidateIsCountedAndNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.until(t, retrieval.Request{Query: "  Fees  ", Explain: true, Whole: 3},
			func() bool { return s.beside.times() > 2 })
		s.stop()
		if r := s.beside.asked[0]; r.Relevance == nil || r.Relevance.Profiles[0].RankK != 7 || r.Explain || r.Whole > 0 ||
			r.Query != "  Fees  " {
			t.Errorf("the candidate is asked %+v", r)
		}
		list, total, err := s.store.Shadows(t.Context(), revision.Configured, "mine@1", 0)
		if err != nil || len(list) != 1 {
			t.Fatalf("counted are %+v, %v", list, err)
		}
		x := list[0]
		if x.Query != "fees" || x.N != s.beside.times() || x.Jaccard != 1 || x.RBO <= 0.5 || x.RBO >= 1 ||
			!slices.Equal(x.Was, []int64{1, 2, 3}) || !slices.Equal(x.Would, []int64{3, 2, 1}) || total.N != x.N {
			t.Errorf("counted is %+v of %+v", x, total)
		}
	})
}

func TestNobodyWaitsForACandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.beside.hold = make(chan struct{})
		s.until(t, retrieval.Request{Query: "fees"}, func() bool { return s.beside.times() > 0 })
		for range 50 {
			s.ask(t, retrieval.Request{Query: "fees"}) // while the candidate searches
		}
		if n := s.beside.times(); n != 1 {
			t.Errorf("%d candidates search at once", n)
		}
		close(s.beside.hold)
		s.stop()
		_, total, err := s.store.Shadows(t.Context(), revision.Configured, "mine@1", 0)
		if err != nil || total.N != s.beside.times() {
			t.Errorf("counted are %+v, %v", total, err)
		}
	})
}

// TestWhatCannotBeWrittenWaits until the disk has room again, with what was counted
// meanwhile.
func TestWhatCannotBeWrittenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.store.full.Store(true)
		fees := retrieval.Request{Query: "fees"}
		for s.store.tried.Load() < 2 {
			s.until(t, fees, func() bool { return s.beside.times() > 0 })
			s.ask(t, fees)
			time.Sleep(time.Second) // of the bubble's clock
		}
		s.store.full.Store(false)
		s.stop()
		list, total, err := s.store.Shadows(t.Context(), revision.Configured, "mine@1", 0)
		if err != nil || len(list) != 1 || total.N != s.beside.times() || list[0].Jaccard != 1 {
			t.Errorf("counted are %+v of %d: %+v, %v", total, s.beside.times(), list, err)
		}
	})
}

func TestTheSettingIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		fees := retrieval.Request{Query: "fees"}
		s.until(t, fees, func() bool { return s.beside.times() > 0 })
		r, err := s.store.Publish(t.Context(),
			catalog.Publication{Kind: catalog.ProfileRevision, Name: "mine", Number: 1}, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.until(t, fees, func() bool { // what is in force is another, and counted so
			_, total, err := s.store.Shadows(t.Context(), r.Name+"@1", "mine@1", 0)
			return err == nil && total.N > 0
		})
		s.set(t, "", 0)
		off := func() bool {
			before := s.beside.times()
			for range 20 {
				s.ask(t, fees)
				synctest.Wait()
			}
			return s.beside.times() == before
		}
		s.until(t, fees, off)
	})
}

func TestWhatIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		fees := retrieval.Request{Query: "fees"}
		s.until(t, fees, func() bool { return s.beside.times() > 0 })
		// Of two in a row the second would be left out for being busy: each is waited for.
		count := func(r retrieval.Request) int {
			before := s.beside.times()
			for range 5 {
				ctx, cancel := context.WithCancel(t.Context())
				_, _ = s.Search(ctx, r)
				cancel()
				synctest.Wait()
			}
			return s.beside.times() - before
		}
		for name, r := range map[string]retrieval.Request{
			"a secret":      {Query: "password: hunter2"},
			"a second page": {Query: "fees", Offset: 10},
			"a comparison":  {Query: "fees", Relevance: &retrieval.Relevance{}},
			"a profile":     {Query: "fees", Profile: "keyword"},
		} {
			if n := count(r); n > 0 {
				t.Errorf("%s is tried %d times", name, n)
			}
		}
		s.live.degrade = true
		if n := count(fees); n > 0 {
			t.Errorf("a degraded answer is compared %d times", n)
		}
		s.live.degrade, s.live.fail = false, errors.New("down")
		if n := count(fees); n > 0 {
			t.Errorf("a failed search is compared %d times", n)
		}
	})
}

func TestOnlySharesAndRevisionsAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		for name, x := range map[string]revision.Shadow{"too much": {Candidate: "mine@1", Share: 101},
			"no revision": {Candidate: "mine@9", Share: 1}, "no number": {Candidate: "mine", Share: 1}} {
			if err := revision.SetShadow(t.Context(), s.store, x); err == nil {
				t.Errorf("%s is set", name)
			}
		}
		audit, err := s.store.Audit(t.Context(), 1)
		if err != nil || audit[0].Subject != "shadow" || audit[0].After != "mine@1 on 100 %" || audit[0].By != "ada" {
			t.Errorf("the audit log has %+v, %v", audit, err)
		}
	})
}
