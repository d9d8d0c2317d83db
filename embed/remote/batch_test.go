package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"almanac/embed"
	"almanac/testing/crowd"
)

func fails(k kind) error {
	return &Error{text: fmt.Sprint("kind ", k), cause: errors.New("cause"), kind: k}
}

// vectorOf gives distinct texts distinct vectors.
func vectorOf(text string) []float32 {
	v := []float32{float32(len(text)), 0}
	for _, b := range []byte(text) {
		v[1] = v[1]*0.5 + float32(b)
	}
	return v
}

func vectorsOf(texts []string) [][]float32 {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = vectorOf(text)
	}
	return vectors
}

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	return texts
}

// TestEveryTextGetsItsVector is for servers that take any number of texts of
// any length.
func TestEveryTextGetsItsVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		takes := rapid.IntRange(1, 200).Draw(t, "texts at once")
		holds := rapid.IntRange(minText, 3000).Draw(t, "bytes of a text")
		excuse := rapid.SampledFrom([]kind{toomuch, slow}).Draw(t, "excuse")
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringN(1, 5, -1).Draw(t, "word"), rapid.IntRange(1, 400).Draw(t, "words"))
		}), 0, 300).Draw(t, "texts")
		b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
			if len(texts) > takes {
				return nil, fails(excuse)
			}
			if slices.ContainsFunc(texts, func(text string) bool { return len(text) > holds }) {
				return nil, fails(toolong)
			}
			return vectorsOf(texts), nil
		}, 2)
		got, err := b.all(context.Background(), texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			length := int(got[i][0])
			if length > len(text) || !slices.Equal(got[i], vectorOf(text[:length])) {
				t.Fatalf("text %d has the vector of another", i)
			}
			if least := min(len(text), holds*7/8-4); length < least {
				t.Fatalf("text %d of %d bytes was cut to %d, the server holds %d", i, len(text), length, holds)
			}
		}
	})
}

func TestBatchSizeFollowsTheServer(t *testing.T) {
	var asked []int
	takes := 10
	b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
		asked = append(asked, len(texts))
		if len(texts) > takes {
			return nil, fails(toomuch)
		}
		return vectorsOf(texts), nil
	}, 1)
	run := func(n int) []int {
		t.Helper()
		asked = nil
		if _, err := b.all(t.Context(), numbered(n)); err != nil {
			t.Fatal(err)
		}
		return asked
	}
	if got, want := run(40), []int{32, 16, 8, 8, 16, 8, 8, 8}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}
	if got, want := run(5*8), []int{8, 8, 8, 8, 8}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v: what failed is not tried again at once", got, want)
	}
	takes = 1000
	if got := run(16 * 1000); slices.Max(got) != maxBatch || !slices.IsSorted(got[:len(got)-1]) {
		t.Errorf("batches of %v, want them to grow to %d", got, maxBatch)
	}
	b.limit(20)
	if got := run(100); slices.Max(got) != 20 {
		t.Errorf("batches of %v for a server that takes 20", got)
	}
	b.limit(0)
	if got := run(100); slices.Max(got) < 20 {
		t.Errorf("batches of %v", got)
	}
}

func TestBatchesTakeAboutASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, each := []int(nil), 100*time.Millisecond
		b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
			asked = append(asked, len(texts))
			time.Sleep(time.Duration(len(texts)) * each)
			return vectorsOf(texts), nil
		}, 1)
		run := func(n int) []int {
			t.Helper()
			asked = nil
			if _, err := b.all(t.Context(), numbered(n)); err != nil {
				t.Fatal(err)
			}
			return asked
		}
		if got, want := run(200)[:5], []int{32, 16, 8, 8, 8}; !slices.Equal(got, want) {
			t.Errorf("batches of %v, want %v", got, want)
		}
		if got := run(1000); slices.Min(got) != 8 || slices.Max(got) != 8 {
			t.Errorf("batches of %v, want them to stay", got)
		}
		each = 10 * time.Millisecond
		if got := run(10_000); slices.Max(got) < 50 || slices.Max(got) > 65 {
			t.Errorf("batches of %v, want them to grow to about half a second", got)
		}
		each = 10 * time.Second
		if got := run(300); got[len(got)-1] != 1 || b.next() != 1 {
			t.Errorf("batches of %v, want single texts at last", got)
		}
	})
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at crowd.Crowd
		b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
			at.Enter()
			defer at.Leave()
			time.Sleep(time.Second)
			return vectorsOf(texts), nil
		}, 3)
		var wg sync.WaitGroup
		for range 4 { // callers share the bound
			wg.Go(func() {
				if _, err := b.all(t.Context(), numbered(400)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if at.Most() != 3 {
			t.Errorf("%d requests at once, want 3", at.Most())
		}
	})
}

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		calls int // until success, or all
		fails bool
	}{
		{"once busy", fails(later), 2, false},
		{"always busy", fails(later), maxTries, true},
		{"asks for too much patience", &Error{text: "x", cause: errors.New("x"), kind: later, after: maxPause + 1}, 1,
			true},
		{"away", fails(away), 1, true},
		{"final", fails(final), 1, true},
		{"of another kind", errors.New("x"), 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
				if calls++; calls < c.calls || c.fails {
					return nil, c.err
				}
				return vectorsOf(texts), nil
			}, 1)
			if c.calls == maxTries {
				b.pause = time.Millisecond
			}
			_, err := b.all(t.Context(), numbered(3))
			if calls != c.calls || (err != nil) != c.fails || c.fails && !errors.Is(err, c.err) {
				t.Errorf("%d calls, error %v", calls, err)
			}
		})
	}
}

// TestATextThatFailsForItselfIsRefused: it is found and named, the others have
// their vectors, and batches stay as large as they were.
func TestATextThatFailsForItselfIsRefused(t *testing.T) {
	for _, k := range []kind{toomuch, onetext} {
		calls := 0
		b := newBatches(func(_ context.Context, texts []string) ([][]float32, error) {
			calls++
			if slices.Contains(texts, "text 37") {
				return nil, fails(k)
			}
			return vectorsOf(texts), nil
		}, 1)
		vectors, err := b.all(t.Context(), numbered(64))
		if err == nil || !strings.HasPrefix(err.Error(), "text 38: ") || kindOf(err) != k ||
			!errors.Is(err, embed.ErrRefused) {
			t.Errorf("error %v", err)
		}
		if calls > 3+2*5 {
			t.Errorf("%d requests to find one text", calls)
		}
		if vectors[0] == nil || vectors[36] == nil || vectors[37] != nil {
			t.Error("the texts before it have no vectors, or it has one")
		}
		if b.next() != firstBatch {
			t.Errorf("batches have %d texts afterwards", b.next())
		}
	}
}

// TestAServerThatFailsRefusesNoText: it fails for every text.
func TestAServerThatFailsRefusesNoText(t *testing.T) {
	for _, k := range []kind{final, away, toomuch, toolong, slow, onetext} {
		b := newBatches(func(context.Context, []string) ([][]float32, error) { return nil, fails(k) }, 1)
		if _, err := b.all(t.Context(), numbered(4)); err == nil || errors.Is(err, embed.ErrRefused) ||
			kindOf(err) != k {
			t.Errorf("kind %d: error %v", k, err)
		}
	}
}

func TestTheCallerCanStop(t *testing.T) {
	stopped := errors.New("stopped")
	for _, texts := range [][]string{numbered(1), numbered(500)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		b := newBatches(func(ctx context.Context, _ []string) ([][]float32, error) {
			cancel(stopped)
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, 2)
		if _, err := b.all(ctx, texts); !errors.Is(err, stopped) {
			t.Errorf("%d texts: error %v", len(texts), err)
		}
		if _, err := b.all(ctx, texts); !errors.Is(err, stopped) {
			t.Errorf("%d texts, stopped before: error %v", len(texts), err)
		}
	}
}
