// Package distil makes a static embedding table (package static) that
// approximates a teacher, any embedder: it has the teacher embed a vocabulary's
// tokens and passages, and solves for the token vectors whose sums are nearest
// to those of the passages. No query or judgment is used, so that the table can
// be measured with them. Derive makes a table from another one without a
// teacher. The package imports embed and static, and gonum for dense products
// and eigendecompositions.
//
// The recipe: (1) R[t], the teacher's vector of the token's own text, minus the
// mean over tokens; a word-internal piece ##x is embedded as x, since teachers
// do not know the mark; special tokens in brackets are zero. (2) The prior Z,
// R's ZCA whitening at R's scale. (3) Passages and the teacher's unit vectors
// T. (4) X = tf·idf of the passages, each row divided by ‖row·Z‖. (5) W = Z +
// Xᵀ(XXᵀ + λI)⁻¹(T − XZ). (6) E = W·V·Λ^−0.15 of the greatest eigenvalues, VΛVᵀ
// being the covariance of the passages' unit vectors. (7) Rows E[t]·√idf[t] as
// int8 with a scale each.
//
// On one kind of processor the same vectors, passages and seed give the same
// table to the byte, whatever the number of cores. A vocabulary of 30,000
// tokens, 30,000 passages and a teacher of 384 dimensions need about half a
// gigabyte of memory.
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

// The numbers of passages.
const (
	// defaultLimit is about as many as the embedded table was made with.
	defaultLimit = 30_000
	// leastPassages are needed to measure anything.
	leastPassages = 100
	// heldShare of the passages, but no more than mostHeld, are held out for measuring.
	heldShare, mostHeld = 0.1, 1000
	// mostUnknown is the largest share of tokens that a vocabulary may fail to spell.
	mostUnknown = 0.5
)

// Config says what to distil.
type Config struct {
	Teacher    embed.Embedder
	Vocabulary string // as static.NewTokenizer reads it
	// Passages yields texts of some 200 tokens in any order; equal ones count once.
	Passages func(add func(text string)) error
	// Limit is the most passages that the teacher embeds; default 30,000. Which
	// ones depends only on Seed and their texts, so that a catalog that grew a
	// little yields nearly the same.
	Limit      int
	Seed       uint64
	Dimensions int            // of the table; default 256, or the teacher's if it has fewer
	Before     embed.Embedder // measured for comparison; nil: none
	Out        string         // directory of the result; it must not exist, or be empty
	Work       string         // file that keeps the teacher's vectors, also for the next run
	Now        func() time.Time
	// Progress is called with the progress of the stages tokens, passages and
	// solve; nil: no calls. Calls are sequential but may come from any goroutine.
	Progress func(stage string, done, total int)
	Log      *slog.Logger // default: none
}

// Recipe records how a table was made and how good it is. It is written next to
// the table as recipe.json.
type Recipe struct {
	Made              time.Time  `json:"made"`
	Teacher           string     `json:"teacher"`
	TeacherDimensions int        `json:"teacher_dimensions"`
	Tokens            int        `json:"tokens"`        // entries of the vocabulary
	TaughtTokens      int        `json:"taught_tokens"` // that the teacher has a vector for
	SeenTokens        int        `json:"seen_tokens"`   // that occur in a passage learned from
	Unknown           float64    `json:"unknown"`       // share of the passages' tokens that are [UNK]
	Passages          int        `json:"passages"`      // learned from
	HeldOut           int        `json:"held_out"`      // measured on
	LeftOut           int        `json:"left_out"`      // the teacher has no vector for them
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

// Run makes the table. Vectors that the teacher returned before an error, or
// the end of ctx, stay in the work file.
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

// complete fills in defaults and checks what it can without reading anything.
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
		return fmt.Errorf("distil: the table cannot have %d dimensions, the teacher has %d", c.Dimensions, d)
	}
	if c.Limit < leastPassages {
		return fmt.Errorf("distil: at least %d passages are needed, and the limit is %d", leastPassages, c.Limit)
	}
	if err := checkOut(c.Out); err != nil {
		return fmt.Errorf("distil: %w", err)
	}
	return nil
}

// publish writes a table and its record, which finish makes from the table as
// read back, into a temporary directory and renames that when it is complete.
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

// checkOut refuses a directory that is not empty.
func checkOut(out string) error {
	names, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(names) > 0:
		return fmt.Errorf("%s already exists: name another directory, or remove it", out)
	}
	return nil
}
