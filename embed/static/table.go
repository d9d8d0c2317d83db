package static

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxTable bounds the bytes of a table's rows, and of the file that holds
	// them.
	maxTable = 1 << 29
	// maxVocabulary bounds the bytes of a vocabulary.
	maxVocabulary = 1 << 24

	vocabName    = "vocab.txt"
	tablePattern = "static*.npz"
)

// Table is a model as stored in a directory: vocab.txt and, named after its
// dimensions, static256.npz with the arrays table, scale, idf_train and
// note. By token, in the order of the vocabulary's lines:
type Table struct {
	Vocabulary string
	Dimensions int
	Rows       []int8    // Dimensions values a token
	Scale      []float32 // a token's row is multiplied by it
	IDF        []float32 // its root is the token's weight in a text
	Note       string    // for people
}

// Embedded returns the table of the embedded model, without its note.
func Embedded() (Table, error) {
	t, err := parseTable(modelFile, vocabFile)
	if err != nil {
		return Table{}, fmt.Errorf("static model: %w", err)
	}
	return t, nil
}

// parseTable reads the file of a table for a vocabulary, except its note.
func parseTable(file []byte, vocabulary string) (Table, error) {
	z, err := openNPZ(file)
	if err != nil {
		return Table{}, err
	}
	n := strings.Count(strings.TrimSuffix(vocabulary, "\n"), "\n") + 1
	t := Table{Vocabulary: vocabulary}
	if t.Dimensions, err = z.int8Columns("table", n, maxTable/n); err != nil {
		return Table{}, err
	}
	if t.Rows, err = z.int8s("table", n, t.Dimensions); err != nil {
		return Table{}, err
	}
	if t.Scale, err = z.float32s("scale", n); err != nil {
		return Table{}, err
	}
	if t.IDF, err = z.float32s("idf_train", n); err != nil {
		return Table{}, err
	}
	for id := range n {
		if !isWeight(t.Scale[id]) || !isWeight(t.IDF[id]) {
			return Table{}, fmt.Errorf("token %d has scale %v and idf %v", id, t.Scale[id], t.IDF[id])
		}
	}
	return t, nil
}

// isWeight reports whether x can weigh a row without making sums infinite or NaN.
func isWeight(x float32) bool { return x >= 0 && x < 1e6 }

// Prefix returns the table with the first dimensions of each row. The values
// stay as they are: vectors of texts are normalised, and rounding again would
// only lose precision.
func (t Table) Prefix(dimensions int) (Table, error) {
	if dimensions < 1 || dimensions > t.Dimensions {
		return Table{}, fmt.Errorf("%d dimensions cannot be cut from a table of %d", dimensions, t.Dimensions)
	}
	rows := make([]int8, 0, len(t.Scale)*dimensions)
	for row := range slices.Chunk(t.Rows, t.Dimensions) {
		rows = append(rows, row[:dimensions]...)
	}
	t.Rows, t.Dimensions = rows, dimensions
	return t, nil
}

// Write writes the files into an existing directory and syncs them. The same
// table gives the same bytes.
func (t Table) Write(dir string) error {
	n := len(t.Scale)
	if len(t.IDF) != n || len(t.Rows) != n*t.Dimensions {
		return fmt.Errorf("static table: %d scales, %d idf, %d values of %d dimensions", n, len(t.IDF), len(t.Rows),
			t.Dimensions)
	}
	err := writeFile(filepath.Join(dir, vocabName), func(w io.Writer) error {
		_, err := io.WriteString(w, t.Vocabulary)
		return err
	})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, fmt.Sprintf("static%d.npz", t.Dimensions)), func(w io.Writer) error {
		z, note := newNPZ(w), []rune(t.Note)
		return errors.Join(
			z.array("table", "|i1", t.Rows, n, t.Dimensions),
			z.array("scale", "<f4", t.Scale, n),
			z.array("idf_train", "<f4", t.IDF, n),
			z.array("note", fmt.Sprintf("<U%d", len(note)), note),
			z.close(),
		)
	})
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Sync(), f.Close())
}

// Open opens the model in a directory that Table.Write wrote, or that holds the
// same files. The model's name includes a hash of them: different contents have
// different names. Tokens are weighted as in New.
func Open(dir string) (*Embedder, error) {
	names, err := filepath.Glob(filepath.Join(escape(dir), tablePattern))
	if err != nil {
		return nil, fmt.Errorf("static model %s: %w", dir, err)
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("static model %s: %d files named %s, want one", dir, len(names), tablePattern)
	}
	table, err := readFile(names[0], maxTable)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	vocabulary, err := readFile(filepath.Join(dir, vocabName), maxVocabulary)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	e, err := newEmbedder(table, string(vocabulary), rootOfIDF)
	if err != nil {
		return nil, fmt.Errorf("static model %s: %w", dir, err)
	}
	h := sha256.New()
	h.Write(table)
	h.Write(vocabulary)
	e.model = fmt.Sprintf("static%d-%x%s", e.dimensions, h.Sum(nil)[:6], weighting)
	return e, nil
}

// escape quotes a path for use in a pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readFile reads a file of at most the given number of bytes.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return data, err
}
