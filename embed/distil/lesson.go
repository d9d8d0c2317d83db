package distil

import (
	"context"
	"fmt"
	"math"
	"strings"

	"almanac/embed/static"

	"gonum.org/v1/gonum/floats"
)

// lesson is the state of a run.
type lesson struct {
	Config
	asker *asker
	names []string // of tokens: the vocabulary's lines
	texts []string // of passages, in random order
	bags  *bags    // their tokens
	made  Recipe   // as far as known yet
}

// prepare reads vocabulary and passages, so that errors in them are reported
// before the teacher is called.
func prepare(c Config) (*lesson, error) {
	tokens, err := static.NewTokenizer(c.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("vocabulary: %w", err)
	}
	d := draw{limit: c.Limit, seed: c.Seed}
	if err := c.Passages(d.add); err != nil {
		return nil, err
	}
	l := &lesson{Config: c, names: strings.Split(strings.TrimSuffix(c.Vocabulary, "\n"), "\n"), texts: d.texts()}
	if len(l.texts) < leastPassages {
		return nil, fmt.Errorf("at least %d passages with different texts are needed, there are %d", leastPassages,
			len(l.texts))
	}
	l.bags = newBags(tokens, l.texts)
	unknown := l.bags.share(tokens.Unknown())
	if unknown > mostUnknown {
		return nil, fmt.Errorf("the vocabulary cannot spell %.0f%% of the passages' words: it must be of their "+
			"language, in lower case and without accents", 100*unknown)
	}
	l.made = Recipe{Teacher: c.Teacher.Model(), TeacherDimensions: c.Teacher.Dimensions(), Tokens: tokens.Size(),
		Unknown: rounded(unknown),
		Parameters: Parameters{Dimensions: c.Dimensions, Limit: c.Limit, Seed: c.Seed, Lambda: lambda, Steps: steps,
			EigenFloor: eigenFloor, Flatten: flatten}}
	return l, nil
}

// run calls the teacher and makes the table from its vectors.
func (l *lesson) run(ctx context.Context) (Recipe, error) {
	z, err := l.prior(ctx)
	if err != nil {
		return Recipe{}, err
	}
	all, err := l.passages(ctx)
	if err != nil {
		return Recipe{}, err
	}
	n := len(all.texts)
	h := min(int(heldShare*float64(n)), mostHeld)
	held, learned := all.part(0, h), all.part(h, n)
	heldBags, x := l.bags.part(0, h), l.bags.part(h, n)
	l.made.Passages, l.made.HeldOut, l.made.LeftOut = n-h, h, len(l.texts)-n

	idf := x.idf(len(l.names))
	l.bags.weigh(idf)
	l.made.SeenTokens = seen(x, len(l.names))
	l.normalise(x, z, learned)
	err = regress(ctx, x, z, learned.vectors, lambda, steps, func(done, total int) { l.Progress("solve", done, total) })
	if err != nil {
		return Recipe{}, err
	}
	l.made.Unprojected = rounded(unprojected(heldBags, z, held))
	p, err := projection(ctx, x, z, l.Dimensions)
	if err != nil {
		return Recipe{}, err
	}
	rows, scale, err := quantise(ctx, z, p, idf)
	if err != nil {
		return Recipe{}, err
	}
	err = publish(l.Out, static.Table{Vocabulary: l.Vocabulary, Dimensions: l.Dimensions,
		Rows: rows, Scale: scale, IDF: idf,
		Note: "distilled from " + l.made.Teacher +
			"; row t = int8*scale, already multiplied by sqrt(idf_train[t]); tokens weigh sqrt(idf_train[t]) more; " +
			"sum, then L2 normalise",
	}, func(e *static.Embedder) (_ any, err error) {
		if l.Before != nil {
			before, err := measure(ctx, l.Before, learned, held)
			if err != nil {
				return nil, err
			}
			l.made.Before = &before
		}
		l.made.After, err = measure(ctx, e, learned, held)
		l.made.Made = l.Now().UTC()
		return l.made, err
	})
	return l.made, err
}

// prior has the tokens embedded and computes Z from their vectors (steps 1 and 2).
func (l *lesson) prior(ctx context.Context) (matrix, error) {
	var texts []string
	for _, name := range l.names {
		if text := spelled(name); text != "" {
			texts = append(texts, text)
		}
	}
	if err := l.asker.ask(ctx, "tokens", texts); err != nil {
		return matrix{}, err
	}
	d := l.made.TeacherDimensions
	z, counts, v := newMatrix(len(l.names), d), make([]bool, len(l.names)), make([]float32, d)
	for t, name := range l.names {
		text := spelled(name)
		if text == "" {
			continue
		}
		var err error
		if counts[t], err = l.asker.unit(text, v); err != nil {
			return matrix{}, err
		}
		for j, x := range v {
			z.row(t)[j] = float64(x)
		}
		if counts[t] {
			l.made.TaughtTokens++
		}
	}
	if l.made.TaughtTokens == 0 {
		return matrix{}, fmt.Errorf("the teacher has no vector for any token")
	}
	centre(z, counts)
	return z, whiten(ctx, z, l.made.TaughtTokens)
}

// spelled returns the text of a token, "" for a special one.
func spelled(name string) string {
	if len(name) > 2 && strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		return ""
	}
	if inside, ok := strings.CutPrefix(name, "##"); ok && inside != "" {
		return inside
	}
	return name
}

// passages has the passages embedded and drops those, with their bags, for
// which the teacher has no vector.
func (l *lesson) passages(ctx context.Context) (taught, error) {
	if err := l.asker.ask(ctx, "passages", l.texts); err != nil {
		return taught{}, err
	}
	d := l.made.TeacherDimensions
	out := taught{vectors: make([]float32, len(l.texts)*d), dims: d}
	wanted := make([]bool, len(l.texts))
	for i, text := range l.texts {
		at := len(out.texts) * d
		ok, err := l.asker.unit(text, out.vectors[at:at+d])
		if err != nil {
			return taught{}, err
		}
		if ok {
			wanted[i], out.texts = true, append(out.texts, text)
		}
	}
	if len(out.texts) < leastPassages {
		return taught{}, fmt.Errorf("the teacher has vectors for %d passages: %d are needed", len(out.texts),
			leastPassages)
	}
	out.vectors = out.vectors[:len(out.texts)*d]
	l.bags.keep(wanted)
	return out, nil
}

// normalise divides each row of x by the length of its passage's vector (step
// 4). Where that is zero, as for unknown words only, there is nothing to learn:
// row and target become zero.
func (l *lesson) normalise(x *bags, z matrix, learned taught) {
	v := make([]float64, z.columns)
	for i := range x.rows() {
		clear(v)
		x.times(z, i, v)
		length := math.Sqrt(floats.Dot(v, v))
		x.scale(i, length)
		if length == 0 {
			clear(learned.vector(i))
		}
	}
}

// unprojected is the mean cosine of passages, as sums of w's rows, to the
// teacher.
func unprojected(x *bags, w matrix, of taught) float64 {
	sum, v, want := 0.0, make([]float64, w.columns), make([]float64, w.columns)
	for i := range x.rows() {
		clear(v)
		x.times(w, i, v)
		for j, t := range of.vector(i) {
			want[j] = float64(t)
		}
		sum += cosine(v, want)
	}
	return sum / float64(max(1, x.rows()))
}

// seen returns the number of tokens that occur in any row.
func seen(x *bags, tokens int) int {
	has := make([]bool, tokens)
	n := 0
	for i := range x.rows() {
		ids, _ := x.row(i)
		for _, t := range ids {
			if !has[t] {
				has[t] = true
				n++
			}
		}
	}
	return n
}
