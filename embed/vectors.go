package embed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
)

// Vectors are those of documents that were embedded before, by model and text, as
// numbers of 8 bits with a scale for each vector: what comes with the program need not
// be embedded where it runs.
type Vectors struct {
	dimensions int
	rows       []byte // in the order of their keys
}

// vectorsHeader begins the file; the number of dimensions follows in four bytes, then
// rows: eight bytes of the key, the scale as float32, the numbers.
const vectorsHeader = "almanac vectors 1\n"

const rowHead = 8 + 4

var errVectors = errors.New("embed: this is no file of vectors")

// ReadVectors reads a file in place.
func ReadVectors(file []byte) (v Vectors, err error) {
	rest, ok := bytes.CutPrefix(file, []byte(vectorsHeader))
	if !ok || len(rest) < 4 {
		return v, errVectors
	}
	v = Vectors{int(binary.LittleEndian.Uint32(rest)), rest[4:]}
	if v.dimensions == 0 || len(v.rows)%v.row() != 0 {
		return Vectors{}, errVectors
	}
	return v, nil
}

// EncodeVectors makes a file of the vectors of texts under a model.
func EncodeVectors(model string, texts []string, vectors [][]float32) []byte {
	rows := make([][]byte, len(texts))
	for i, v := range vectors {
		key := keyOf(model, texts[i], Document)
		var most float32
		for _, x := range v {
			most = max(most, x, -x)
		}
		scale := max(most, math.SmallestNonzeroFloat32) / math.MaxInt8
		row := binary.LittleEndian.AppendUint32(slices.Clone(key[:8]), math.Float32bits(scale))
		for _, x := range v {
			row = append(row, byte(int8(math.RoundToEven(float64(x/scale)))))
		}
		rows[i] = row
	}
	slices.SortFunc(rows, bytes.Compare)
	file := binary.LittleEndian.AppendUint32([]byte(vectorsHeader), uint32(len(vectors[0])))
	return append(file, bytes.Join(rows, nil)...)
}

func (v Vectors) row() int { return rowHead + v.dimensions }

// find returns the vector of a key; nil if it is not there.
func (v Vectors) find(k cacheKey, dimensions int) []float32 {
	if v.dimensions != dimensions {
		return nil
	}
	at := func(i int) []byte { return v.rows[i*v.row() : (i+1)*v.row()] }
	i, ok := sort.Find(len(v.rows)/v.row(), func(i int) int { return bytes.Compare(k[:8], at(i)[:8]) })
	if !ok {
		return nil
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(at(i)[8:]))
	vector := make([]float32, dimensions)
	for j, b := range at(i)[rowHead:] {
		vector[j] = float32(int8(b)) * scale
	}
	return vector
}
