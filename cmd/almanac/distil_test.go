package main

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/embed/distil"
	"almanac/embed/static"
	"almanac/testing/race"
)

// dense is what the nearest passages alone reach on a collection.
func dense(t *testing.T, dir string, env ...string) float64 {
	t.Helper()
	var r reportKeys
	if err := json.Unmarshal([]byte(succeed(t, env, "eval", "--judged", dir, "--json", "--profile", "dense")),
		&r); err != nil {
		t.Fatal(err)
	}
	return r.ndcg()
}

func TestDistilDerivesATable(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	judged := writeJudged(t, filepath.Join(dir, "harbour"), 120, 40, 1)
	out := filepath.Join(dir, "tables", "short")
	printed := succeed(t, nil, "distil", out, "--from", "built-in", "--idf", "corpus", "--dimensions", "3",
		"--judged", judged)
	e, err := static.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{e.Model(), "of 120 passages", "ALMANAC_EMBED_MODEL=" + out, "almanac eval"} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in %q", want, printed)
		}
	}
	// Three dimensions are too few to tell documents apart: so it is this
	// table that is searched with.
	with, without := dense(t, judged, "ALMANAC_EMBED_MODEL="+out), dense(t, judged)
	if with > without/2 {
		t.Errorf("nDCG@10 %.3f with three dimensions, %.3f with all", with, without)
	}
	if _, errOut, code := inProcess(t, []string{"ALMANAC_EMBED_MODEL=" + dir}, "eval", "--judged", judged); code != 1 ||
		!strings.Contains(errOut, "embedding model: static model "+dir) {
		t.Errorf("a directory without a table: exit code %d: %s", code, errOut)
	}
}

func TestDistilReadsTheDataDirectory(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	f := writeFixture(t, filepath.Join(dir, "fixture"), 160)
	env := []string{"ALMANAC_CORPUS=" + f.corpus}
	network := []string{"--network", f.network, "--data", filepath.Join(dir, "data")}
	out := filepath.Join(dir, "table")
	command := append(network, "distil", out, "--from", "built-in", "--idf", "corpus")
	if _, errOut, code := inProcess(t, env, command...); code != 1 || !strings.Contains(errOut, "almanac sync") {
		t.Errorf("before a sync: exit code %d: %s", code, errOut)
	}
	succeed(t, env, append(network, "sync")...)
	succeed(t, env, command...)
	env = append(env, "ALMANAC_EMBED_MODEL="+out)
	if found := succeed(t, env, append(network, "search", only(29))...); !strings.Contains(found, "1. ") {
		t.Errorf("found %q", found)
	}
	if _, errOut, code := inProcess(t, env, command...); code != 1 || !strings.Contains(errOut, "already exists") {
		t.Errorf("a second time: exit code %d: %s", code, errOut)
	}
}

// teacher is a model server of OpenAI's interface. A text's vector is the sum
// of its words', which their hashes give.
type teacher struct {
	*httptest.Server

	mu     sync.Mutex // guards all below
	asked  int        // texts
	most   int        // texts that are answered
	beyond chan struct{}
}

const unlimited = 1 << 30

func newTeacher(t *testing.T) *teacher {
	s := &teacher{most: unlimited, beyond: make(chan struct{}, 1)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.embeddings))
	t.Cleanup(s.Close)
	return s
}

// restart returns how many texts were requested and restarts the count.
func (s *teacher) restart(most int) (asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked, s.most = s.asked, 0, most
	return asked
}

func (s *teacher) embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked += len(request.Input)
	beyond := s.asked > s.most
	s.mu.Unlock()
	if beyond { // the client is killed
		select {
		case s.beyond <- struct{}{}:
		default:
		}
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		return
	}
	type datum struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []datum
	for i, text := range request.Input {
		v := make([]float32, 24)
		for word := range strings.FieldsSeq(text) {
			h := fnv.New64a()
			h.Write([]byte(strings.ToLower(word)))
			r := rand.New(rand.NewPCG(h.Sum64(), 1))
			for j := range v {
				v[j] += float32(r.NormFloat64()) + 0.2
			}
		}
		data = append(data, datum{i, v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // a client that is gone
}

// TestDistilGoesOnAfterAKill kills a run in the middle of the passages and
// wants the next one to ask for little more than the rest, and to make the same table as
// an undisturbed one.
func TestDistilGoesOnAfterAKill(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	judged := writeJudged(t, filepath.Join(dir, "harbour"), 600, 40, 1)
	vocabulary := filepath.Join(dir, "vocab.txt")
	known := slices.Compact(slices.Sorted(slices.Values(words)))
	writeFile(t, vocabulary, "[PAD]\n[UNK]\n##s\n?\n"+strings.Join(known, "\n")+"\n")
	server := newTeacher(t)
	env := environ(dir, "ALMANAC_EMBED_URL="+server.URL, "ALMANAC_EMBED_KIND=openai",
		"ALMANAC_EMBED_MODEL=harbour-talk")
	args := func(out string) []string {
		return []string{"distil", out, "--from", "configured", "--judged", judged, "--vocabulary", vocabulary}
	}
	whole, cut := filepath.Join(dir, "whole"), filepath.Join(dir, "cut")
	printed := must(t, env, args(whole)...)
	total := server.restart(400)
	for _, want := range []string{"in the program", "the new one", "learned from 540 passages, measured on 60 others",
		"ALMANAC_EMBED_MODEL=" + whole} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in %q", want, printed)
		}
	}
	var recipe distil.Recipe
	if err := json.Unmarshal(contents(t, whole, "recipe.json"), &recipe); err != nil {
		t.Fatal(err)
	}
	if recipe.After.Cosine < 0.95 || recipe.After.Cosine < recipe.Before.Cosine {
		t.Errorf("before %+v, after %+v", recipe.Before, recipe.After)
	}

	killed := exec.CommandContext(t.Context(), program(t), args(cut)...)
	killed.Env = env
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	<-server.beyond
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	server.restart(unlimited)
	must(t, env, args(cut)...)
	// Lost are at most the answers of one batch; another may still be on its
	// way to the server.
	if asked := server.restart(unlimited); asked == 0 || asked > total-400+64 {
		t.Errorf("%d texts requested after the kill, of %d in all", asked, total)
	}
	for _, name := range []string{"static24.npz", "vocab.txt"} {
		if !bytes.Equal(contents(t, whole, name), contents(t, cut, name)) {
			t.Errorf("%s differs from that of an undisturbed run", name)
		}
	}
}

func contents(t *testing.T, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDistilRefuses(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	judged := writeJudged(t, filepath.Join(dir, "harbour"), 10, 5, 1)
	out := filepath.Join(dir, "table")
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	tei := []string{"ALMANAC_EMBED_URL=" + server.URL, "ALMANAC_EMBED_KIND=tei"}
	for _, tt := range []struct {
		name string
		args []string
		env  []string
		code int
		want string
	}{
		{"no source", nil, nil, 2, "--from"},
		{"an unknown source", []string{"--from", "hearsay"}, nil, 2, "--from"},
		{"nothing to change", []string{"--from", "built-in"}, nil, 2, "the table is unchanged"},
		{"no server", []string{"--from", "configured"}, nil, 2, "ALMANAC_EMBED_URL"},
		{"frequencies for a learned table", []string{"--from", "configured", "--idf", "corpus"}, tei, 2, "--idf"},
		{"a vocabulary for the built-in table", []string{"--from", "built-in", "--idf", "corpus", "--vocabulary", "x"},
			nil, 2, "--vocabulary"},
		{"dimensions below 0", []string{"--from", "built-in", "--dimensions=-1"}, nil, 2, "--dimensions"},
		{"more dimensions than there are", []string{"--from", "built-in", "--dimensions", "257"}, nil, 1,
			"257 dimensions"},
		{"few passages", []string{"--from", "built-in", "--idf", "corpus", "--judged", judged}, nil, 1,
			"at least 100 passages"},
		{"no documents", []string{"--from", "built-in", "--idf", "corpus", "--judged", dir}, nil, 1, "corpus.jsonl"},
		{"no vocabulary", []string{"--from", "configured", "--vocabulary", filepath.Join(dir, "none")}, tei, 1,
			"vocabulary"},
		{"another kind of server", []string{"--from", "configured"}, tei, 1, "404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			printed, errOut, code := inProcess(t, tt.env, append([]string{"distil", out}, tt.args...)...)
			if code != tt.code || !strings.Contains(errOut, tt.want) || printed != "" {
				t.Errorf("exit code %d, want %d: %s%s", code, tt.code, printed, errOut)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a table is left behind")
			}
		})
	}
}
