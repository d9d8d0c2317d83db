package forge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/ingest/outbound"
)

type listed struct {
	Number    int       `json:"number"`
	UpdatedAt time.Time `json:"updated_at"`
}

// shifting is a list of issues in the forge's order and pages. Between the
// responses items change, which moves them to the end and all others forward.
type shifting struct {
	items []*listed
	moves []int
	clock time.Time
	size  int
}

func (s *shifting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("since"))
	var items []*listed
	for _, i := range s.items {
		if !i.UpdatedAt.Before(since) {
			items = append(items, i)
		}
	}
	slices.SortStableFunc(items, func(a, b *listed) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.Number, b.Number))
	})
	page, _ := strconv.Atoi(q.Get("page"))
	start := min(max(page-1, 0)*s.size, len(items))
	end := min(start+s.size, len(items))
	if end < len(items) {
		w.Header().Set("Link", `<https://forge.example.org/next>; rel="next"`)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(items[start:end])
	if len(s.moves) > 0 {
		s.clock = s.clock.Add(time.Second)
		s.items[s.moves[0]].UpdatedAt = s.clock
		s.moves = s.moves[1:]
	}
}

// TestNothingIsLostWhilePagesMove reads feeds whose items change between the
// requests, and then what changed since.
func TestNothingIsLostWhilePagesMove(t *testing.T) {
	t.Parallel()
	http := outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	defer http.Close()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		s := &shifting{clock: start.Add(2 * time.Hour), size: rapid.IntRange(3, 5).Draw(t, "size")}
		for n := range rapid.IntRange(1, 30).Draw(t, "items") {
			s.items = append(s.items, &listed{n + 1, start.Add(time.Duration(n) * time.Second)})
		}
		s.moves = rapid.SliceOfN(rapid.IntRange(0, len(s.items)-1), 0, 12).Draw(t, "moves")
		server := httptest.NewServer(s)
		defer server.Close()
		known := map[int]time.Time{} // what a catalog would have
		read := func(since time.Time) (upTo time.Time) {
			c := &client{http: http, access: access{API: server.URL}, now: time.Now,
				cache: cache{dir: t.Name() + "/no such directory", now: time.Now}}
			once := map[int]bool{}
			err := feed[listed]{
				path: "/issues", since: since, reached: func(t time.Time) { upTo = t },
				stamp: func(l listed) (int64, time.Time) { return int64(l.Number), l.UpdatedAt },
				bad:   func(raw json.RawMessage, err error) { t.Fatalf("%s: %v", raw, err) },
				items: func(items []listed) error {
					for _, i := range items {
						if once[i.Number] {
							return fmt.Errorf("item %d twice", i.Number)
						}
						once[i.Number], known[i.Number] = true, i.UpdatedAt
					}
					return nil
				},
			}.read(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return upTo
		}
		upTo := read(time.Time{})
		if len(known) != len(s.items) {
			t.Fatalf("read %d of %d items: %v", len(known), len(s.items), known)
		}
		s.moves = nil
		read(upTo)
		for _, i := range s.items {
			if !known[i.Number].Equal(i.UpdatedAt) {
				t.Fatalf("item %d is known as of %s, not %s", i.Number, known[i.Number], i.UpdatedAt)
			}
		}
	})
}

func TestAnEndlessListFails(t *testing.T) {
	t.Parallel()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n++
		w.Header().Set("Link", `<https://forge.example.org/next>; rel="next"`)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]listed{{n, time.Date(2001, 1, 1, 0, 0, 2*n, 0, time.UTC)}})
	}))
	defer server.Close()
	http := outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	defer http.Close()
	err := feed[listed]{
		path: "/issues", reached: func(time.Time) {},
		bad:   func(raw json.RawMessage, err error) { t.Errorf("%s: %v", raw, err) },
		stamp: func(l listed) (int64, time.Time) { return int64(l.Number), l.UpdatedAt },
		items: func([]listed) error { return nil },
	}.read(t.Context(), &client{http: http, access: access{API: server.URL}, now: time.Now,
		cache: cache{dir: t.TempDir(), now: time.Now}})
	if !errors.Is(err, errEndless) || n != maxPages {
		t.Errorf("after %d pages: %v", n, err)
	}
}
