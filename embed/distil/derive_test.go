package distil_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/embed/distil"
	"almanac/embed/static"

	"github.com/google/go-cmp/cmp"
)

// derivation is of a table of five tokens and two dimensions.
func derivation(t *testing.T) distil.Derivation {
	return distil.Derivation{Model: "tide-1", Out: filepath.Join(t.TempDir(), "tables", "derived"),
		Now: func() time.Time { return made },
		Table: static.Table{Vocabulary: "[UNK]\n##s\ntide\nlock\nfog\n", Dimensions: 2,
			Rows: []int8{1, 1, 0, 127, 127, 0, 0, 127, 127, 127}, Scale: []float32{1, 1, 1, 1, 1},
			IDF: []float32{1, 1, 1, 1, 1}}}
}

// vector is that of a text in the table of a directory.
func vector(t *testing.T, dir, text string) []float32 {
	t.Helper()
	e := must[*static.Embedder](t)(static.Open(dir))
	return must[[][]float32](t)(e.Embed(t.Context(), []string{text}, 0))[0]
}

// TestDerivedTokensWeighByTheirIDFInThePassages: of 200 passages, 150 have a
// tide, some twice, and 20 a lock.
func TestDerivedTokensWeighByTheirIDFInThePassages(t *testing.T) {
	d := derivation(t)
	texts := slices.Concat(slices.Repeat([]string{"Tide tide, fog"}, 150), slices.Repeat([]string{"lock"}, 20),
		slices.Repeat([]string{""}, 30))
	d.Passages = giving(texts)
	got, err := distil.Derive(d)
	if err != nil {
		t.Fatal(err)
	}
	want := distil.Derived{Made: made, From: "tide-1", Model: got.Model, Dimensions: 2, Passages: 200}
	if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(got.Model, "static2-") {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var written distil.Derived
	if err := json.Unmarshal(files(t, d.Out)["recipe.json"], &written); err != nil || written != got {
		t.Errorf("recipe.json has %+v (%v)", written, err)
	}
	tide, lock := math.Sqrt(math.Log(1+50.5/150.5)), math.Sqrt(math.Log(1+180.5/20.5))
	v := vector(t, d.Out, "tide lock")
	if ratio := float64(v[1] / v[0]); math.Abs(ratio-lock/tide) > 1e-5 {
		t.Errorf("a lock weighs %v times a tide, want %v", ratio, lock/tide)
	}
	if d.Table.IDF[2] != 1 {
		t.Error("the table that was given changed")
	}
}

func TestDerivedPrefixKeepsItsWeights(t *testing.T) {
	d := derivation(t)
	d.Dimensions = 1
	got, err := distil.Derive(d)
	if err != nil {
		t.Fatal(err)
	}
	if got.Dimensions != 1 || got.Passages != 0 {
		t.Errorf("%+v", got)
	}
	if v := vector(t, d.Out, "tide lock"); !slices.Equal(v, []float32{1}) {
		t.Errorf("vector %v", v)
	}
}

func TestDeriveRefuses(t *testing.T) {
	many := giving(slices.Repeat([]string{"tide"}, 100))
	for name, c := range map[string]struct {
		change func(*distil.Derivation)
		want   string
	}{
		"nothing to do":               {func(d *distil.Derivation) {}, "would be the same"},
		"more dimensions than it has": {func(d *distil.Derivation) { d.Dimensions = 3 }, "3 dimensions"},
		"dimensions below 0":          {func(d *distil.Derivation) { d.Dimensions = -1 }, "-1 dimensions"},
		"few passages": {func(d *distil.Derivation) { d.Passages = giving(make([]string, 99)) },
			"there are 99"},
		"passages that cannot be read": {func(d *distil.Derivation) {
			d.Passages = func(func(string)) error {
				return errors.New("torn page")
			}
		}, "torn page"},
		"a vocabulary without [UNK]": {func(d *distil.Derivation) { d.Passages, d.Table.Vocabulary = many, "a\n##b\n" },
			"no [UNK]"},
		"a directory that is there": {func(d *distil.Derivation) {
			d.Passages, d.Out = many,
				filepath.Dir(must[string](t)(os.Executable()))
		}, "already exists"},
	} {
		t.Run(name, func(t *testing.T) {
			d := derivation(t)
			out := d.Out
			c.change(&d)
			if _, err := distil.Derive(d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}
