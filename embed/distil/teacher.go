package distil

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"almanac/embed"
)

const (
	// batch is the number of texts that a teacher embeds at a time, and the most
	// vectors that a kill loses.
	batch = 32
	// givenUp is the number of consecutive texts that fail before the teacher
	// rather than the texts is considered at fault.
	givenUp = 3
)

// asker has a teacher embed what the work file lacks.
type asker struct {
	teacher  embed.Embedder
	work     *workFile
	progress func(stage string, done, total int)
	log      *slog.Logger
	failed   int // texts in a row
}

// ask completes the work file with the vectors of texts. A text that the
// teacher cannot embed is logged and left out.
func (a *asker) ask(ctx context.Context, stage string, texts []string) error {
	var missing []string
	asked := map[textKey]bool{}
	for _, text := range texts {
		if k := keyOf(text); !asked[k] && !a.work.has(k) {
			missing = append(missing, text)
			asked[k] = true
		}
	}
	done := len(texts) - len(missing)
	for {
		a.progress(stage, done, len(texts))
		if len(missing) == 0 {
			return nil
		}
		n := min(batch, len(missing))
		if err := a.batch(ctx, missing[:n]); err != nil {
			return err
		}
		missing = missing[n:]
		done += n
	}
}

// batch embeds a few texts, and one by one if that fails.
func (a *asker) batch(ctx context.Context, texts []string) error {
	err := a.store(ctx, texts)
	if err == nil {
		a.failed = 0
		return nil
	}
	for i := range texts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(texts) > 1 {
			err = a.store(ctx, texts[i:i+1])
		}
		if err == nil {
			a.failed = 0
			continue
		}
		if a.failed++; a.failed == givenUp {
			return fmt.Errorf("the teacher fails (its vectors so far are kept): %w", err)
		}
		a.log.Warn("a text is left out", "text", beginning(texts[i]), "error", err)
	}
	return nil
}

// store embeds texts and keeps the vectors.
func (a *asker) store(ctx context.Context, texts []string) error {
	vectors, err := a.teacher.Embed(ctx, texts, embed.Document)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("%s returned %d vectors for %d texts", a.teacher.Model(), len(vectors), len(texts))
	}
	keys := make([]textKey, len(texts))
	for i, v := range vectors {
		if len(v) != a.work.dims {
			return fmt.Errorf("%s returned %d dimensions, not %d", a.teacher.Model(), len(v), a.work.dims)
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return fmt.Errorf("%s returned %v", a.teacher.Model(), x)
			}
		}
		keys[i] = keyOf(texts[i])
	}
	return a.work.append(keys, vectors)
}

// beginning returns enough of a text to recognise it.
func beginning(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// unit reads the vector of a text, scaled to length 1, into v. It returns
// false, and leaves v zero, if the teacher has none or the zero vector.
func (a *asker) unit(text string, v []float32) (bool, error) {
	clear(v)
	k := keyOf(text)
	if !a.work.has(k) {
		return false, nil
	}
	if err := a.work.read(k, v); err != nil {
		return false, err
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return false, nil
	}
	scale := 1 / math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true, nil
}
