package ollama_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"almanac/embed"
	"almanac/embed/ollama"
	"almanac/testing/recordingtest"
)

// server returns the base URL of an Ollama with the model all-minilm: the one
// at ALMANAC_TEST_OLLAMA_URL, or a recording of one.
func server(t *testing.T, file string) string {
	t.Helper()
	return recordingtest.HTTP(t, file, os.Getenv("ALMANAC_TEST_OLLAMA_URL"),
		recordingtest.Options{Server: "Ollama 0.9.6"})
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestRealServer(t *testing.T) {
	e := open(t, ollama.Config{URL: server(t, "testdata/embed.jsonl"), Model: "all-minilm"})
	if !regexp.MustCompile(`^all-minilm:latest@[0-9a-f]{12}, 384 dimensions$`).MatchString(e.Model()) ||
		e.Dimensions() != 384 {
		t.Errorf("model %s, %d dimensions", e.Model(), e.Dimensions())
	}
	texts := []string{
		"A validator joins the Causeway Network with a signed onboarding request.",
		"The ferry to the island leaves at noon and carries no cars.",
		"",
		"Überweisung in Höhe von 5 € – naïve café ☕ 日本語",
		// more than the model holds
		strings.Repeat("A validator joins the Causeway Network with a signed onboarding request. ", 60),
	}
	got, err := e.Embed(t.Context(), texts, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		want := 1.0
		if texts[i] == "" {
			want = 0
		}
		if length := math.Sqrt(cosine(v, v)); len(v) != 384 || math.Abs(length-want) > 1e-5 {
			t.Errorf("text %d: %d dimensions, length %g, want %g", i, len(v), length, want)
		}
	}
	query, err := e.Embed(t.Context(), []string{"How do I become a validator?"}, embed.Query)
	if err != nil {
		t.Fatal(err)
	}
	near, far, long := cosine(query[0], got[0]), cosine(query[0], got[1]), cosine(query[0], got[4])
	if near < far+0.3 || long < far+0.3 {
		t.Errorf("cosine %.3f with the answer, %.3f with another text, %.3f with a long one", near, far, long)
	}
}

func TestRealServerWithoutTheModel(t *testing.T) {
	_, err := ollama.Open(t.Context(), ollama.Config{URL: server(t, "testdata/missing.jsonl"), Model: "no-such-model"})
	sentence(t, err, "does not have the model no-such-model:latest: it has to be pulled first with `ollama pull "+
		"no-such-model:latest`")
	if !errors.Is(err, ollama.ErrNoModel) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkPassages measures a live server with passages of the usual length.
func BenchmarkPassages(b *testing.B) {
	live := os.Getenv("ALMANAC_TEST_OLLAMA_URL")
	if live == "" {
		b.Skip("ALMANAC_TEST_OLLAMA_URL names no server")
	}
	e, err := ollama.Open(b.Context(),
		ollama.Config{URL: live, Model: cmp.Or(os.Getenv("ALMANAC_TEST_OLLAMA_MODEL"), "all-minilm")})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("a validator joins the network with signed onboarding requests and every operator keeps " +
		"its own ledger of contracts which the synchronizer never sees")
	texts := make([]string, 32)
	for i := range texts {
		passage := make([]string, 180)
		for j := range passage {
			passage[j] = words[random.IntN(len(words))]
		}
		texts[i] = strings.Join(passage, " ")
	}
	for b.Loop() {
		if _, err := e.Embed(b.Context(), texts, embed.Document); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(texts))/b.Elapsed().Seconds(), "passages/s")
}
