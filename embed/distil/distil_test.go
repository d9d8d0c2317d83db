package distil_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/embed"
	"almanac/embed/distil"
	"almanac/embed/static"

	"github.com/google/go-cmp/cmp"
)

var made = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// config is a run over the invented language, into a directory of its own.
func config(t testing.TB, teacher embed.Embedder) distil.Config {
	t.Helper()
	vocabulary, texts := language(400, 3)
	dir := t.TempDir()
	return distil.Config{Teacher: teacher, Vocabulary: vocabulary, Passages: giving(texts), Seed: 7, Dimensions: 32,
		Out: filepath.Join(dir, "tables", "tide"), Work: filepath.Join(dir, "work"),
		Now: func() time.Time { return made }}
}

// files are those of a directory by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = data
	}
	return out
}

func TestTheTableComesNearTheTeacher(t *testing.T) {
	// Before is a table for another language, which has the same syllables.
	other := config(t, newTeacher())
	vocabulary, texts := language(120, 99)
	other.Vocabulary, other.Passages = vocabulary, giving(texts)
	if _, err := distil.Run(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	before, err := static.Open(other.Out)
	if err != nil {
		t.Fatal(err)
	}
	teacher := newTeacher()
	c := config(t, teacher)
	c.Before = before
	stages := map[string]int{}
	c.Progress = func(stage string, done, total int) {
		if done < stages[stage] || done > total {
			t.Errorf("%s: %d of %d after %d", stage, done, total, stages[stage])
		}
		stages[stage] = done
	}
	recipe, err := distil.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("before %+v, after %+v, unprojected %v", *recipe.Before, recipe.After, recipe.Unprojected)
	if recipe.After.Cosine < recipe.Before.Cosine+0.1 || recipe.After.Similarity < recipe.Before.Similarity+0.1 {
		t.Errorf("before %+v, after %+v", *recipe.Before, recipe.After)
	}
	if recipe.Unprojected < 0.75 {
		t.Errorf("cosine %v before the projection", recipe.Unprojected)
	}
	if got := len(stages); got != 3 || stages["tokens"] == 0 || stages["passages"] != 400 || stages["solve"] != 2*50 {
		t.Errorf("stages %v", stages)
	}
	if teacher.purpose != embed.Document {
		t.Error("the teacher was called for queries")
	}

	table, err := static.Open(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	if table.Dimensions() != 32 || table.Model() != recipe.After.Model {
		t.Errorf("%s of %d dimensions, the recipe says %s", table.Model(), table.Dimensions(), recipe.After.Model)
	}
	want := distil.Recipe{Made: made, Teacher: "tidewise-48", TeacherDimensions: 48, Tokens: 235, TaughtTokens: 230,
		SeenTokens: recipe.SeenTokens,
		Passages:   360, HeldOut: 40, Unprojected: recipe.Unprojected, Before: recipe.Before, After: recipe.After,
		Parameters: distil.Parameters{Dimensions: 32, Limit: 30_000, Seed: 7, Lambda: 0.02, Steps: 50, EigenFloor: 1e-6,
			Flatten: 0.15}}
	if diff := cmp.Diff(want, recipe); diff != "" {
		t.Errorf("recipe (-want +got):\n%s", diff)
	}
	var written distil.Recipe
	if err := json.Unmarshal(files(t, c.Out)["recipe.json"], &written); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recipe, written); diff != "" {
		t.Errorf("recipe.json (-returned +written):\n%s", diff)
	}
}

// TestRunsAreTheSameToTheByte holds that neither the order of passages, nor
// copies, nor the number of processors, nor a run before changes a table, and
// that another seed does.
func TestRunsAreTheSameToTheByte(t *testing.T) {
	c := config(t, newTeacher())
	if _, err := distil.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	want := files(t, c.Out)
	if names := slices.Sorted(func(yield func(string) bool) {
		for name := range want {
			if !yield(name) {
				return
			}
		}
	}); !slices.Equal(names, []string{"recipe.json", "static32.npz", "vocab.txt"}) {
		t.Fatalf("files %q", names)
	}
	again := config(t, newTeacher())
	_, texts := language(400, 3)
	slices.Reverse(texts)
	again.Passages = giving(append(texts, texts[5], "  "+texts[9]+"\n", " "))
	again.Work = c.Work
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if _, err := distil.Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files(t, again.Out)); diff != "" {
		t.Error("the second run gave other files")
	}
	if asked := again.Teacher.(*teacher).asked; asked != 0 {
		t.Errorf("the second run embedded %d texts that are in the work file", asked)
	}
	again.Seed, again.Out = 8, again.Out+"-8"
	if _, err := distil.Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want["static32.npz"], files(t, again.Out)["static32.npz"]) {
		t.Error("another seed gave the same table")
	}
}

func TestARunGoesOnWhereItStopped(t *testing.T) {
	whole := config(t, newTeacher())
	if _, err := distil.Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	work, err := os.ReadFile(whole.Work)
	if err != nil {
		t.Fatal(err)
	}
	header, record := len(distil.WorkHeader("tidewise-48", 48)), distil.RecordSize(48)
	records := (len(work) - header) / record
	for _, c := range []struct {
		name  string
		work  []byte
		asked int
	}{
		{"cut inside its header", work[:9], records},
		{"cut behind its header", work[:header], records},
		{"cut inside a record of a token", work[:header+20*record+11], records - 20},
		{"cut inside a record of a passage", work[:len(work)-3], 1},
		{"cut between records", work[:len(work)-100*record], 100},
		{"damaged in two records", flip(flip(work, header+5*record+2), header+250*record-1), 2},
		{"with noise behind its records", append(slices.Clone(work), "noise"...), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			teacher := newTeacher()
			cut := config(t, teacher)
			if err := os.WriteFile(cut.Work, c.work, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := distil.Run(t.Context(), cut); err != nil {
				t.Fatal(err)
			}
			if teacher.asked != c.asked {
				t.Errorf("embedded %d texts, want %d", teacher.asked, c.asked)
			}
			if diff := cmp.Diff(files(t, whole.Out), files(t, cut.Out)); diff != "" {
				t.Error("the files differ from those of a whole run")
			}
		})
	}
	t.Run("by a server that went away", func(t *testing.T) {
		teacher := newTeacher()
		cut := config(t, teacher)
		teacher.fail = func(asked int, _ []string) error {
			if asked >= 320 {
				return errTeacher
			}
			return nil
		}
		if _, err := distil.Run(t.Context(), cut); !errors.Is(err, errTeacher) {
			t.Fatalf("error %v, want the teacher's", err)
		}
		if _, err := os.Stat(cut.Out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a failed run left %s (%v)", cut.Out, err)
		}
		teacher.fail = nil
		if _, err := distil.Run(t.Context(), cut); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files(t, whole.Out), files(t, cut.Out)); diff != "" || teacher.asked != records {
			t.Errorf("embedded %d texts in all, want %d; other files: %v", teacher.asked, records, diff != "")
		}
	})
	t.Run("by its context", func(t *testing.T) {
		for _, stage := range []string{"tokens", "passages", "solve"} {
			ctx, cancel := context.WithCancel(t.Context())
			cut := config(t, newTeacher())
			cut.Progress = func(s string, done, total int) {
				if s == stage && done > 0 {
					cancel()
				}
			}
			if _, err := distil.Run(ctx, cut); !errors.Is(err, context.Canceled) {
				t.Errorf("ended in %s: error %v", stage, err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(cut.Out), "*")); len(left) > 0 {
				t.Errorf("ended in %s: left %q", stage, left)
			}
		}
	})
}

func flip(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 0x10
	return data
}

// TestTextsTheTeacherCannotEmbed holds that single ones are left out and that
// the rest is learned from.
func TestTextsTheTeacherCannotEmbed(t *testing.T) {
	teacher := newTeacher()
	c := config(t, teacher)
	_, texts := language(400, 3)
	teacher.fail = func(_ int, asked []string) error {
		if slices.Contains(asked, texts[50]) || slices.Contains(asked, texts[300]) || slices.Contains(asked, "ba") {
			return errors.New("a text is too long")
		}
		return nil
	}
	recipe, err := distil.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if recipe.LeftOut != 2 || recipe.Passages+recipe.HeldOut != 398 || recipe.TaughtTokens != 228 {
		t.Errorf("recipe %+v", recipe)
	}
}

// answers is a teacher that answers something else.
type answers struct {
	*teacher
	bend func([][]float32) [][]float32
}

func (a answers) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	v, err := a.teacher.Embed(ctx, texts, p)
	return a.bend(v), err
}

func TestRunRefuses(t *testing.T) {
	vocabulary, texts := language(400, 3)
	var zero float32
	for name, c := range map[string]struct {
		change func(*distil.Config)
		want   string
	}{
		"a vocabulary without [UNK]": {func(c *distil.Config) {
			c.Vocabulary = strings.Replace(vocabulary,
				"[UNK]", "[unk]", 1)
		}, "no [UNK]"},
		"a vocabulary of another language": {func(c *distil.Config) { c.Vocabulary = "[UNK]\n##x\nxx\n" },
			"cannot spell 100%"},
		"few passages": {func(c *distil.Config) {
			c.Passages = giving(append(texts[:99:99],
				texts[:99]...))
		}, "there are 99"},
		"a low limit": {func(c *distil.Config) { c.Limit = 99 }, "at least 100"},
		"passages that cannot be read": {func(c *distil.Config) {
			c.Passages = func(func(string)) error {
				return errors.New("torn page")
			}
		}, "torn page"},
		"more dimensions than the teacher has": {func(c *distil.Config) { c.Dimensions = 49 }, "49 dimensions"},
		"a directory that is there": {func(c *distil.Config) {
			c.Out = filepath.Dir(
				c.Work)
			_ = os.WriteFile(c.Work, nil, 0o644)
		}, "already exists"},
		"a work file of another teacher": {func(c *distil.Config) {
			_ = os.WriteFile(c.Work,
				distil.WorkHeader("other", 48), 0o644)
		}, "another teacher"},
		"a work file of other dimensions": {func(c *distil.Config) {
			_ = os.WriteFile(c.Work,
				distil.WorkHeader("tidewise-48", 47), 0o644)
		}, "another teacher"},
		"a file that is no work file": {func(c *distil.Config) { _ = os.WriteFile(c.Work, []byte("notes"), 0o644) },
			"another teacher"},
		"a teacher that answers too few": {func(c *distil.Config) {
			c.Teacher = answers{newTeacher(), func(v [][]float32) [][]float32 { return v[1:] }}
		}, "0 vectors for 1 texts"},
		"a teacher that answers short vectors": {func(c *distil.Config) { c.Teacher = answers{newTeacher(), short} },
			"47 dimensions, not 48"},
		"a teacher that answers no numbers": {func(c *distil.Config) {
			c.Teacher = answers{newTeacher(),
				filled(zero / zero)}
		}, "NaN"},
		"a teacher that knows nothing": {func(c *distil.Config) {
			c.Teacher = answers{newTeacher(),
				filled(0)}
		}, "no vector for any token"},
		"a teacher that has one vector for all": {func(c *distil.Config) {
			c.Teacher = answers{newTeacher(),
				filled(1)}
		}, "same vector"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := config(t, newTeacher())
			c.change(&conf)
			if _, err := distil.Run(t.Context(), conf); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func short(v [][]float32) [][]float32 {
	for i := range v {
		v[i] = v[i][1:]
	}
	return v
}

func filled(x float32) func([][]float32) [][]float32 {
	return func(v [][]float32) [][]float32 {
		for i := range v {
			for j := range v[i] {
				v[i][j] = x
			}
		}
		return v
	}
}

func TestDraw(t *testing.T) {
	var texts []string
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	drawn := distil.Draw(100, 1, texts...)
	if len(drawn) != 100 || len(distil.Draw(2000, 1, append(texts, texts...)...)) != 1000 {
		t.Fatalf("%d texts", len(drawn))
	}
	grown := append(slices.Clone(texts), "one more", "and another")
	slices.Reverse(grown)
	kept := 0
	for _, text := range distil.Draw(100, 1, grown...) {
		if slices.Contains(drawn, text) {
			kept++
		}
	}
	if kept < 98 {
		t.Errorf("two texts more replaced %d of 100", 100-kept)
	}
	if slices.Equal(drawn, distil.Draw(100, 2, texts...)) {
		t.Error("another seed takes the same texts")
	}
}

func TestSpelled(t *testing.T) {
	for token, want := range map[string]string{"tide": "tide", "##ing": "ing", "[CLS]": "", "[unused7]": "", "[": "[",
		"]": "]", "[]": "[]", "##": "##", "###": "#", "#": "#"} {
		if got := distil.Spelled(token); got != want {
			t.Errorf("%q is embedded as %q, want %q", token, got, want)
		}
	}
}
