package static_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"almanac/embed"
	"almanac/embed/static"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// small is a table of three dimensions.
func small() static.Table {
	return static.Table{
		Vocabulary: "[PAD]\n[UNK]\ntide\n##s\nlock\n",
		Dimensions: 3,
		Rows:       []int8{0, 0, 0, 1, 2, 3, 127, -127, 0, 0, 127, -1, -5, 4, 127},
		Scale:      []float32{0, 0.5, 0.25, 1, 0.125},
		IDF:        []float32{9, 4, 1, 0.25, 2.25},
		Note:       "made by hand – of driftwood",
	}
}

func write(t testing.TB, table static.Table) string {
	t.Helper()
	dir := t.TempDir()
	if err := table.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOpenReadsWhatWriteWrote(t *testing.T) {
	dir := write(t, small())
	e, err := static.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e.Dimensions() != 3 || !regexp.MustCompile(`^static3-[0-9a-f]{12}-sqrtidf$`).MatchString(e.Model()) {
		t.Errorf("%s of %d dimensions", e.Model(), e.Dimensions())
	}
	if ids := e.Tokens("Tides lock!"); !slices.Equal(ids, []int32{2, 3, 4, 1}) {
		t.Errorf("tokens %v", ids)
	}
	// tide 1·¼·(127,−127,0) + ##s ½·1·(0,127,−1) + lock 1½·⅛·(−5,4,127)
	want := []float64{127./4 - 15./16, -127./4 + 127./2 + 12./16, -0.5 + 3*127./16}
	length := math.Sqrt(want[0]*want[0] + want[1]*want[1] + want[2]*want[2])
	for i, x := range vectorOf(t, e, "tides lock") {
		if math.Abs(float64(x)-want[i]/length) > 1e-6 {
			t.Errorf("component %d is %v, want %v", i, x, want[i]/length)
		}
	}
	// Several rows at once, and a text of none.
	vs, err := e.Embed(t.Context(), []string{strings.Repeat("tide lock ", 9), ""}, embed.Query)
	if err != nil || math.Abs(dot(vs[0], vs[0])-1) > 1e-5 || dot(vs[1], vs[1]) != 0 {
		t.Errorf("vectors %v, error %v", vs, err)
	}
}

// TestTheEmbeddedModelIsATable opens the embedded files from a directory and
// wants the same vectors under another name.
func TestTheEmbeddedModelIsATable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [1]*") // a path is not a pattern
	writeFiles(t, dir, map[string][]byte{"static256.npz": static.File, "vocab.txt": []byte(static.Vocabulary()),
		"recipe.json": []byte("{}")})
	opened, err := static.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	embedded := newEmbedder(t)
	if opened.Model() == embedded.Model() || opened.Dimensions() != 256 {
		t.Errorf("%s of %d dimensions", opened.Model(), opened.Dimensions())
	}
	for _, text := range []string{"a validator rotates its signing key", "漢字 zzqx", ""} {
		if !slices.Equal(vectorOf(t, opened, text), vectorOf(t, embedded, text)) {
			t.Errorf("%q has another vector", text)
		}
	}
}

// TestAPrefixIsTheBeginningOfEachRow compares vectors of the prefix with the
// beginnings of the whole ones, which are not of length 1 any more.
func TestAPrefixIsTheBeginningOfEachRow(t *testing.T) {
	open := func(table static.Table) *static.Embedder {
		e, err := static.Open(write(t, table))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	whole := small()
	short, err := whole.Prefix(2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(small(), whole); diff != "" {
		t.Errorf("the whole table changed:\n%s", diff)
	}
	a, b := open(whole), open(short)
	for _, text := range []string{"tides lock", "lock", "!"} {
		want, got := vectorOf(t, a, text)[:2], vectorOf(t, b, text)
		length := math.Sqrt(dot(want, want))
		for i := range got {
			if len(got) != 2 || math.Abs(float64(got[i])-float64(want[i])/length) > 1e-6 {
				t.Fatalf("%q is %v, want %v of length 1", text, got, want)
			}
		}
	}
	for _, dimensions := range []int{-1, 0, 4} {
		if _, err := whole.Prefix(dimensions); err == nil {
			t.Errorf("no error for %d dimensions", dimensions)
		}
	}
}

func writeFiles(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheModelsNameIsThatOfItsContents(t *testing.T) {
	name := func(table static.Table) string {
		e, err := static.Open(write(t, table))
		if err != nil {
			t.Fatal(err)
		}
		return e.Model()
	}
	a, b, c := small(), small(), small()
	b.Rows[6]--
	c.Vocabulary = strings.Replace(c.Vocabulary, "lock", "dock", 1)
	if name(a) != name(small()) || name(a) == name(b) || name(a) == name(c) {
		t.Errorf("%s, again %s, with another value %s, with another entry %s", name(a), name(small()), name(b), name(c))
	}
	if !bytes.Equal(read(t, write(t, a), "static3.npz"), read(t, write(t, a), "static3.npz")) {
		t.Error("the same table gave other bytes")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := write(t, small())
	table, vocabulary := read(t, dir, "static3.npz"), read(t, dir, "vocab.txt")
	changed := func(change func(*static.Table)) []byte {
		s := small()
		change(&s)
		return read(t, write(t, s), "static3.npz")
	}
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string
	}{
		"an empty directory": {nil, "0 files named static*.npz"},
		"two tables": {map[string][]byte{"static3.npz": table, "static4.npz": table,
			"vocab.txt": vocabulary}, "2 files"},
		"no vocabulary": {map[string][]byte{"static3.npz": table}, "vocab.txt"},
		"another vocabulary's length": {map[string][]byte{"static3.npz": table,
			"vocab.txt": append(vocabulary, "more\n"...)}, "want 6 rows"},
		"a vocabulary without [UNK]": {map[string][]byte{"static3.npz": table,
			"vocab.txt": bytes.Replace(vocabulary, []byte("[UNK]"), []byte("unk"), 1)}, "no [UNK]"},
		"a vocabulary with an entry twice": {map[string][]byte{"static3.npz": table,
			"vocab.txt": bytes.Replace(vocabulary, []byte("lock"), []byte("tide"), 1)}, "twice"},
		"an empty vocabulary": {map[string][]byte{"static3.npz": table, "vocab.txt": nil}, "entry 0"},
		"no archive":          {map[string][]byte{"static3.npz": []byte("rows"), "vocab.txt": vocabulary}, "zip"},
		"a cut archive": {map[string][]byte{"static3.npz": table[:len(table)-30], "vocab.txt": vocabulary},
			"zip"},
		"a scale that is no number": {map[string][]byte{"static3.npz": changed(
			func(s *static.Table) { s.Scale[2] = float32(math.NaN()) }), "vocab.txt": vocabulary},
			"token 2 has scale NaN"},
		"a scale below 0": {map[string][]byte{"static3.npz": changed(func(s *static.Table) { s.Scale[1] = -1 }),
			"vocab.txt": vocabulary}, "scale -1"},
		"an infinite idf": {map[string][]byte{"static3.npz": changed(func(s *static.Table) {
			s.IDF[4] = float32(
				math.Inf(1))
		}), "vocab.txt": vocabulary}, "idf +Inf"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, c.files)
			if _, err := static.Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	t.Run("a directory that is not there", func(t *testing.T) {
		if _, err := static.Open(filepath.Join(t.TempDir(), "none")); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a table that cannot be written", func(t *testing.T) {
		s := small()
		s.Scale = s.Scale[1:]
		if err := s.Write(t.TempDir()); err == nil {
			t.Error("no error")
		}
		if err := small().Write(filepath.Join(t.TempDir(), "none")); err == nil {
			t.Error("no error without a directory")
		}
	})
}

// TestTablesOfAnySizeComeBack holds that int8 and float32 values survive.
func TestTablesOfAnySizeComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.IntRange(1, 9).Draw(rt, "dimensions")
		table := static.Table{Vocabulary: "[UNK]\n##a\nb\n", Dimensions: d, Note: rapid.String().Draw(rt, "note"),
			Rows:  rapid.SliceOfN(rapid.Int8(), 3*d, 3*d).Draw(rt, "rows"),
			Scale: rapid.SliceOfN(rapid.Float32Range(0, 9), 3, 3).Draw(rt, "scale"),
			IDF:   rapid.SliceOfN(rapid.Float32Range(0, 9), 3, 3).Draw(rt, "idf")}
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err == nil {
			err = table.Write(dir)
		}
		if err != nil {
			rt.Fatal(err)
		}
		var got static.Table
		data := read(t, dir, filepath.Base(glob(t, dir)))
		if _, got.Rows, err = static.ReadNPZ(data, "table", 3, d); err != nil {
			rt.Fatal(err)
		}
		got.Scale, _, _ = static.ReadNPZ(data, "scale", 3)
		got.IDF, _, _ = static.ReadNPZ(data, "idf_train", 3)
		got.Vocabulary, got.Dimensions, got.Note = table.Vocabulary, d, table.Note
		if diff := cmp.Diff(table, got); diff != "" {
			rt.Fatalf("(-written +read):\n%s", diff)
		}
		if _, err := static.Open(dir); err != nil {
			rt.Fatal(err)
		}
	})
}

func glob(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "static*.npz"))
	if err != nil || len(names) != 1 {
		t.Fatalf("tables %q, error %v", names, err)
	}
	return names[0]
}

func FuzzOpen(f *testing.F) {
	dir := write(f, small())
	table, vocabulary := read(f, dir, "static3.npz"), read(f, dir, "vocab.txt")
	f.Add(table, vocabulary)
	f.Add(table[:len(table)/2], vocabulary)
	f.Add(table, []byte("[UNK]\n##\n"))
	f.Add(archive(f, "table", "\x93NUMPY\x01\x00\x45\x00{'descr': '|i1', 'fortran_order': False, 'shape': (5, "+
		"99999999), }   \n"), vocabulary)
	f.Add([]byte("PK\x05\x06"), []byte("\xff\n\n"))
	f.Fuzz(func(t *testing.T, table, vocabulary []byte) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string][]byte{"static3.npz": table, "vocab.txt": vocabulary})
		e, err := static.Open(dir)
		if err != nil {
			return
		}
		vs, err := e.Embed(context.Background(), []string{"tides lock", string(vocabulary)}, embed.Document)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			if square := dot(v, v); len(v) != e.Dimensions() || square != 0 && math.Abs(square-1) > 1e-4 {
				t.Errorf("a vector of %d dimensions with squared length %v", len(v), square)
			}
		}
	})
}
