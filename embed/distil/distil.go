// Package distil makes a static embedding table (package static) that stands
// for a teacher, any embedder: it asks the teacher for the vectors of a
// vocabulary's tokens and of passages, and solves for the token vectors whose
// sums come nearest to those of the passages. No query or judgment is used, so
// that the table can be measured with them. Derive makes a table of another one
// without a teacher. The package imports embed and static, and gonum for dense
// products and eigendecompositions.
//
// The recipe: (1) R[t], the teacher's vector of the token's own text, minus
// the mean over tokens; a piece ##x of the inside of a word is asked for as x,
// as no teacher knows our mark; special tokens in brackets are zero. (2) The
// prior Z, R's ZCA whitening at R's scale. (3) Passages and the teacher's unit
// vectors T. (4) X = tf·idf of the passages, each row divided by ‖row·Z‖.
// (5) W = Z + Xᵀ(XXᵀ + λI)⁻¹(T − XZ). (6) E = W·V·Λ^−0.15 of the greatest
// eigenvalues, VΛVᵀ being the covariance of the passages' unit vectors.
// (7) Rows E[t]·√idf[t] as int8 with a scale each.
//
// On one kind of processor the same answers, passages and seed give the same
// table to the byte, on however many of them. A vocabulary of 30,000 tokens,
// 30,000 passages and a teacher of 384 dimensions need about half a gigabyte.
package distil

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"almanac/embed"
	"almanac/embed/static"
)

// The recipe's numbers; see also eigenFloor and flatten.
const (
	lambda            = 0.02
	steps             = 50 // of conjugate gradients
	defaultDimensions = 256
)

// The passages that are taken.
const (
	// defaultLimit is about as many as the embedded table was made with.
	defaultLimit = 30_000
	// leastPassages are needed to measure anything.
	leastPassages = 100
	// heldShare of the passages, but no more than mostHeld, are measured on
	// and not learned from.
	heldShare, mostHeld = 0.1, 1000
	// mostUnknown is the share of tokens that a vocabulary may not spell.
	mostUnknown = 0.5
)

// Config says what to distil.
type Config struct {
	Teacher    embed.Embedder
	Vocabulary string // as static.NewTokenizer reads it
	// Passages hands over texts of some 200 tokens in any order; equal ones
	// count once.
	Passages func(add func(text string)) error
	// Limit is the number of passages, at most, that the teacher is asked for;
	// default 30,000. Which ones depends on Seed and their texts alone, so that
	// a catalog that grew a little has nearly the same.
	Limit      int
	Seed       uint64
	Dimensions int            // of the table; default 256, or the teacher's if it has fewer
	Before     embed.Embedder // measured beside the table; nil: none
	Out        string         // directory of the result; it must not be there, or be empty
	Work       string         // file that keeps the teacher's answers; it stays, for another run
	Now        func() time.Time
	// Progress is told what is done of the stages tokens, passages and solve;
	// nil: nothing. Calls come one after the other, from any goroutine.
	Progress func(stage string, done, total int)
	Log      *slog.Logger // default: none
}

// Recipe is what a table was made of and how good it is. It is written beside
// the table as recipe.json.
type Recipe struct {
	Made              time.Time  `json:"made"`
	Teacher           string     `json:"teacher"`
	TeacherDimensions int        `json:"teacher_dimensions"`
	Tokens            int        `json:"tokens"`        // entries of the vocabulary
	TaughtTokens      int        `json:"taught_tokens"` // whose own text the teacher has a vector of
	SeenTokens        int        `json:"seen_tokens"`   // that stand in a passage learned from
	Unknown           float64    `json:"unknown"`       // share of the passages' tokens that is [UNK]
	Passages          int        `json:"passages"`      // learned from
	HeldOut           int        `json:"held_out"`      // measured on
	LeftOut           int        `json:"left_out"`      // without a vector of the teacher
	Parameters        Parameters `json:"parameters"`
	// Unprojected is the mean cosine to the teacher on passages held out, in
	// the teacher's own space: of W, before steps 6 and 7.
	Unprojected float64   `json:"cosine_unprojected"`
	Before      *Measured `json:"before,omitempty"`
	After       Measured  `json:"after"`
}

// Parameters are the numbers a table was made with.
type Parameters struct {
	Dimensions int     `json:"dimensions"`
	Limit      int     `json:"limit"`
	Seed       uint64  `json:"seed"`
	Lambda     float64 `json:"lambda"`
	Steps      int     `json:"steps"`
	EigenFloor float64 `json:"eigen_floor"`
	Flatten    float64 `json:"flatten"`
}

// Run makes the table. What the teacher answered until an error, or the end of
// ctx, is kept in the work file.
func Run(ctx context.Context, c Config) (_ Recipe, err error) {
	if err := c.complete(); err != nil {
		return Recipe{}, err
	}
	l, err := prepare(c)
	if err != nil {
		return Recipe{}, fmt.Errorf("distil: %w", err)
	}
	work, err := openWork(c.Work, c.Teacher.Model(), c.Teacher.Dimensions())
	if err != nil {
		return Recipe{}, fmt.Errorf("distil: %w", err)
	}
	defer func() { err = errors.Join(err, work.close()) }()
	l.asker = &asker{teacher: c.Teacher, work: work, progress: c.Progress, log: c.Log}
	recipe, err := l.run(ctx)
	if err != nil {
		return Recipe{}, fmt.Errorf("distil: %w", err)
	}
	return recipe, nil
}

// complete fills in defaults and checks what needs no work.
func (c *Config) complete() error {
	d := c.Teacher.Dimensions()
	if d < 1 {
		return fmt.Errorf("distil: teacher %s has no dimensions", c.Teacher.Model())
	}
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	if c.Dimensions == 0 {
		c.Dimensions = min(defaultDimensions, d)
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Dimensions < 1 || c.Dimensions > d {
		return fmt.Errorf("distil: %d dimensions cannot be made of the teacher's %d", c.Dimensions, d)
	}
	if c.Limit < leastPassages {
		return fmt.Errorf("distil: at least %d passages are needed, and the limit is %d", leastPassages, c.Limit)
	}
	if err := checkOut(c.Out); err != nil {
		return fmt.Errorf("distil: %w", err)
	}
	return nil
}

// publish writes a table and what it was made of, which finish says of the
// table as it can be read, into a directory of another name, and gives it its
// name when it is whole.
func publish(out string, t static.Table, finish func(*static.Embedder) (recipe any, err error)) (err error) {
	parent := filepath.Dir(filepath.Clean(out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, ".distil-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := errors.Join(os.Chmod(dir, 0o755), t.Write(dir)); err != nil {
		return err
	}
	e, err := static.Open(dir)
	if err != nil {
		return err
	}
	recipe, err := finish(e)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(recipe, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "recipe.json"))
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(dir, out)
}

// checkOut refuses a directory that holds something.
func checkOut(out string) error {
	names, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(names) > 0:
		return fmt.Errorf("%s is there already: name another directory, or remove it", out)
	}
	return nil
}
