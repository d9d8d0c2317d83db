package listing_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/listing"
	"almanac/testing/connectortest"
)

var day = time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC)

func TestMemory(t *testing.T) {
	dir := t.TempDir()
	m := listing.Memory{Settings: "s", State: listing.State{Swept: day, Items: map[string]listing.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Stamp: "1", Validators: listing.Validators{ETag: `"1"`},
			Date: day, Own: true},
		"b": {Unlisted: true},
	}}}
	first, err := m.Remember(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, listing.Recall(dir, first, "s")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again, err := m.Remember(dir, first); err != nil || again != first {
		t.Errorf("the same memory: %q, %v, want %q", again, err, first)
	}
	other := listing.Recall(dir, first, "other")
	want := listing.Memory{Settings: "other", State: listing.State{Items: map[string]listing.Seen{
		"a": {Key: "A", Address: "https://example.org/a", Date: day, Own: true, Pending: true},
		"b": {Unlisted: true, Pending: true},
	}}}
	if diff := cmp.Diff(want, other); diff != "" {
		t.Errorf("under other settings (-want +got)\n%s", diff)
	}
	// The file of the previous cursor is kept until the next run; older ones are removed.
	cursors := []string{first}
	for i := range 3 {
		m.Swept = m.Swept.Add(time.Hour)
		c, err := m.Remember(dir, cursors[i])
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, c)
	}
	for i, kept := range []bool{false, false, true, true} {
		if got := len(listing.Recall(dir, cursors[i], "s").Items) > 0; got != kept {
			t.Errorf("memory %d is there: %v", i, got)
		}
	}
	for name, cursor := range map[string]string{"none": "", "a path": "../../etc/passwd",
		"no file": "0123456789abcdef0123456789abcdef"} {
		if got := listing.Recall(dir, cursor, "s"); len(got.Items) != 0 || got.Items == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "seen-"+cursors[3]), []byte(`{"settings":"s","items":{"x":{}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := listing.Recall(dir, cursors[3], "s"); len(got.Items) != 0 {
		t.Errorf("a damaged file: %v", got)
	}
	if _, err := m.Remember(filepath.Join(dir, "nowhere"), ""); err == nil {
		t.Error("remembered in a directory that is not there")
	}
}

// sink collects the output of a run.
type sink struct {
	ingest.Sink
	kept, skipped []string
}

func (s *sink) Keep(r catalog.Ref)           { s.kept = append(s.kept, r.Key) }
func (s *sink) Skip(locator string, _ error) { s.skipped = append(s.skipped, locator) }

func TestAsk(t *testing.T) {
	server := connectortest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		switch {
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusGone)
		case r.URL.Path == "/broken":
			w.WriteHeader(http.StatusForbidden)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	known := func() listing.State {
		items := map[string]listing.Seen{}
		for _, name := range []string{"same", "undated", "changed", "pending", "gone", "broken"} {
			items[name] = listing.Seen{Key: "key of " + name, Stamp: "1", Address: server.URL + "/" + name,
				Validators: listing.Validators{ETag: `"1"`}}
		}
		for name, f := range map[string]func(*listing.Seen){
			"undated": func(s *listing.Seen) { s.Stamp = "" }, "pending": func(s *listing.Seen) { s.Pending = true },
			"gone": func(s *listing.Seen) { s.Stamp = "0" }, "broken": func(s *listing.Seen) { s.Stamp = "0" },
		} {
			s := items[name]
			f(&s)
			items[name] = s
		}
		return listing.State{Swept: day, Items: items}
	}
	tests := map[string]struct {
		stamp       string
		sweep       bool
		state       listing.Found
		asked, kept bool
	}{
		"same": {"1", false, listing.Kept, false, true}, "same, swept": {"1", true, listing.Kept, true, true},
		"undated": {"", false, listing.Kept, true, true},
		"changed": {"2", false, listing.Fresh, true, false}, "pending": {"1", false, listing.Fresh, true, false},
		"new":  {"1", false, listing.Fresh, true, false},
		"gone": {"1", false, listing.Gone, true, false}, "broken": {"1", false, listing.Failed, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "same, swept" {
				name = "same"
			}
			out := &sink{}
			now := day.Add(time.Hour)
			if tt.sweep {
				now = now.Add(24 * time.Hour)
			}
			r := listing.NewRun(listing.Config{HTTP: connectortest.Client(t), Out: out, Kind: catalog.KindBlog,
				Known: known(), Sweep: 24 * time.Hour, Now: now})
			server.Paths()
			it := listing.Item{Name: name, Address: server.URL + "/" + name, Stamp: tt.stamp}
			_, state, err := r.Ask(connectortest.Impatient(t.Context()), it)
			if state != tt.state || (err != nil) != (state == listing.Failed) {
				t.Errorf("state %d, %v; want %d", state, err, tt.state)
			}
			if asked := len(server.Paths()) > 0; asked != tt.asked || (len(out.kept) > 0) != tt.kept {
				t.Errorf("requested %v, kept %v", asked, out.kept)
			}
			if state == listing.Failed {
				r.Fail(it, err)
				if diff := cmp.Diff([][]string{{"broken"}, {"key of broken"}},
					[][]string{out.skipped, out.kept}); diff != "" || !r.Now.Items["broken"].Pending {
					t.Errorf("failed (-want +got)\n%s", diff)
				}
			}
			want := []catalog.Ref(nil)
			if state == listing.Gone {
				want = []catalog.Ref{{Kind: catalog.KindBlog, Key: "key of gone"}}
			}
			if diff := cmp.Diff(want, r.Gone(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("gone (-want +got)\n%s", diff)
			}
		})
	}
}

func TestServersThatAreDown(t *testing.T) {
	server := connectortest.NewServer(t, http.NotFoundHandler())
	server.Fault("/", -1, connectortest.Slow)
	r := listing.NewRun(listing.Config{HTTP: connectortest.Client(t), Out: &sink{}, Kind: catalog.KindBlog,
		Known: listing.State{Items: map[string]listing.Seen{"i": {Key: "i"}}}})
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		if _, state, err := r.Ask(connectortest.Impatient(t.Context()),
			listing.Item{Name: name, Address: server.URL + "/" + name}); (state == listing.Failed) != (name <= "e") {
			t.Errorf("%s: state %d, %v", name, state, err)
		}
	}
	if err := r.Close(); err == nil || r.Whole() || !r.Now.Items["i"].Pending {
		t.Errorf("%v, whole %v, %+v", err, r.Whole(), r.Now.Items)
	}
	if n := len(server.Paths()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestOneHostThatIsDownEndsNoRun: items that lead to a server that does not
// answer stand between those of another.
func TestOneHostThatIsDownEndsNoRun(t *testing.T) {
	up := connectortest.NewServer(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	down := connectortest.NewServer(t, http.NotFoundHandler())
	down.Fault("/", -1, connectortest.Slow)
	out := &sink{}
	r := listing.NewRun(listing.Config{HTTP: connectortest.Client(t), Out: out, Kind: catalog.KindBlog,
		Known: listing.State{Items: map[string]listing.Seen{}}})
	fresh := 0
	for n := range 20 {
		server := down
		if n%10 == 9 {
			server = up
		}
		_, state, _ := r.Ask(connectortest.Impatient(t.Context()),
			listing.Item{Name: fmt.Sprint(n), Address: fmt.Sprintf("%s/%d", server.URL, n)})
		if state == listing.Fresh {
			fresh++
		}
	}
	if err := r.Close(); err != nil || fresh != 2 || len(down.Paths()) != 5 || len(out.skipped) != 1 {
		t.Errorf("%v, %d read, %d requests to the server that is down, skipped %v", err, fresh, len(down.Paths()),
			out.skipped)
	}
}
