package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/qdrant/go-client/qdrant"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"almanac/api/admit"
	"almanac/catalog/datadir"
	"almanac/retrieval/corpus"
	"almanac/retrieval/passage"
	"almanac/testing/meilitest"
	"almanac/testing/port"
	"almanac/testing/qdranttest"
	"almanac/testing/soak"
	"almanac/testing/wait"
)

// searchDeadline is how long a search waits for a server that is silent. It is longer
// than by default, so that a server that works is not taken for one that is silent
// on a busy machine. How long searches take is logged.
const searchDeadline = 10 * time.Second

// link is a proxy between the program and one of its servers.
type link struct{ *toxiproxy.Proxy }

func newLink(tb testing.TB, upstream string) link {
	tb.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := link{toxiproxy.NewProxy(server, tb.Name(), port.Keep(tb), upstream)}
	tb.Cleanup(l.Stop)
	l.up(tb)
	return l
}

// toxic applies a toxic to the answers of the server.
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

// silence holds every answer back until the link is healed.
func (l link) silence(tb testing.TB) {
	l.toxic(tb, "latency", map[string]int{"latency": int(time.Hour / time.Millisecond)})
}

func (l link) reset(tb testing.TB) { l.toxic(tb, "reset_peer", nil) }
func (l link) heal(tb testing.TB)  { l.Toxics.ResetToxics(tb.Context()) }

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

// world is the program with all of its engines on servers: real ones where
// the environment names them, else stand-ins.
type world struct {
	site
	*server // the program, while it runs
	links   map[string]link
	name    string // of what is on the servers

	meili struct {
		url, key string
		standIn  *meilitest.Server // nil: a real one
	}
	qdrant struct {
		points  qdrant.PointsClient
		names   qdrant.CollectionsClient
		key     string
		standIn *qdranttest.Server // nil: a real one
	}

	documents int
	gone      []int // pages that were there
	renewed   []int // pages of another text now
	phase     string
	phases    []string

	mu   sync.Mutex                 // guards took
	took map[string][]time.Duration // of searches, by phase
}

const firstDocuments = 48

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{site: newSite(t, firstDocuments, "ALMANAC_SYNC=false",
		"ALMANAC_SEARCH_DEADLINE="+searchDeadline.String(),
		"ALMANAC_SEARCH_PROFILE=default" /* its embedder is no transformer */), links: map[string]link{},
		documents: firstDocuments, took: map[string][]time.Duration{},
		name: fmt.Sprintf("almanac-chaos-%d-%d", os.Getpid(), time.Now().UnixNano())}

	w.meili.url, w.meili.key = os.Getenv("ALMANAC_TEST_MEILI_URL"), os.Getenv("ALMANAC_TEST_MEILI_KEY")
	if w.meili.url == "" {
		w.meili.standIn = meilitest.Start(t)
		w.meili.url = w.meili.standIn.URL
	}
	address := os.Getenv("ALMANAC_TEST_QDRANT_ADDR")
	w.qdrant.key = os.Getenv("ALMANAC_TEST_QDRANT_KEY")
	if address == "" {
		w.qdrant.standIn = qdranttest.Start(t)
		address = w.qdrant.standIn.Addr
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w.qdrant.points, w.qdrant.names = qdrant.NewPointsClient(conn), qdrant.NewCollectionsClient(conn)
	model := newModelServer(t, nil)
	t.Cleanup(func() {
		w.lose(t, "keyword")
		w.lose(t, "vector")
	})

	w.links["keyword"] = newLink(t, hostOf(t, w.meili.url))
	w.links["vector"] = newLink(t, address)
	w.links["embedder"] = newLink(t, hostOf(t, model.URL))
	w.env = append(w.env, model.settings()...)
	for side, l := range w.links {
		section := cmp.Or(map[string]string{"embedder": "embed"}[side], side)
		w.env = append(w.env, "ALMANAC_"+strings.ToUpper(section)+"_URL=http://"+l.Listen)
	}
	w.env = append(w.env, "ALMANAC_KEYWORD_INDEX="+w.name, "ALMANAC_KEYWORD_KEY="+w.meili.key,
		"ALMANAC_VECTOR_COLLECTION="+w.name, "ALMANAC_VECTOR_KEY="+w.qdrant.key)
	w.run(t, "sync")
	w.begin(t)
	w.recovers(t)
	return w
}

func hostOf(tb testing.TB, address string) string {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	return u.Host
}

// begin starts the program and waits until it answers.
func (w *world) begin(t *testing.T) {
	t.Helper()
	w.server = w.serve(t)
	w.ready(t)
}

// in names what is going on from here on.
func (w *world) in(phase string) {
	w.phase = phase
	w.phases = append(w.phases, phase)
}

// reply is an answer to a search.
type reply struct {
	Items    []struct{ Key string }
	Degraded []string
}

func (r reply) has(page int) bool {
	return slices.ContainsFunc(r.Items, func(i struct{ Key string }) bool { return i.Key == pageKey(page) })
}

func pageKey(page int) string { return fmt.Sprintf("manual/page-%03d.md", page) }

// answer searches. There is always an answer.
func (w *world) answer(query string) (r reply, err error) {
	begun := time.Now()
	res, err := client.Get(w.base + "/api/v1/search?limit=5&q=" + url.QueryEscape(query))
	if err != nil {
		return r, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	w.mu.Lock()
	w.took[w.phase] = append(w.took[w.phase], time.Since(begun))
	w.mu.Unlock()
	if err := errors.Join(err, json.Unmarshal(body, &r)); err != nil || res.StatusCode != http.StatusOK {
		return r, fmt.Errorf("%s: %q: %d %s, %v", w.phase, query, res.StatusCode, body, err)
	}
	return r, nil
}

// ask is answer for one search.
func (w *world) ask(t *testing.T, query string) reply {
	t.Helper()
	r, err := w.answer(query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// askTogether searches as often at once as a server that is silent holds searches up
// before it is left alone: they wait together. Few processors may refuse some of them.
func (w *world) askTogether(t *testing.T) {
	t.Helper()
	var all errgroup.Group
	for n := range 3 {
		all.Go(func() error {
			_, err := w.answer(fmt.Sprintf("beacon harbour %d of 3", n))
			if err != nil && strings.Contains(err.Error(), admit.ErrBusy.Error()) {
				return nil
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
}

// askAnew searches for something that was not searched for before, and finds
// something.
func (w *world) askAnew(t *testing.T) reply {
	t.Helper()
	r := w.ask(t, fmt.Sprintf("beacon harbour %d", time.Now().UnixNano()))
	if len(r.Items) == 0 {
		t.Errorf("%s: nothing is found", w.phase)
	}
	return r
}

// until waits for something, and searches meanwhile.
func (w *world) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	wait.Until(t, w.phase+": "+what, func() bool {
		w.askAnew(t)
		return holds()
	})
}

// down returns what /status says of the engines, as soon as /ready says the same:
// between the two an engine may break or come back.
func (w *world) down(t *testing.T) (reasons map[string]string) {
	t.Helper()
	type engine struct{ Engine, Reason string }
	wait.Until(t, w.phase+": /status and /ready name the same engines", func() bool {
		status := getJSON[struct{ Index struct{ Down []engine } }](t, w.server, "/status")
		ready := getJSON[struct{ Down []string }](t, w.server, "/ready")
		reasons = map[string]string{}
		for _, d := range status.Index.Down {
			reasons[d.Engine] = d.Reason
		}
		named := map[string]bool{}
		for _, sentence := range ready.Down {
			engine, _, _ := strings.Cut(sentence, " ")
			named[engine] = true
		}
		return maps.EqualFunc(reasons, named, func(string, bool) bool { return true })
	})
	return reasons
}

// change adds pages, a proposal and a note to the corpus, renews a page, takes
// one away and syncs.
func (w *world) change(t *testing.T) {
	t.Helper()
	w.documents += 8
	w.gone = append(w.gone, 1+8*len(w.gone))
	w.renewed = append(w.renewed, 2+8*len(w.renewed))
	w.write(t, w.documents)
	name := filepath.Join(w.corpus, "manifest.jsonl")
	texts := map[string]string{} // of renewed pages
	for _, page := range w.renewed {
		texts[pageKey(page)] = fmt.Sprintf("# Renewed\n\n## Notes on %s\n\nA beacon of the harbour.\n",
			renewedWord(page))
	}
	var manifest bytes.Buffer
	for line := range bytes.Lines(read(t, name)) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		path := row["path"].(string)
		if slices.ContainsFunc(w.gone, func(page int) bool { return path == pageKey(page) }) {
			continue
		}
		if text, ok := texts[path]; ok {
			writeFile(t, filepath.Join(w.corpus, filepath.FromSlash(path)), text)
			sum := sha256.Sum256([]byte(text))
			row["sha256"], row["bytes"] = hex.EncodeToString(sum[:]), len(text)
			var err error
			if line, err = json.Marshal(row); err != nil {
				t.Fatal(err)
			}
			line = append(line, '\n')
		}
		manifest.Write(line)
	}
	writeFile(t, name, manifest.String())
	w.run(t, "sync")
}

// renewedWord is the word that a page has alone when it is renewed.
func renewedWord(page int) string { return only(1000 + page) }

// sees reports whether searches know the corpus as it is: by their own words
// all that is new is found, and nothing that is gone.
func (w *world) sees(t *testing.T) bool {
	t.Helper()
	for page := w.documents - 7; page < w.documents; page++ {
		if page%4 != 0 && !w.ask(t, only(page)).has(page) {
			return false
		}
	}
	last := w.renewed[len(w.renewed)-1]
	if !w.ask(t, renewedWord(last)).has(last) {
		return false
	}
	return !w.ask(t, only(w.gone[len(w.gone)-1])).has(w.gone[len(w.gone)-1])
}

// recovers waits until everything takes part again, and compares.
func (w *world) recovers(t *testing.T) {
	t.Helper()
	w.until(t, "everything answers again",
		func() bool { return len(w.askAnew(t).Degraded) == 0 && len(w.down(t)) == 0 })
	want := w.passages(t)
	found := ""
	defer func() {
		if found != "" {
			t.Logf("%s: of %d passages %s", w.phase, len(want), found)
		}
	}()
	// What is replaced goes when the replacement is there.
	w.until(t, "the engines hold what the catalog has", func() bool {
		found = difference("keyword", w.scrollKeyword(t), want) + difference("vector", w.scrollVector(t), want)
		if names := w.indexes(t); len(names) != 1 || names[0] != w.name {
			found += fmt.Sprintf("the indexes are %v; ", names)
		}
		return found == ""
	})
	if len(w.gone) > 0 && !w.sees(t) {
		t.Errorf("%s: the last change is not seen afterwards", w.phase)
	}
}

// difference says what an engine lacks and what it has that it should not.
func difference(engine string, have, want []int64) string {
	if slices.Equal(have, want) {
		return ""
	}
	without := func(of, others []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(of), func(id int64) bool { return slices.Contains(others, id) })
	}
	return fmt.Sprintf("%s has %d, lacks %v, has besides %v; ", engine, len(have), without(want, have),
		without(have, want))
}

// passages are those of the catalog's last generation.
func (w *world) passages(t *testing.T) (ids []int64) {
	t.Helper()
	store, err := datadir.Catalog{Dir: w.data}.Open(t.Context(), "buoys", false)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Generations(t.Context())
	if err == nil {
		err = store.ScanDocuments(t.Context(), all[len(all)-1].ID, func(record int64, data []byte) error {
			d, err := corpus.Decode(record, string(data))
			for o := 0; err == nil && o < d.Len(); o++ {
				ids = append(ids, int64(passage.NewID(record, o)))
			}
			return err
		})
	}
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

// keywordServer sends a request to the keyword server, past the proxy. It returns
// false if the server has no such thing.
func (w *world) keywordServer(tb testing.TB, method, path string, answer any) bool {
	tb.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(tb.Context()), method, w.meili.url+path, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	if w.meili.key != "" {
		r.Header.Set("Authorization", "Bearer "+w.meili.key)
	}
	res, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		return false
	}
	if err := json.NewDecoder(res.Body).Decode(answer); err != nil || res.StatusCode >= http.StatusBadRequest {
		tb.Fatalf("%s %s: %d, %v", method, path, res.StatusCode, err)
	}
	return true
}

// signed is the context of calls to the vector server, past the proxy.
func (w *world) signed(tb testing.TB) context.Context {
	return metadata.AppendToOutgoingContext(context.WithoutCancel(tb.Context()), "api-key", w.qdrant.key)
}

// indexes are ours on the keyword server.
func (w *world) indexes(tb testing.TB) (names []string) {
	tb.Helper()
	var list struct{ Results []struct{ UID string } }
	w.keywordServer(tb, http.MethodGet, "/indexes?limit=1000", &list)
	for _, x := range list.Results {
		if strings.HasPrefix(x.UID, w.name) {
			names = append(names, x.UID)
		}
	}
	return names
}

// scrollKeyword returns every passage that the keyword server holds for us. One
// that is promoted meanwhile changes its name, and is seen the next time.
func (w *world) scrollKeyword(t *testing.T) (ids []int64) {
	t.Helper()
	const limit = 1000
	for _, name := range w.indexes(t) {
		for offset := 0; ; offset += limit {
			var page struct{ Results []struct{ ID string } }
			if !w.keywordServer(t, http.MethodGet,
				fmt.Sprintf("/indexes/%s/documents?fields=id&limit=%d&offset=%d", name, limit, offset), &page) {
				break
			}
			for _, d := range page.Results {
				if id, err := strconv.ParseInt(d.ID, 10, 64); err == nil { // else the mark
					ids = append(ids, id)
				}
			}
			if len(page.Results) < limit {
				break
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// collections are ours on the vector server.
func (w *world) collections(t *testing.T) (names []string) {
	t.Helper()
	list, err := w.qdrant.names.List(w.signed(t), &qdrant.ListCollectionsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.GetCollections() {
		if strings.HasPrefix(c.GetName(), w.name) {
			names = append(names, c.GetName())
		}
	}
	return names
}

// scrollVector returns every passage that the vector server holds for us. One that
// is replaced meanwhile is deleted.
func (w *world) scrollVector(t *testing.T) (ids []int64) {
	t.Helper()
	for _, name := range w.collections(t) {
		for offset := (*qdrant.PointId)(nil); ; {
			page, err := w.qdrant.points.Scroll(w.signed(t),
				&qdrant.ScrollPoints{CollectionName: name, Limit: qdrant.PtrOf(uint32(1000)), Offset: offset,
					WithPayload: qdrant.NewWithPayload(true)})
			if status.Code(err) == codes.NotFound {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page.GetResult() {
				if p.GetPayload()["checkpoint"] == nil {
					ids = append(ids, int64(p.GetId().GetNum()))
				}
			}
			if offset = page.GetNextPageOffset(); offset == nil {
				break
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// lose takes everything from a server, as a restart with an empty disk does.
func (w *world) lose(t *testing.T, side string) {
	t.Helper()
	switch {
	case side == "keyword" && w.meili.standIn != nil:
		w.meili.standIn.Empty()
	case side == "keyword":
		for _, name := range w.indexes(t) {
			var task struct{ TaskUID int }
			w.keywordServer(t, http.MethodDelete, "/indexes/"+name, &task)
			wait.Until(t, "the index is gone", func() bool {
				var done struct{ Status string }
				w.keywordServer(t, http.MethodGet, fmt.Sprintf("/tasks/%d", task.TaskUID), &done)
				return done.Status != "enqueued" && done.Status != "processing"
			})
		}
	case w.qdrant.standIn != nil:
		w.qdrant.standIn.Empty()
	default:
		for _, name := range w.collections(t) {
			if _, err := w.qdrant.names.Delete(w.signed(t),
				&qdrant.DeleteCollection{CollectionName: name}); err != nil {
				t.Error(err)
			}
		}
	}
}

// trouble is what happens to a server while the corpus changes.
type trouble struct {
	name       string
	begin, end func()
	writes     bool // only these fail, so that it takes a change to notice
}

// suffers goes through a trouble with the server of a side, and wants answers
// from the rest and nothing lost afterwards.
func (w *world) suffers(t *testing.T, side string, x trouble) {
	t.Helper()
	without := cmp.Or(map[string]string{"embedder": "vector"}[side], side)
	w.in(side + " " + x.name)
	x.begin()
	if x.writes {
		w.change(t)
	}
	w.askTogether(t)
	w.until(t, "it says what is down", func() bool { return w.down(t)[side] != "" })
	for range 5 {
		if r := w.askAnew(t); fmt.Sprint(r.Degraded) != "["+without+"]" {
			t.Errorf("%s: answers are without %v", w.phase, r.Degraded)
		}
	}
	for engine, reason := range w.down(t) {
		t.Logf("%s: %s: %s", w.phase, engine, reason)
		if engine != side && engine != without {
			t.Errorf("%s: it says that %s is down: %s", w.phase, engine, reason)
		}
	}
	if !x.writes {
		w.change(t)
	}
	w.until(t, "the change is seen", func() bool { return w.sees(t) })
	x.end()
	w.in(side + " " + x.name + ", over")
	w.recovers(t)
}

// report logs how long searches took, by phase.
func (w *world) report(t *testing.T) {
	for _, phase := range w.phases {
		took := slices.Sorted(slices.Values(w.took[phase]))
		if len(took) > 0 {
			t.Logf("%-36s %4d searches, median %4d ms, longest %4d ms", phase, len(took),
				took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds())
		}
	}
}

// network is what can happen between the program and a server. Where not every round
// is wanted the sides suffer something different each.
func (w *world) network(t *testing.T, side string) {
	l := w.links[side]
	heal := func() { l.heal(t) }
	all := []trouble{
		{name: "down", begin: l.Stop, end: func() { l.up(t) }},
		{name: "silent", begin: func() { l.silence(t) }, end: heal},
		{name: "resets", begin: func() { l.reset(t) }, end: heal},
		{name: "down at start", end: func() { l.up(t) }, begin: func() {
			w.stop(t)
			l.Stop()
			w.begin(t)
		}},
		{name: "silent at start", end: heal, begin: func() {
			w.stop(t)
			l.silence(t)
			w.begin(t)
		}},
	}
	first := slices.Index([]string{"keyword", "vector", "embedder"}, side)
	for i := range soak.Rounds(len(all)) {
		w.suffers(t, side, all[(first+i)%len(all)])
	}
}

// forgets restarts the model server without its model.
func (w *world) forgets(t *testing.T) {
	l := w.links["embedder"]
	whole := l.Upstream
	restart := func(upstream string) {
		l.Stop()
		l.Upstream = upstream
		l.up(t)
	}
	w.suffers(t, "embedder", trouble{name: "empty", end: func() { restart(whole) }, begin: func() {
		restart(hostOf(t, refuses(http.StatusNotFound, noModel)(t)))
	}})
}

// disk is what can happen to what a server holds.
func (w *world) disk(t *testing.T, side string) {
	w.in(side + " empty")
	w.lose(t, side)
	w.askAnew(t)
	w.change(t)
	w.until(t, "the change is seen", func() bool { return w.sees(t) })
	w.recovers(t)
	if w.meili.standIn == nil || w.qdrant.standIn == nil {
		return // real servers cannot be made to
	}
	fill := map[string]func(bool){"keyword": w.meili.standIn.Full, "vector": w.qdrant.standIn.Full}[side]
	w.suffers(t, side, trouble{name: "full", begin: func() { fill(true) }, end: func() { fill(false) }, writes: true})
	if side == "keyword" {
		w.settings(t)
	} else {
		w.formats(t)
	}
}

// settings gives the keyword server's index the settings of another version, and takes
// its mark. Both are put right without a word from anybody.
func (w *world) settings(t *testing.T) {
	t.Helper()
	of := func() string {
		var settings json.RawMessage
		if !w.keywordServer(t, http.MethodGet, "/indexes/"+w.name+"/settings", &settings) {
			t.Fatalf("there is no index %s", w.name)
		}
		return string(settings)
	}
	ours := of()
	for _, x := range []struct {
		version string
		change  func(settings map[string]any)
	}{
		{"older", func(settings map[string]any) {
			settings["filterableAttributes"] = []any{"record", "kind"}
			settings["rankingRules"] = []any{"words", "typo", "proximity"}
		}},
		{"newer", func(settings map[string]any) {
			settings["typoTolerance"] = map[string]any{"enabled": map[string]any{"words": true}} // of another form
			settings["rankingRules"] = []any{"words", "freshness"}
		}},
	} {
		w.in("keyword settings " + x.version)
		w.meili.standIn.ChangeSettings(x.change)
		w.change(t)
		w.until(t, "the settings are ours and the change is seen", func() bool { return of() == ours && w.sees(t) })
		w.recovers(t)
	}
	w.in("keyword mark lost")
	w.meili.standIn.Lose("mark")
	w.change(t)
	w.until(t, "the index is built again and the change is seen", func() bool { return w.sees(t) })
	w.recovers(t)
}

// formats gives the program a collection that another version wrote. That
// is refused, not searched, until it is removed.
func (w *world) formats(t *testing.T) {
	t.Helper()
	for version, weighting := range map[string]string{"older": "0", "newer": "1000"} {
		w.suffers(t, "vector",
			trouble{name: "of a format " + version, end: func() { w.lose(t, "vector") }, begin: func() {
				w.stop(t)
				w.qdrant.standIn.ChangeCollections(func(info *qdrant.CollectionInfo) {
					info.GetConfig().GetMetadata()["almanac_weighting"] = qdrant.NewValueString(weighting)
				})
				w.begin(t)
			}})
	}
}

// TestChaos breaks each server in each way that servers break. Answers go on
// from what is left and say so, changes of the corpus are taken, and what is
// whole again has everything and nothing else.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what the program leaves alone for seconds")
	}
	t.Parallel()
	var all errgroup.Group // most of the time they wait
	if os.Getenv("ALMANAC_TEST_MEILI_URL") != "" {
		all.SetLimit(2) // but the servers do not
	}
	for name, test := range map[string]func(*testing.T, *world){
		"keyword network":  func(t *testing.T, w *world) { w.network(t, "keyword") },
		"vector network":   func(t *testing.T, w *world) { w.network(t, "vector") },
		"embedder network": func(t *testing.T, w *world) { w.network(t, "embedder") },
		"keyword disk":     func(t *testing.T, w *world) { w.disk(t, "keyword") },
		"vector disk":      func(t *testing.T, w *world) { w.disk(t, "vector") },
		"embedder disk":    func(t *testing.T, w *world) { w.forgets(t) },
	} {
		all.Go(func() error {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				defer w.report(t)
				test(t, w)
			})
			return nil
		})
	}
	_ = all.Wait() // there are no errors
}
