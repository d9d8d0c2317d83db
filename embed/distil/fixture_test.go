package distil_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/embed"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// teacher is a small generated model: a word has a random vector by
// its hash, a text the sum of its words' bent through two random layers, so
// that no table can follow it exactly.
type teacher struct {
	layers [2][]float64
	model  string

	mu      sync.Mutex // guards all below
	asked   int        // texts
	fail    func(asked int, texts []string) error
	purpose embed.Purpose
}

const teacherDims = 48

func newTeacher() *teacher {
	r := rand.New(rand.NewPCG(11, 12))
	t := &teacher{model: "tidewise-48"}
	for i := range t.layers {
		t.layers[i] = make([]float64, teacherDims*teacherDims)
		for j := range t.layers[i] {
			t.layers[i][j] = r.NormFloat64() / math.Sqrt(teacherDims)
		}
	}
	return t
}

func (t *teacher) Model() string   { return t.model }
func (t *teacher) Dimensions() int { return teacherDims }

var errTeacher = errors.New("the server is gone")

func (t *teacher) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.fail != nil {
		if err := t.fail(t.asked, texts); err != nil {
			return nil, err
		}
	}
	t.asked += len(texts)
	t.purpose |= p
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = t.vector(text)
	}
	return out, nil
}

// known are vectors that any teacher computed: it does not forget.
var known sync.Map

func (t *teacher) vector(text string) []float32 {
	if v, ok := known.Load(text); ok {
		return slices.Clone(v.([]float32))
	}
	v := t.compute(text)
	known.Store(text, slices.Clone(v))
	return v
}

func (t *teacher) compute(text string) []float32 {
	v := make([]float64, teacherDims)
	for word := range strings.FieldsSeq(text) {
		h := fnv.New64a()
		h.Write([]byte(word))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		common := 0.3
		if len(word) > 3 { // long words say more
			common = 1
		}
		for i := range v {
			v[i] += common * r.NormFloat64()
		}
	}
	for _, layer := range t.layers {
		var square float64
		for _, x := range v {
			square += x * x
		}
		scale := 1.5 * math.Sqrt(teacherDims) / math.Sqrt(max(square, 1e-9))
		bent := make([]float64, teacherDims)
		for i := range bent {
			for j, x := range v {
				bent[i] += layer[i*teacherDims+j] * x * scale
			}
			bent[i] = math.Tanh(bent[i] + 0.2)
		}
		v = bent
	}
	var square float64
	for _, x := range v {
		square += x * x
	}
	out := make([]float32, teacherDims)
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(square))
	}
	return out
}

// syllables are the syllables of the invented language.
var syllables = strings.Fields("ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro " +
	"sa se si so ta te ti to va ve vi vo")

// language is a vocabulary of syllables, their pieces inside words and common
// words, and passages in it: each about a topic, a few words it prefers.
func language(passages int, seed uint64) (vocabulary string, texts []string) {
	r := rand.New(rand.NewPCG(seed, 2))
	entries := []string{"[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]"}
	for _, s := range syllables {
		entries = append(entries, s, "##"+s)
	}
	word := func() string { return syllables[r.IntN(len(syllables))] + syllables[r.IntN(len(syllables))] }
	known := map[string]bool{}
	for len(known) < 150 {
		if w := word(); !known[w] {
			known[w] = true
			entries = append(entries, w)
		}
	}
	words := make([]string, 400)
	for i := range words {
		if words[i] = word(); i%4 > 0 {
			words[i] = entries[len(entries)-1-r.IntN(150)]
		}
	}
	for range passages {
		topic := r.IntN(40)
		text := make([]string, 8+r.IntN(20))
		for i := range text {
			text[i] = words[int(float64(len(words))*math.Pow(r.Float64(), 2))]
			if r.IntN(3) > 0 {
				text[i] = words[(topic*10+r.IntN(10))%len(words)]
			}
		}
		texts = append(texts, strings.Join(text, " "))
	}
	return strings.Join(entries, "\n") + "\n", texts
}

// giving yields texts.
func giving(texts []string) func(func(string)) error {
	return func(add func(string)) error {
		for _, text := range texts {
			add(text)
		}
		return nil
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
