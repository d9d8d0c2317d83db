package embed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"almanac/embed"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ALMANAC_TEST_CACHE_WRITER"); path != "" {
		writeUntilKilled(path)
	}
	goleak.VerifyTestMain(m)
}

// counting is an embedder that makes a vector of a text's hash and remembers
// what it was called with.
type counting struct {
	name string
	dims int
	err  error
	bend func([][]float32) [][]float32 // spoils an answer

	mu    sync.Mutex
	asked []string
}

func (c *counting) Model() string   { return c.name }
func (c *counting) Dimensions() int { return c.dims }

func (c *counting) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, texts...)
	if err := errors.Join(c.err, ctx.Err()); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = c.vector(text, p)
	}
	if c.bend != nil {
		vectors = c.bend(vectors)
	}
	return vectors, nil
}

func (c *counting) vector(text string, p embed.Purpose) []float32 {
	h := fnv.New32a()
	fmt.Fprint(h, c.name, p, text)
	x, v := h.Sum32(), make([]float32, c.dims)
	for i := range v {
		x = x*1664525 + 1013904223
		v[i] = float32(x) / (1 << 31)
	}
	return v
}

// asks runs Embed, checks the answer and returns what the inner embedder saw.
func asks(t *testing.T, c *embed.Cache, inner *counting, p embed.Purpose, texts ...string) []string {
	t.Helper()
	inner.asked = nil
	got, err := c.Embed(context.Background(), texts, p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	for i, text := range texts {
		if !slices.Equal(got[i], inner.vector(text, p)) {
			t.Fatalf("wrong vector for %q", text)
		}
	}
	return inner.asked
}

func newCache(t *testing.T, inner embed.Embedder, path string) *embed.Cache {
	t.Helper()
	c := embed.NewCache(inner, embed.CacheConfig{Path: path, Queries: 2})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the embedder was called with %q, want %q", got, want)
	}
}

func TestDocumentsAreEmbeddedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "embeddings ?#%.db")
	inner := &counting{name: "m", dims: 8}
	c := newCache(t, inner, path)
	expect(t, asks(t, c, inner, embed.Document, "a", "b", "a", "a"), "a", "b")
	expect(t, asks(t, c, inner, embed.Document, "b", "c", "a"), "c")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is not where it should be: %v", err)
	}
	expect(t, asks(t, newCache(t, inner, path), inner, embed.Document, "a", "b", "c", "d"), "d")
}

// TestAnEmptyTextIsNotEmbedded: no model says what nothing means.
func TestAnEmptyTextIsNotEmbedded(t *testing.T) {
	inner := &counting{name: "m", dims: 8}
	c := newCache(t, inner, filepath.Join(t.TempDir(), "embeddings"))
	got, err := c.Embed(t.Context(), []string{"", "a", ""}, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, inner.asked, "a")
	for _, i := range []int{0, 2} {
		if !slices.Equal(got[i], make([]float32, 8)) {
			t.Errorf("the vector of an empty text is %v", got[i])
		}
	}
}

// partial is an embedder that fails after the first text.
type partial struct{ *counting }

func (p partial) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([][]float32, error) {
	vectors, err := p.counting.Embed(ctx, texts[:1], purpose)
	return append(vectors, make([][]float32, len(texts)-1)...), errors.Join(err, errors.New("the rest fails"))
}

func TestWhatAFailedCallHasMadeIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	inner := &counting{name: "m", dims: 8}
	if _, err := newCache(t, partial{inner}, path).Embed(t.Context(), []string{"a", "b"}, embed.Document); err == nil {
		t.Fatal("the call does not fail")
	}
	expect(t, asks(t, newCache(t, inner, path), inner, embed.Document, "a", "b"), "b")
}

func TestPurposesAndModelsDoNotShareVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	inner := &counting{name: "m", dims: 8}
	c := newCache(t, inner, path)
	expect(t, asks(t, c, inner, embed.Document, "a"), "a")
	expect(t, asks(t, c, inner, embed.Query, "a"), "a")
	for _, other := range []*counting{{name: "n", dims: 8}, {name: "m", dims: 16}} {
		expect(t, asks(t, newCache(t, other, path), other, embed.Document, "a"), "a")
	}
}

func TestQueriesStayInMemoryOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	inner := &counting{name: "m", dims: 8}
	c := newCache(t, inner, path)
	expect(t, asks(t, c, inner, embed.Query, "a", "b"), "a", "b")
	expect(t, asks(t, c, inner, embed.Query, "a"))
	expect(t, asks(t, c, inner, embed.Query, "c"), "c") // b goes
	expect(t, asks(t, c, inner, embed.Query, "a", "c"))
	expect(t, asks(t, c, inner, embed.Query, "b"), "b")
	expect(t, asks(t, newCache(t, inner, path), inner, embed.Query, "b"), "b")
}

func TestAnswersOfTheWrongShapeAreErrors(t *testing.T) {
	for name, bend := range map[string]func([][]float32) [][]float32{
		"too few vectors":    func(vs [][]float32) [][]float32 { return vs[1:] },
		"too few dimensions": func(vs [][]float32) [][]float32 { vs[1] = vs[1][1:]; return vs },
	} {
		t.Run(name, func(t *testing.T) {
			inner := &counting{name: "m", dims: 8, bend: bend}
			c := newCache(t, inner, filepath.Join(t.TempDir(), "e.db"))
			if _, err := c.Embed(context.Background(), []string{"a", "b"}, embed.Document); err == nil {
				t.Error("no error")
			}
			inner.bend = nil
			expect(t, asks(t, c, inner, embed.Document, "a", "b"), "a", "b")
		})
	}
}

func TestACancelledContextLeavesTheFileAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	inner := &counting{name: "m", dims: 8}
	c := newCache(t, inner, path)
	asks(t, c, inner, embed.Document, "a")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Embed(ctx, []string{"b"}, embed.Document); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	expect(t, asks(t, c, inner, embed.Document, "a", "b"), "b")
	if _, err := os.Stat(path + ".damaged"); err == nil {
		t.Error("the file was set aside")
	}
}

func TestDamagedFileIsSetAsideAndBegunAnew(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprint("text ", i)
	}
	for name, damage := range map[string]func(raw []byte) []byte{
		"no database":      func([]byte) []byte { return []byte("this is no database, just text that stands here") },
		"overwritten head": func(raw []byte) []byte { copy(raw, make([]byte, 100)); return raw },
		"cut in half":      func(raw []byte) []byte { return raw[:len(raw)/2] },
		"pages of noise": func(raw []byte) []byte {
			for i := 4096; i < len(raw); i++ {
				raw[i] ^= byte(i * 7)
			}
			return raw
		},
		"of another version": func(raw []byte) []byte { raw[63] = 99; return raw },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "e.db")
			inner := &counting{name: "m", dims: 64}
			c := newCache(t, inner, path)
			asks(t, c, inner, embed.Document, many...)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			c = embed.NewCache(inner, embed.CacheConfig{Path: path, Log: slog.New(slog.NewTextHandler(&log, nil))})
			defer c.Close()
			for range 2 { // the first use may be what finds the damage
				asks(t, c, inner, embed.Document, many...)
			}
			asks(t, c, inner, embed.Document, many...)
			expect(t, asks(t, c, inner, embed.Document, many...))
			if _, err := os.Stat(path + ".damaged"); err != nil || log.Len() == 0 {
				t.Errorf("not set aside (%v) or not logged: %q", err, log.String())
			}
		})
	}
}

func TestAFlippedBitInAVectorIsAMiss(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	inner := &counting{name: "m", dims: 64}
	c := newCache(t, inner, path)
	asks(t, c, inner, embed.Document, "a")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-100] ^= 1 // rows are laid from the end of a page
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	c = newCache(t, inner, path)
	expect(t, asks(t, c, inner, embed.Document, "a"), "a")
	expect(t, asks(t, c, inner, embed.Document, "a"))
}

func TestAnUnusableFileIsDoneWithout(t *testing.T) {
	inner := &counting{name: "m", dims: 8}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := embed.NewCache(inner, embed.CacheConfig{
		Path: filepath.Join(blocked, "e.db"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	expect(t, asks(t, c, inner, embed.Document, "a"), "a")
	if log.Len() == 0 {
		t.Error("nothing was logged")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestSeveralCachesShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	var wg sync.WaitGroup
	for range 4 {
		inner := &counting{name: "m", dims: 8}
		c := newCache(t, inner, path)
		wg.Go(func() {
			for n := range 20 {
				text := fmt.Sprint("text ", n)
				got, err := c.Embed(context.Background(), []string{text}, embed.Document)
				if err != nil || !slices.Equal(got[0], inner.vector(text, embed.Document)) {
					t.Errorf("wrong vector, error %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	inner := &counting{name: "m", dims: 8}
	expect(t, asks(t, newCache(t, inner, path), inner, embed.Document, "text 0", "text 19"))
}

// writeUntilKilled is the other process of the next test.
func writeUntilKilled(path string) {
	c := embed.NewCache(&counting{name: "m", dims: 256}, embed.CacheConfig{Path: path})
	for n := 0; ; n++ {
		texts := make([]string, 50)
		for i := range texts {
			texts[i] = fmt.Sprint("text ", n*len(texts)+i)
		}
		if _, err := c.Embed(context.Background(), texts, embed.Document); err != nil {
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

func TestAKilledWriterLeavesAUsableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.db")
	for range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ALMANAC_TEST_CACHE_WRITER="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := make([]byte, 8)
		if _, err := out.Read(lines); err != nil { // at least one batch is in
			t.Error(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // killed
		inner := &counting{name: "m", dims: 256}
		c := newCache(t, inner, path)
		expect(t, asks(t, c, inner, embed.Document, "text 0", "text 49"))
		if _, err := os.Stat(path + ".damaged"); err == nil {
			t.Fatal("the file was set aside")
		}
	}
}

func BenchmarkCache(b *testing.B) {
	const n = 25_000
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("passage %d %0800d", i, i)
	}
	inner := &counting{name: "m", dims: 256}
	b.Run("cold=25000", func(b *testing.B) {
		for b.Loop() {
			c := embed.NewCache(inner, embed.CacheConfig{Path: filepath.Join(b.TempDir(), "e.db")})
			if _, err := c.Embed(b.Context(), texts, embed.Document); err != nil {
				b.Fatal(err)
			}
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hot=25000", func(b *testing.B) {
		c := embed.NewCache(inner, embed.CacheConfig{Path: filepath.Join(b.TempDir(), "e.db")})
		defer c.Close()
		if _, err := c.Embed(b.Context(), texts, embed.Document); err != nil {
			b.Fatal(err)
		}
		inner.asked = nil
		for b.Loop() {
			if _, err := c.Embed(b.Context(), texts, embed.Document); err != nil {
				b.Fatal(err)
			}
		}
		if len(inner.asked) > 0 {
			b.Fatalf("%d texts were embedded again", len(inner.asked))
		}
	})
}
