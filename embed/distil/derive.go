package distil

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"almanac/embed/static"
)

// Derivation says how to derive a table from another without a teacher.
type Derivation struct {
	Table static.Table
	Model string // name of the model that Table is of
	// Passages yields texts as they are embedded. Tokens are then weighted by their
	// idf in these texts instead of the texts the table was made with; the idf is
	// written into the table, so vectors do not change when the texts do. nil: the
	// weights stay as they are.
	Passages   func(add func(text string)) error
	Dimensions int    // how many of each row to keep; 0: all
	Out        string // directory of the result; it must not exist, or be empty
	Now        func() time.Time
}

// Derived records how a table was derived. It is written next to the table as recipe.json.
type Derived struct {
	Made       time.Time `json:"made"`
	From       string    `json:"from"` // model
	Model      string    `json:"model"`
	Dimensions int       `json:"dimensions"`
	Passages   int       `json:"passages,omitempty"` // that the idf was computed on; 0: it is that of From
}

// Derive makes the table.
func Derive(d Derivation) (Derived, error) {
	made, err := d.run()
	if err != nil {
		return Derived{}, fmt.Errorf("distil: %w", err)
	}
	return made, nil
}

func (d Derivation) run() (made Derived, err error) {
	if d.Passages == nil && d.Dimensions == 0 {
		return made, errors.New("neither passages nor dimensions: the table would be the same")
	}
	if err := checkOut(d.Out); err != nil {
		return made, err
	}
	t := d.Table
	if d.Dimensions != 0 {
		if t, err = t.Prefix(d.Dimensions); err != nil {
			return made, err
		}
	}
	if d.Passages != nil {
		if t.IDF, made.Passages, err = d.idf(); err != nil {
			return made, err
		}
	}
	t.Note = fmt.Sprintf("derived from %s; %d dimensions; idf_train of its own texts", d.Model, t.Dimensions)
	if made.Passages > 0 {
		t.Note = fmt.Sprintf("derived from %s; %d dimensions; idf_train of %d other passages", d.Model, t.Dimensions,
			made.Passages)
	}
	err = publish(d.Out, t, func(e *static.Embedder) (any, error) {
		made.Made, made.From, made.Model, made.Dimensions = d.Now().UTC(), d.Model, e.Model(), e.Dimensions()
		return made, nil
	})
	return made, err
}

// idf returns the idf of the passages without keeping them.
func (d Derivation) idf() (values []float32, passages int, err error) {
	tokens, err := static.NewTokenizer(d.Table.Vocabulary)
	if err != nil {
		return nil, 0, fmt.Errorf("vocabulary: %w", err)
	}
	df := make([]int, tokens.Size())
	var ids []int32
	err = d.Passages(func(text string) {
		ids = tokens.Append(ids[:0], text)
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			df[id]++
		}
		passages++
	})
	if err == nil && passages < leastPassages {
		err = fmt.Errorf("at least %d passages are needed, and there are %d", leastPassages, passages)
	}
	return idf(df, passages), passages, err
}
