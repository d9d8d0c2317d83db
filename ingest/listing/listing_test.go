package listing_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/listing"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

var day = time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)

func TestStale(t *testing.T) {
	s := listing.State{Swept: day, List: listing.Validators{ETag: "l"}, Items: map[string]listing.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Stamp: "1", Validators: listing.Validators{ETag: `"1"`},
			Date: day, Own: true},
		"b": {Unlisted: true, Bare: true},
	}}
	want := listing.State{Items: map[string]listing.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Date: day, Own: true, Pending: true},
		"b": {Unlisted: true, Bare: true, Pending: true},
	}}
	if diff := cmp.Diff(want, s.Stale()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// sink collects the output of a run.
type sink struct {
	ingest.Sink
	put, kept, skipped, warned []string
	items                      []string // that have no record
}

func (s *sink) Put(_ context.Context, e catalog.Entry) error {
	s.put = append(s.put, e.Record.Key)
	return nil
}
func (s *sink) Keep(r catalog.Ref) { s.kept = append(s.kept, r.Key) }
func (s *sink) Skip(locator string, err error) {
	if errors.Is(err, ingest.ErrNoItem) {
		s.items = append(s.items, locator)
	} else {
		s.skipped = append(s.skipped, locator)
	}
}
func (s *sink) Warn(locator, _ string) { s.warned = append(s.warned, locator) }
func (s *sink) Progress(int, int)      {}

// record is what items of these tests become.
func record(key string) catalog.Entry { return catalog.Entry{Record: catalog.Record{Key: key}} }

func TestEach(t *testing.T) {
	server := connectortest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		switch {
		case strings.HasPrefix(r.URL.Path, "/gone"):
			w.WriteHeader(http.StatusGone)
		case strings.HasPrefix(r.URL.Path, "/broken"):
			w.WriteHeader(http.StatusForbidden)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	seen := listing.Seen{Key: "key", Stamp: "1", Validators: listing.Validators{ETag: `"1"`}}
	bare := func() (catalog.Entry, error) { return record("bare"), nil }
	noBare := func() (catalog.Entry, error) { return catalog.Entry{}, errors.New("nothing is said of it") }
	open := func() ([]byte, error) { return []byte("text"), nil }
	const put, kept, skipped, warned, gone, unwanted = "put", "kept", "skipped", "warned", "gone", "unwanted"
	const noItem = "has no record"
	tests := map[string]struct {
		old   func(*listing.Seen) // nil: it is not known
		item  func(*listing.Item)
		sweep bool
		asked int
		want  []string
		now   func(*listing.Seen) // of seen; nil: it is forgotten
	}{
		"same":        {old: func(*listing.Seen) {}, want: []string{kept}, now: func(*listing.Seen) {}},
		"same, swept": {old: func(*listing.Seen) {}, sweep: true, asked: 1, want: []string{kept}, now: func(*listing.Seen) {}},
		"undated": {old: func(s *listing.Seen) { s.Stamp = "" }, item: func(it *listing.Item) { it.Stamp = "" }, asked: 1,
			want: []string{kept}, now: func(s *listing.Seen) { s.Stamp = "" }},
		"changed": {old: func(s *listing.Seen) { s.Stamp = "0" }, asked: 1, want: []string{put}, now: func(*listing.Seen) {}},
		"pending": {old: func(s *listing.Seen) { s.Pending = true }, asked: 1, want: []string{put},
			now: func(*listing.Seen) {}},
		"new": {asked: 1, want: []string{put}, now: func(*listing.Seen) {}},
		"incomplete": {item: func(it *listing.Item) { it.Pending = true }, asked: 1, want: []string{put},
			now: func(s *listing.Seen) { s.Stamp, s.ETag, s.Pending = "", "", true }},
		"gone": {old: func(s *listing.Seen) { s.Stamp = "0" }, item: func(it *listing.Item) { it.Name = "gone" }, asked: 1,
			want: []string{warned, gone}},
		"gone, but of the options": {old: func(*listing.Seen) {}, sweep: true, asked: 1,
			item: func(it *listing.Item) { it.Name, it.Own = "gone", true }, want: []string{kept, skipped},
			now: func(s *listing.Seen) { s.Pending = true }},
		"broken": {old: func(s *listing.Seen) { s.Stamp = "0" }, item: func(it *listing.Item) { it.Name = "broken" },
			asked: 1, want: []string{kept, skipped}, now: func(s *listing.Seen) { s.Stamp, s.Pending = "0", true }},
		"broken and new": {item: func(it *listing.Item) { it.Name = "broken" }, asked: 1, want: []string{skipped}},
		"broken, with a record": {old: func(s *listing.Seen) { s.Stamp = "0" }, asked: 1, want: []string{kept, skipped},
			item: func(it *listing.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *listing.Seen) { s.Stamp, s.Pending = "0", true }},
		"broken and new, but said of": {asked: 1, want: []string{put, warned},
			item: func(it *listing.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *listing.Seen) { *s = listing.Seen{Key: "bare", Pending: true, Bare: true} }},
		"broken again": {old: func(s *listing.Seen) { s.Bare, s.Pending = true, true }, asked: 1, want: []string{put, warned},
			item: func(it *listing.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *listing.Seen) { *s = listing.Seen{Key: "bare", Pending: true, Bare: true} }},
		"broken, and nothing is said": {asked: 1, want: []string{skipped, warned},
			item: func(it *listing.Item) { it.Name, it.Bare = "broken", noBare }},
		"unwanted": {item: func(it *listing.Item) { it.Name = unwanted }, asked: 1, want: []string{noItem},
			now: func(s *listing.Seen) { s.Key, s.LeftOut = "", "not read" }},
		"unwanted, unchanged": {old: func(s *listing.Seen) { s.Key, s.LeftOut = "", "not read: a copy" },
			want: []string{noItem}, now: func(s *listing.Seen) { s.Key, s.LeftOut = "", "not read: a copy" }},
		"opened": {item: func(it *listing.Item) { it.Open = open }, want: []string{put},
			now: func(s *listing.Seen) { s.ETag = "" }},
		"opened, the same": {old: func(*listing.Seen) {}, item: func(it *listing.Item) { it.Open = open },
			want: []string{kept}, now: func(*listing.Seen) {}},
		"opened, the same text": {old: func(s *listing.Seen) { s.Stamp = listing.Stamp([]byte("text")) },
			item: func(it *listing.Item) { it.Stamp, it.Open = "", open }, want: []string{kept},
			now: func(s *listing.Seen) { s.Stamp = listing.Stamp([]byte("text")) }},
		"opened, another text": {old: func(s *listing.Seen) {},
			item: func(it *listing.Item) { it.Stamp, it.Open = "", open }, want: []string{put},
			now: func(s *listing.Seen) { s.Stamp, s.ETag = listing.Stamp([]byte("text")), "" }},
		"not opened": {old: func(*listing.Seen) {}, want: []string{kept, skipped},
			item: func(it *listing.Item) {
				it.Stamp, it.Open = "", func() ([]byte, error) { return nil, fs.ErrNotExist }
			}, now: func(s *listing.Seen) { s.Pending = true }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			it := listing.Item{Name: "a", Stamp: "1"}
			if tt.item != nil {
				tt.item(&it)
			}
			if it.Open == nil {
				it.Address = server.URL + "/" + it.Name
			}
			known := listing.State{Swept: day, List: listing.Validators{ETag: "l"}, Items: map[string]listing.Seen{}}
			if tt.old != nil {
				old := seen
				old.Address = it.Address
				tt.old(&old)
				known.Items[it.Name] = old
			}
			now := day.Add(time.Hour)
			if tt.sweep {
				now = now.Add(24 * time.Hour)
			}
			out := &sink{}
			env := ingest.Environment{HTTP: connectortest.Client(t), Now: func() time.Time { return now }}
			r := listing.NewRun(env, catalog.KindBlog, 24*time.Hour, known, out)
			server.Paths()
			err := r.Each(connectortest.Impatient(t.Context()), []listing.Item{it},
				func(int, outbound.Response) (catalog.Entry, error) {
					if it.Name == unwanted {
						return catalog.Entry{}, ingest.ErrNoItem
					}
					return record("key"), nil
				})
			state, outcome, err := r.Done(true, err)
			if err != nil || !outcome.Complete {
				t.Errorf("%v, complete %v", err, outcome.Complete)
			}
			if n := len(server.Paths()); n != tt.asked {
				t.Errorf("%d requests", n)
			}
			var got []string
			for what, list := range map[string][]string{put: out.put, kept: out.kept, skipped: out.skipped, warned: out.warned,
				noItem: out.items} {
				for range list {
					got = append(got, what)
				}
			}
			for range outcome.Gone {
				got = append(got, gone)
			}
			slices.Sort(tt.want)
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			want := map[string]listing.Seen{}
			if tt.now != nil {
				now := seen
				tt.now(&now)
				now.Address, now.Own = it.Address, it.Own && !slices.Contains(tt.want, kept)
				want[it.Name] = now
			}
			if diff := cmp.Diff(want, state.Items); diff != "" {
				t.Errorf("remembered (-want +got)\n%s", diff)
			}
		})
	}
}

// pages are items of a server.
func pages(server *connectortest.Server, names ...string) (items []listing.Item) {
	for _, name := range names {
		items = append(items, listing.Item{Name: name, Address: server.URL + "/" + name})
	}
	return items
}

// TestOneHostThatIsDownEndsNoRun: items that lead to a server that does not
// answer stand between those of another.
func TestOneHostThatIsDownEndsNoRun(t *testing.T) {
	up := connectortest.NewServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	down := connectortest.NewServer(t, http.NotFoundHandler())
	down.Fault("/", -1, connectortest.Slow)
	out := &sink{}
	r := listing.NewRun(ingest.Environment{HTTP: connectortest.Client(t)}, catalog.KindBlog, 0, listing.State{}, out)
	items := slices.Concat(pages(down, "a", "b", "c"), pages(up, "d"), pages(down, "e", "f", "g", "h"), pages(up, "i"))
	err := r.Each(connectortest.Impatient(t.Context()), items, func(int, outbound.Response) (catalog.Entry, error) {
		return record("key"), nil
	})
	_, outcome, err := r.Done(true, err)
	if err != nil || len(out.put) != 2 || len(down.Paths()) != 5 || outcome.Complete ||
		!slices.Equal(out.skipped, []string{"a", "b", "c", "e", "f", "the rest"}) {
		t.Errorf("%v, %d read, complete %v, skipped %v", err, len(out.put), outcome.Complete, out.skipped)
	}
}

// TestAListWithAPendingItemIsReadAgain: the list may be the same.
func TestAListWithAPendingItemIsReadAgain(t *testing.T) {
	for _, pending := range []bool{false, true} {
		r := listing.NewRun(ingest.Environment{}, catalog.KindBlog, 0, listing.State{}, &sink{})
		r.Now.List = listing.Validators{ETag: "l"}
		r.Now.Items["a"], r.Now.Items["b"] = listing.Seen{Pending: pending}, listing.Seen{}
		if state, _, err := r.Done(false, nil); err != nil || (state.List == listing.Validators{}) != pending {
			t.Errorf("pending %v: %+v, %v", pending, state.List, err)
		}
	}
}
