package ingest_test

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
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

var listedOn = time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)

func TestStale(t *testing.T) {
	s := ingest.Items{Swept: listedOn, List: ingest.Validators{ETag: "l"}, Items: map[string]ingest.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Stamp: "1", Validators: ingest.Validators{ETag: `"1"`},
			Date: listedOn, Own: true},
		"b": {Unlisted: true, Bare: true},
	}}
	want := ingest.Items{Items: map[string]ingest.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Date: listedOn, Own: true, Pending: true},
		"b": {Unlisted: true, Bare: true, Pending: true},
	}}
	if diff := cmp.Diff(want, s.Stale()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// listed collects the output of a run.
type listed struct {
	ingest.Sink
	put, kept, skipped, warned []string
	items                      []string // that have no record
}

func (s *listed) Put(_ context.Context, e catalog.Entry) error {
	s.put = append(s.put, e.Record.Key)
	return nil
}
func (s *listed) Keep(r catalog.Ref) { s.kept = append(s.kept, r.Key) }
func (s *listed) Skip(locator string, err error) {
	if errors.Is(err, ingest.ErrNoItem) {
		s.items = append(s.items, locator)
	} else {
		s.skipped = append(s.skipped, locator)
	}
}
func (s *listed) Warn(locator, _ string) { s.warned = append(s.warned, locator) }
func (s *listed) Progress(int, int)      {}

// titled is what items of these tests become.
func titled(key string) catalog.Entry { return catalog.Entry{Record: catalog.Record{Key: key}} }

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
	seen := ingest.Seen{Key: "key", Stamp: "1", Validators: ingest.Validators{ETag: `"1"`}}
	bare := func() (catalog.Entry, error) { return titled("bare"), nil }
	noBare := func() (catalog.Entry, error) { return catalog.Entry{}, errors.New("nothing is said of it") }
	open := func() ([]byte, error) { return []byte("text"), nil }
	const put, kept, skipped, warned, gone, unwanted = "put", "kept", "skipped", "warned", "gone", "unwanted"
	const noItem = "has no record"
	tests := map[string]struct {
		old   func(*ingest.Seen) // nil: it is not known
		item  func(*ingest.Item)
		sweep bool
		asked int
		want  []string
		now   func(*ingest.Seen) // of seen; nil: it is forgotten
	}{
		"same":        {old: func(*ingest.Seen) {}, want: []string{kept}, now: func(*ingest.Seen) {}},
		"same, swept": {old: func(*ingest.Seen) {}, sweep: true, asked: 1, want: []string{kept}, now: func(*ingest.Seen) {}},
		"undated": {old: func(s *ingest.Seen) { s.Stamp = "" }, item: func(it *ingest.Item) { it.Stamp = "" }, asked: 1,
			want: []string{kept}, now: func(s *ingest.Seen) { s.Stamp = "" }},
		"changed": {old: func(s *ingest.Seen) { s.Stamp = "0" }, asked: 1, want: []string{put}, now: func(*ingest.Seen) {}},
		"pending": {old: func(s *ingest.Seen) { s.Pending = true }, asked: 1, want: []string{put},
			now: func(*ingest.Seen) {}},
		"new": {asked: 1, want: []string{put}, now: func(*ingest.Seen) {}},
		"incomplete": {item: func(it *ingest.Item) { it.Pending = true }, asked: 1, want: []string{put},
			now: func(s *ingest.Seen) { s.Stamp, s.ETag, s.Pending = "", "", true }},
		"gone": {old: func(s *ingest.Seen) { s.Stamp = "0" }, item: func(it *ingest.Item) { it.Name = "gone" }, asked: 1,
			want: []string{warned, gone}},
		"gone, but of the options": {old: func(*ingest.Seen) {}, sweep: true, asked: 1,
			item: func(it *ingest.Item) { it.Name, it.Own = "gone", true }, want: []string{kept, skipped},
			now: func(s *ingest.Seen) { s.Pending = true }},
		"broken": {old: func(s *ingest.Seen) { s.Stamp = "0" }, item: func(it *ingest.Item) { it.Name = "broken" },
			asked: 1, want: []string{kept, skipped}, now: func(s *ingest.Seen) { s.Stamp, s.Pending = "0", true }},
		"broken and new": {item: func(it *ingest.Item) { it.Name = "broken" }, asked: 1, want: []string{skipped}},
		"broken, with a record": {old: func(s *ingest.Seen) { s.Stamp = "0" }, asked: 1, want: []string{kept, skipped},
			item: func(it *ingest.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *ingest.Seen) { s.Stamp, s.Pending = "0", true }},
		"broken and new, but said of": {asked: 1, want: []string{put, warned},
			item: func(it *ingest.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *ingest.Seen) { *s = ingest.Seen{Key: "bare", Pending: true, Bare: true} }},
		"broken again": {old: func(s *ingest.Seen) { s.Bare, s.Pending = true, true }, asked: 1, want: []string{put, warned},
			item: func(it *ingest.Item) { it.Name, it.Bare = "broken", bare },
			now:  func(s *ingest.Seen) { *s = ingest.Seen{Key: "bare", Pending: true, Bare: true} }},
		"broken, and nothing is said": {asked: 1, want: []string{skipped, warned},
			item: func(it *ingest.Item) { it.Name, it.Bare = "broken", noBare }},
		"unwanted": {item: func(it *ingest.Item) { it.Name = unwanted }, asked: 1, want: []string{noItem},
			now: func(s *ingest.Seen) { s.Key, s.LeftOut = "", "not read" }},
		"unwanted, unchanged": {old: func(s *ingest.Seen) { s.Key, s.LeftOut = "", "not read: a copy" },
			want: []string{noItem}, now: func(s *ingest.Seen) { s.Key, s.LeftOut = "", "not read: a copy" }},
		"opened": {item: func(it *ingest.Item) { it.Open = open }, want: []string{put},
			now: func(s *ingest.Seen) { s.ETag = "" }},
		"opened, the same": {old: func(*ingest.Seen) {}, item: func(it *ingest.Item) { it.Open = open },
			want: []string{kept}, now: func(*ingest.Seen) {}},
		"opened, the same text": {old: func(s *ingest.Seen) { s.Stamp = ingest.Digest([]byte("text")) },
			item: func(it *ingest.Item) { it.Stamp, it.Open = "", open }, want: []string{kept},
			now: func(s *ingest.Seen) { s.Stamp = ingest.Digest([]byte("text")) }},
		"opened, another text": {old: func(s *ingest.Seen) {},
			item: func(it *ingest.Item) { it.Stamp, it.Open = "", open }, want: []string{put},
			now: func(s *ingest.Seen) { s.Stamp, s.ETag = ingest.Digest([]byte("text")), "" }},
		"not opened": {old: func(*ingest.Seen) {}, want: []string{kept, skipped},
			item: func(it *ingest.Item) {
				it.Stamp, it.Open = "", func() ([]byte, error) { return nil, fs.ErrNotExist }
			}, now: func(s *ingest.Seen) { s.Pending = true }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			it := ingest.Item{Name: "a", Stamp: "1"}
			if tt.item != nil {
				tt.item(&it)
			}
			if it.Open == nil {
				it.Address = server.URL + "/" + it.Name
			}
			known := ingest.Items{Swept: listedOn, List: ingest.Validators{ETag: "l"}, Items: map[string]ingest.Seen{}}
			if tt.old != nil {
				old := seen
				old.Address = it.Address
				tt.old(&old)
				known.Items[it.Name] = old
			}
			now := listedOn.Add(time.Hour)
			if tt.sweep {
				now = now.Add(24 * time.Hour)
			}
			out := &listed{}
			env := ingest.Environment{HTTP: connectortest.Client(t), Now: func() time.Time { return now }}
			r := ingest.NewListing(env, catalog.KindBlog, 24*time.Hour, known, out)
			server.Paths()
			err := r.Each(connectortest.Impatient(t.Context()), []ingest.Item{it},
				func(int, outbound.Response) (catalog.Entry, error) {
					if it.Name == unwanted {
						return catalog.Entry{}, ingest.ErrNoItem
					}
					return titled("key"), nil
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
			want := map[string]ingest.Seen{}
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

// addressed are items of a server.
func addressed(server *connectortest.Server, names ...string) (items []ingest.Item) {
	for _, name := range names {
		items = append(items, ingest.Item{Name: name, Address: server.URL + "/" + name})
	}
	return items
}

// TestOneHostThatIsDownEndsNoRun: items that lead to a server that does not
// answer stand between those of another.
func TestOneHostThatIsDownEndsNoRun(t *testing.T) {
	up := connectortest.NewServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	down := connectortest.NewServer(t, http.NotFoundHandler())
	down.Fault("/", -1, connectortest.Slow)
	out := &listed{}
	r := ingest.NewListing(ingest.Environment{HTTP: connectortest.Client(t)}, catalog.KindBlog, 0, ingest.Items{}, out)
	items := slices.Concat(addressed(down, "a", "b", "c"), addressed(up, "d"), addressed(down, "e", "f", "g", "h"), addressed(up, "i"))
	err := r.Each(connectortest.Impatient(t.Context()), items, func(int, outbound.Response) (catalog.Entry, error) {
		return titled("key"), nil
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
		r := ingest.NewListing(ingest.Environment{}, catalog.KindBlog, 0, ingest.Items{}, &listed{})
		r.Now.List = ingest.Validators{ETag: "l"}
		r.Now.Items["a"], r.Now.Items["b"] = ingest.Seen{Pending: pending}, ingest.Seen{}
		if state, _, err := r.Done(false, nil); err != nil || (state.List == ingest.Validators{}) != pending {
			t.Errorf("pending %v: %+v, %v", pending, state.List, err)
		}
	}
}
