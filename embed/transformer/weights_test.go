package transformer

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"almanac/embed/transformer/kernel"
	"almanac/embed/wordpiece"
	"almanac/testing/race"
)

var update = flag.Bool("update", false, "make the file of weights again of ../shared")

// original is the model as it was published, in half precision.
const original = "../../../shared/models/bge-small/bge-small-en-v1.5.npz"

func TestModelNameBelongsToTheseWeights(t *testing.T) {
	// Vectors of different models must never meet: whoever changes the weights or the
	// vocabulary changes the model's name here and in transformer.go together.
	const name = "bge-small-en-v1.5-int8-1"
	const sum = "d1e0705ff9e3d87615f3b4d5e5e6112aa48ff272258ec5ff21e58d946990ec0a"
	h := sha256.New()
	h.Write(file)
	h.Write([]byte(wordpiece.Vocabulary))
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		t.Errorf("weights and vocabulary have hash %s, want %s: a changed model needs a new name", got, sum)
	}
	if Model != name {
		t.Errorf("the model is named %q, want %q", Model, name)
	}
}

// TestWeightsAreMadeOfTheModel makes the file again; with -update it writes it.
func TestWeightsAreMadeOfTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	race.Skip(t)
	archive, err := zip.OpenReader(original)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the model is not beside the repository")
	} else if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	made := quantised(t, &archive.Reader)
	if *update {
		if err := os.WriteFile("bge-small-en-v1.5.weights", made, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Log("written; its hash and the model's name are to be changed in the tests")
		return
	}
	if !bytes.Equal(made, file) {
		t.Error("the file of weights is not what the model gives: make it again with -update")
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"nothing": nil, "another format": append([]byte("x"), file[1:]...), "a cut file": file[:len(file)-1],
		"a longer file": append(slices.Clone(file), 0), "a header": file[:align],
	} {
		if _, err := read(data); !errors.Is(err, errFile) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// quantised is the file of weights of an archive. A column of a matrix, or a row
// of the table of words, is scaled so that its greatest number is 127.
func quantised(t *testing.T, archive *zip.Reader) []byte {
	var w weights
	w.words, w.scales = make([]byte, wordpiece.Size*width), make([]float32, wordpiece.Size)
	words := array(t, archive, "embeddings.word_embeddings.weight", wordpiece.Size, width)
	for i := range w.scales {
		row := words[i*width : (i+1)*width]
		w.scales[i] = scaleOf(row)
		for j, x := range row {
			w.words[i*width+j] = number(x, w.scales[i])
		}
	}
	w.positions = array(t, archive, "embeddings.position_embeddings.weight", positions, width)
	segment := array(t, archive, "embeddings.token_type_embeddings.weight", 2, width)
	for i := range w.positions {
		w.positions[i] += segment[i%width]
	}
	normOf := func(name string) norm {
		return norm{array(t, archive, name+".LayerNorm.weight", width), array(t, archive, name+".LayerNorm.bias", width)}
	}
	w.norm = normOf("embeddings")
	for i := range w.layers {
		name, l := fmt.Sprintf("encoder.layer.%d.", i), &w.layers[i]
		// matrixOf puts matrices side by side.
		matrixOf := func(in, out int, names ...string) kernel.Matrix {
			all := len(names) * out
			m := kernel.Matrix{In: in, Out: all, Packed: make([]byte, in*all), Sums: make([]int32, all),
				Scales: make([]float32, all)}
			for at, of := range names {
				x := array(t, archive, name+of+".weight", in, out)
				m.Bias = append(m.Bias, array(t, archive, name+of+".bias", out)...)
				column := make([]float32, in)
				for o := range out {
					for i := range column {
						column[i] = x[i*out+o]
					}
					to := at*out + o
					m.Scales[to] = scaleOf(column)
					for i, x := range column {
						n := number(x, m.Scales[to])
						m.Packed[m.At(i, to)] = n
						m.Sums[to] += int32(int8(n))
					}
				}
			}
			return m
		}
		l.attend = matrixOf(width, width, "attention.self.query", "attention.self.key", "attention.self.value")
		l.mix, l.mixed = matrixOf(width, width, "attention.output.dense"), normOf(name+"attention.output")
		l.widen, l.narrow = matrixOf(width, inner, "intermediate.dense"), matrixOf(inner, width, "output.dense")
		l.passed = normOf(name + "output")
	}
	var to writer
	begin := make([]byte, align)
	copy(begin, header)
	to.bytes(&begin, align)
	w.each(&to)
	return to
}

func scaleOf(x []float32) (scale float32) {
	for _, v := range x {
		scale = max(scale, v, -v)
	}
	return scale / 127
}

func number(x, scale float32) byte {
	if scale == 0 {
		return 0
	}
	return byte(int8(math.RoundToEven(float64(x) / float64(scale))))
}

// writer writes arrays as reader reads them.
type writer []byte

func (w *writer) bytes(at *[]byte, n int) {
	if len(*at) != n {
		panic(fmt.Sprintf("an array of %d, want %d", len(*at), n))
	}
	*w = append(*w, *at...)
	*w = append(*w, make([]byte, (align-n%align)%align)...)
}

func (w *writer) ints(at *[]int32, n int) {
	var raw []byte
	for _, x := range *at {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(x))
	}
	w.bytes(&raw, 4*n)
}

func (w *writer) floats(at *[]float32, n int) {
	var raw []byte
	for _, x := range *at {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	w.bytes(&raw, 4*n)
}

// array reads an array of half precision from an archive of NumPy.
func array(t *testing.T, archive *zip.Reader, name string, shape ...int) []float32 {
	t.Helper()
	f, err := archive.Open(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 1
	for _, s := range shape {
		n *= s
	}
	if data := len(raw) - 2*n; data < 10 || int(binary.LittleEndian.Uint16(raw[8:])) != data-10 ||
		!bytes.Contains(raw[:data], []byte("'<f2', 'fortran_order': False")) {
		t.Fatalf("%s is not an array of %v in half precision", name, shape)
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = half(binary.LittleEndian.Uint16(raw[len(raw)-2*n+2*i:]))
	}
	return values
}

// half is the value of a number in half precision.
func half(bits uint16) float32 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	value := math.Ldexp(1024+fraction, exponent-25)
	if exponent == 0 {
		value = math.Ldexp(fraction, -24)
	}
	if bits>>15 == 1 {
		value = -value
	}
	return float32(value)
}
