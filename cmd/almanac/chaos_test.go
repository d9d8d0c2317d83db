package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"almanac/api/limit"
	"almanac/testing/meilitest"
	"almanac/testing/port"
	"almanac/testing/qdranttest"
	"almanac/testing/soak"
	"almanac/testing/wait"
)

// link is a proxy between the program and one of its servers.
type link struct{ *toxiproxy.Proxy }

// newLink leads to the server of an address.
func newLink(tb testing.TB, address string) link {
	tb.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := link{toxiproxy.NewProxy(server, tb.Name(), port.Keep(tb), hostOf(tb, address))}
	tb.Cleanup(l.Stop)
	l.up(tb)
	return l
}

func hostOf(tb testing.TB, address string) string {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	return u.Host
}

// toxic spoils the answers of the server until the link is healed.
func (l link) toxic(tb testing.TB, kind string, attributes map[string]int) {
	tb.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "attributes": attributes})
	if err == nil {
		_, err = l.Toxics.AddToxicJson(strings.NewReader(string(text)))
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// silence holds every answer back.
func (l link) silence(tb testing.TB) {
	l.toxic(tb, "latency", map[string]int{"latency": int(time.Hour / time.Millisecond)})
}

// up waits until the address is free: a process that another test starts has the
// closed listener, too, until it becomes its program.
func (l link) up(tb testing.TB) {
	tb.Helper()
	wait.Until(tb, "the link listens", func() bool {
		err := l.Start()
		if err != nil && !errors.Is(err, syscall.EADDRINUSE) {
			tb.Fatal(err)
		}
		return err == nil
	})
}

// world is the program with all of its engines on servers.
type world struct {
	site
	*server // the program, while it runs
	links   map[string]link
	words   *meilitest.Server
	vectors *qdranttest.Server

	documents int
	changed   int // times that the corpus was
	phase     string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	const documents = 48
	w := &world{documents: documents, words: meilitest.Start(t), vectors: qdranttest.Start(t), links: map[string]link{}}
	model := newModelServer(t, nil)
	// A deadline that is longer than the default: a server that works on a busy machine is not taken for one that is silent.
	settings := append(model.settings(), "ALMANAC_SYNC=false", "ALMANAC_SEARCH_DEADLINE=10s", "ALMANAC_SEARCH_PROFILE=default")
	for section, address := range map[string]string{
		"keyword": w.words.URL, "vector": "http://" + w.vectors.Addr, "embed": model.URL,
	} {
		w.links[section] = newLink(t, address)
		settings = append(settings, "ALMANAC_"+strings.ToUpper(section)+"_URL=http://"+w.links[section].Listen)
	}
	w.site = newSite(t, documents, settings...)
	w.run(t, "sync")
	w.begin(t)
	w.recovers(t)
	return w
}

// begin starts the program and waits until it answers.
func (w *world) begin(t *testing.T) {
	t.Helper()
	w.server = w.serve(t)
	w.ready(t)
}

// answers searches for something new, and finds something without the engines.
func (w *world) answers(t *testing.T, without ...string) {
	t.Helper()
	r := w.search(t, fmt.Sprintf("beacon harbour %d", time.Now().UnixNano()))
	if len(r.Items) == 0 || !slices.Equal(r.Degraded, without) {
		t.Errorf("%s: %d results, without %v", w.phase, len(r.Items), r.Degraded)
	}
}

// askTogether searches as often at once as a server that is silent holds searches up
// before it is left alone: they wait together. Few processors may refuse some of them.
func (w *world) askTogether(t *testing.T) {
	t.Helper()
	var all errgroup.Group
	for n := range 3 {
		all.Go(func() error {
			status, _, body := w.get(t, fmt.Sprintf("/api/v1/search?q=beacon+harbour+%d", n))
			if status != http.StatusOK && !strings.Contains(body, limit.ErrBusy.Error()) {
				return fmt.Errorf("%s: %d %s", w.phase, status, body)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

// until waits for something, and searches meanwhile: there is always an answer.
func (w *world) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	wait.Until(t, w.phase+": "+what, func() bool {
		w.degraded(t)
		return holds()
	})
}

// down are the engines that everybody is told of.
func (s *server) down(tb testing.TB) (engines []string) {
	tb.Helper()
	for _, sentence := range getJSON[struct{ Down []string }](tb, s, "/ready").Down {
		engine, _, _ := strings.Cut(sentence, " ")
		engines = append(engines, engine)
	}
	slices.Sort(engines)
	return engines
}

// change adds documents to the corpus, renews a page, takes one away and syncs.
func (w *world) change(t *testing.T) {
	t.Helper()
	w.documents += 8
	w.changed++
	w.writeBut(t, w.documents, func(n int, text string) string {
		switch {
		case n%8 == 1 && n/8 < w.changed:
			return ""
		case n%8 == 2 && n/8 < w.changed:
			return "# Renewed\n\n## Notes on " + only(1000+n) + "\n\nA beacon of the harbour.\n"
		}
		return text
	})
	w.run(t, "sync")
}

// sees reports whether searches know the corpus as it is: by their own words
// all that is new is found, and nothing that is gone.
func (w *world) sees(t *testing.T) bool {
	t.Helper()
	for page := w.documents - 7; page < w.documents; page++ {
		if page%4 != 0 && !w.finds(t, page) {
			return false
		}
	}
	gone, renewed := 8*(w.changed-1)+1, 8*(w.changed-1)+2
	return w.search(t, only(1000+renewed)).has(renewed) && !w.finds(t, gone)
}

// recovers waits until everything takes part again, and has what the catalog has and nothing else.
func (w *world) recovers(t *testing.T) {
	t.Helper()
	w.phase += ", over"
	w.until(t, "everything answers again", func() bool { return len(w.degraded(t)) == 0 && len(w.down(t)) == 0 })
	want := slices.Sorted(maps.Keys(w.passages(t)))
	// What is replaced goes when the replacement is there.
	w.until(t, "the engines hold what the catalog has", func() bool {
		return slices.Equal(w.words.Passages(), want) && slices.Equal(w.vectors.Passages(), want)
	})
	if w.changed > 0 && !w.sees(t) {
		t.Errorf("%s: the last change is not seen", w.phase)
	}
}

// trouble is what happens to a server while the corpus changes.
type trouble struct {
	name       string
	begin, end func()
	writes     bool // only these fail, so that it takes a change to notice
}

// suffers goes through a trouble with the server of an engine, and wants answers
// from the rest and nothing lost afterwards.
func (w *world) suffers(t *testing.T, engine string, x trouble) {
	t.Helper()
	without := engine
	if engine == "embedder" {
		without = "vector"
	}
	w.phase = engine + " " + x.name
	x.begin()
	if x.writes {
		w.change(t)
	}
	w.askTogether(t)
	w.until(t, "it says what is down", func() bool { return slices.Contains(w.down(t), engine) })
	for range 5 {
		w.answers(t, without)
	}
	for _, other := range w.down(t) {
		if other != engine && other != without {
			t.Errorf("%s: it says that %s is down", w.phase, other)
		}
	}
	if !x.writes {
		w.change(t)
	}
	w.until(t, "the change is seen", func() bool { return w.sees(t) })
	x.end()
	w.recovers(t)
}

// troubles are what can happen between the program and a server.
func (w *world) troubles(t *testing.T, l link) []trouble {
	heal := func() { l.Toxics.ResetToxics(t.Context()) }
	again := func(broken func()) func() {
		return func() {
			w.stop(t)
			broken()
			w.begin(t)
		}
	}
	silence := func() { l.silence(t) }
	return []trouble{
		{name: "down", begin: l.Stop, end: func() { l.up(t) }},
		{name: "silent", begin: silence, end: heal},
		{name: "down at start", begin: again(l.Stop), end: func() { l.up(t) }},
		{name: "resets", begin: func() { l.toxic(t, "reset_peer", nil) }, end: heal},
		{name: "silent at start", begin: again(silence), end: heal},
	}
}

// empty takes everything from a server, as a restart with an empty disk does.
func (w *world) empty(t *testing.T, lose func()) {
	w.phase = "emptied"
	lose()
	w.change(t)
	w.until(t, "the change is seen", func() bool { return w.sees(t) })
	w.recovers(t)
}

// forgets restarts the model server without its model.
func (w *world) forgets(t *testing.T) {
	l := w.links["embed"]
	restart := func(upstream string) func() {
		return func() {
			l.Stop()
			l.Upstream = upstream
			l.up(t)
		}
	}
	w.suffers(t, "embedder", trouble{name: "without its model", end: restart(l.Upstream),
		begin: restart(hostOf(t, anotherModel(t)))})
}

// TestChaos breaks each server in each way that servers break: in `make soak`; else in one way that differs by server.
// Answers go on from what is left and say so, changes of the corpus are taken, and what is whole again has everything
// and nothing else.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what the program leaves alone for seconds")
	}
	t.Parallel()
	for i, engine := range []string{"keyword", "vector", "embedder"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			all := w.troubles(t, w.links[strings.TrimSuffix(engine, "der")])
			for n := range soak.Rounds(len(all)) {
				w.suffers(t, engine, all[(i+n)%len(all)])
			}
			full := func(fill func(bool)) {
				w.suffers(t, engine, trouble{name: "full", begin: func() { fill(true) }, end: func() { fill(false) }, writes: true})
			}
			switch engine {
			case "keyword":
				w.empty(t, w.words.Empty)
				full(w.words.Full)
			case "vector":
				w.empty(t, w.vectors.Empty)
				full(w.vectors.Full)
			default:
				w.forgets(t)
			}
		})
	}
}

// TestBothEnginesAway: while neither Meilisearch nor Qdrant answers, also when the
// program starts, searches are answered from memory and say so, changes are
// seen, and /ready stays 200.
func TestBothEnginesAway(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what the program leaves alone for seconds")
	}
	t.Parallel()
	w := newWorld(t)
	w.phase = "both engines down"
	w.links["keyword"].Stop()
	w.links["vector"].Stop()
	w.answers(t, "keyword", "vector")
	w.until(t, "it says what is down", func() bool { return len(w.down(t)) == 2 })
	w.change(t)
	w.until(t, "the change is seen", func() bool { return w.sees(t) })
	w.stop(t)
	w.begin(t)
	w.answers(t, "keyword", "vector")
	w.links["keyword"].up(t)
	w.links["vector"].up(t)
	w.recovers(t)
}
