package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"almanac/embed"
	"almanac/testing/crowd"
	"almanac/testing/httppipe"
	"almanac/text/prose"
)

func fails(k kind) error {
	return &Error{text: fmt.Sprint("kind ", k), cause: errors.New("cause"), kind: k}
}

// vectorOf gives distinct texts distinct vectors.
func vectorOf(text string) []float32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	sum := h.Sum64()
	return []float32{float32(sum & 0xffff), float32(sum >> 16 & 0xffff), float32(sum >> 32 & 0xffff), float32(sum >> 48)}
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
	s := newScript()
	e := open(t, s, Config{})
	rapid.Check(t, func(t *rapid.T) {
		takes := rapid.IntRange(1, 2*maxBatch).Draw(t, "texts at once")
		holds := rapid.IntRange(minText, 3000).Draw(t, "bytes of a text")
		excuse := rapid.SampledFrom([]kind{refused, slow, long}).Draw(t, "excuse")
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.StringMatching(`[a-zé]{1,5}`).Draw(t, "word"),
				rapid.IntRange(1, 400).Draw(t, "words"))
		}), 0, 300).Draw(t, "texts")
		s.change(func(s *script) {
			s.answer = func(texts []string) ([][]float32, error) {
				if len(texts) > takes {
					return nil, fails(excuse)
				}
				if slices.ContainsFunc(texts, func(text string) bool { return len(text) > holds }) {
					return nil, fails(long)
				}
				return vectorsOf(texts), nil
			}
		})
		got, err := e.Embed(context.Background(), texts, embed.Document)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			cut := text
			for len(cut) > holds {
				cut = prose.FirstBytes(cut, len(cut)*7/8)
			}
			want := vectorOf(cut)
			if err := normalise(want); err != nil || !slices.Equal(got[i], want) {
				t.Fatalf("text %d of %d bytes: vector %v, want %v of its first %d bytes", i, len(text), got[i], want,
					len(cut))
			}
		}
	})
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		e := open(t, s, Config{})
		var at crowd.Crowd
		s.answer = func(texts []string) ([][]float32, error) {
			at.Enter()
			defer at.Leave()
			time.Sleep(time.Second)
			if len(texts) > maxBatch {
				t.Errorf("%d texts in a request", len(texts))
			}
			return vectorsOf(texts), nil
		}
		if _, err := e.Embed(t.Context(), numbered(400), embed.Document); err != nil || at.Most() != maxRequests {
			t.Errorf("%d requests at once, error %v", at.Most(), err)
		}
	})
}

func TestABusyServerIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		busy  int    // how many times
		after string // Retry-After
		calls int
		least time.Duration // that passes
	}{
		"once":                       {1, "", 2, firstPause / 2},
		"always":                     {maxTries, "", maxTries, 5 * firstPause},
		"says how long":              {2, "7", 3, 14 * time.Second},
		"asks for the most":          {1, "30", 2, maxPause},
		"asks for too much":          {1, "31", 1, 0},
		"asks for much too much":     {1, "9223372036854775807", 1, 0},
		"asks for what is no number": {1, "Fri, 31 Dec 1999 23:59:59 GMT", 2, firstPause / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				busy := func(w http.ResponseWriter, _ *http.Request) {
					if calls++; calls <= c.busy {
						w.Header().Set("Retry-After", c.after)
						w.WriteHeader(http.StatusTooManyRequests)
					}
					_, _ = io.WriteString(w, `[1]`)
				}
				client := at(t, ClientConfig{URL: "http://models.example.org"})
				client.http.Transport = transport{next: httppipe.Transport(t, http.HandlerFunc(busy))}
				s := newScript()
				e := open(t, s, Config{})
				s.answer = func(texts []string) ([][]float32, error) {
					return vectorsOf(texts), client.JSON(t.Context(), http.MethodPost, "x", nil, new(Vector))
				}
				start := time.Now()
				_, err := e.Embed(t.Context(), numbered(3), embed.Document)
				if (err != nil) != (c.calls <= c.busy) || err != nil && !errors.Is(err, embed.ErrUnavailable) {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); calls != c.calls || took < c.least {
					t.Errorf("%d calls, want %d; %s, want %s at least", calls, c.calls, took, c.least)
				}
			})
		})
	}
}

// TestATextThatFailsForItselfIsRefused: the texts before it in its batch have their vectors.
// No text is refused by a server that fails for every text, or is not there.
func TestATextThatFailsForItselfIsRefused(t *testing.T) {
	for k, most := range map[kind]int{final: 1, away: 1, busy: maxTries, slow: 6, long: 50, refused: 7} {
		s := newScript()
		e := open(t, s, Config{})
		one := func(texts []string) ([][]float32, error) {
			if slices.Contains(texts, "37") {
				return nil, fails(k)
			}
			return vectorsOf(texts), nil
		}
		var calls atomic.Int64 // two requests at once
		s.answer = func(texts []string) ([][]float32, error) { calls.Add(1); return one(texts) }
		texts := numbered(64)
		texts[37] = "37"
		vectors, err := e.Embed(t.Context(), texts, embed.Document)
		if refuses := k == long || k == refused; errors.Is(err, embed.ErrRefused) != refuses || kindOf(err) != k ||
			vectors[37] != nil || refuses && (vectors[32] == nil || vectors[36] == nil) {
			t.Errorf("kind %d: error %v", k, err)
		}
		if n := calls.Load(); n > int64(2*most) {
			t.Errorf("kind %d: %d requests to find one text", k, n)
		}
		s.answer = func([]string) ([][]float32, error) { return nil, fails(k) }
		if _, err := e.Embed(t.Context(), numbered(4), embed.Document); errors.Is(err, embed.ErrRefused) ||
			kindOf(err) != k {
			t.Errorf("kind %d of every text: error %v", k, err)
		}
	}
}
