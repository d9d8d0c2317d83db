// Package table reads the rows and figures of JSON and CSV by the names that options
// give to them.
package table

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/text/dates"
)

const (
	maxRows    = 200_000
	maxColumns = 1000
	maxDigits  = 400 // of a figure
)

// Row is a row of a table: an object of JSON or a line of CSV.
type Row struct {
	Key    string // its name, if the table is an object of rows
	object json.RawMessage
	places map[string]int // of the columns of CSV
	line   []string
}

// Text returns the text or number of a column, "" for none. A column of JSON is a
// Path.
func (r Row) Text(column string) string {
	if r.places != nil {
		if i, ok := r.places[strings.ToLower(column)]; ok && i < len(r.line) {
			return strings.TrimSpace(r.line[i])
		}
		return ""
	}
	found := Path(column).Find(r.object)
	if text, ok := Text(found); ok && found[0] != 't' && found[0] != 'f' {
		return text
	}
	return ""
}

// JSON returns the document without what may surround it; ok is false if it is not
// valid.
func JSON(raw []byte) (document json.RawMessage, ok bool) {
	document = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\ufeff")))
	return document, json.Valid(document)
}

// Each visits the rows of JSON, a list or an object of objects at the path items, or
// of CSV, which needs a column of one of the names. A row is valid until the next one.
// If it fails, the rows it has visited are not the table.
func Each(raw []byte, items Path, names []string, visit func(Row) error) error {
	n := 0
	counted := func(r Row) error {
		if n++; n > maxRows {
			return fmt.Errorf("the report has more than %d rows", maxRows)
		}
		return visit(r)
	}
	document, ok := JSON(raw)
	switch {
	case len(document) == 0:
		return errors.New("the report is empty")
	case document[0] == '<':
		return errors.New("the report is a page for people, neither JSON nor CSV")
	case document[0] != '{' && document[0] != '[':
		return lines(document, names, counted)
	case !ok:
		var value any
		return fmt.Errorf("the report is not valid JSON: %w", json.Unmarshal(document, &value))
	}
	if list, ok := items.List(document); ok {
		for _, object := range list {
			if err := counted(Row{object: object}); err != nil {
				return err
			}
		}
		return nil
	}
	var byKey map[string]json.RawMessage
	if json.Unmarshal(items.Find(document), &byKey) != nil {
		return errNoList
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if byKey[key][0] != '{' {
			return errNoList
		}
		if err := counted(Row{Key: key, object: byKey[key]}); err != nil {
			return err
		}
	}
	return nil
}

var errNoList = errors.New("the report has no list; set its path with option items")

// lines visits the rows of CSV.
func lines(raw []byte, names []string, visit func(Row) error) error {
	raw = bytes.ToValidUTF8(raw, nil)
	head, _, _ := bytes.Cut(raw, []byte("\n"))
	comma := separator(head)
	for line := range bytes.Lines(raw) {
		if n := bytes.Count(line, []byte(string(comma))) + 1; n > maxColumns {
			return fmt.Errorf("the report has %d columns; the limit is %d", n, maxColumns)
		}
	}
	r := csv.NewReader(bytes.NewReader(raw))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	var row Row
	for {
		line, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the report is not valid CSV: %w", err)
		case row.places == nil:
			row.places = map[string]int{}
			for i, name := range line {
				row.places[strings.ToLower(strings.TrimSpace(name))] = i
			}
			if !slices.ContainsFunc(names, row.has) {
				return fmt.Errorf("the first line of the report has no column %q; see option columns", names)
			}
			continue
		}
		row.line = line
		if err := visit(row); err != nil {
			return err
		}
	}
}

func (r Row) has(column string) bool {
	_, ok := r.places[strings.ToLower(column)]
	return ok
}

func separator(head []byte) rune {
	best, most := ',', bytes.Count(head, []byte(","))
	for _, c := range []rune{';', '\t'} {
		if n := bytes.Count(head, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// Missing reports whether there is no value.
func Missing(data json.RawMessage) bool { return data == nil || string(data) == "null" }

var decimal = regexp.MustCompile(`^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$`)

// Number reads a number or a text with one and moves its decimal point left by some
// places: it rounds only once, so that 4.1 percent is 0.041.
func Number(data json.RawMessage, places int) (float64, error) {
	s, ok := Text(data)
	if !ok || len(s) > maxDigits || !decimal.MatchString(s) {
		return 0, fmt.Errorf("%.40q is not a number", s)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	e, err := strconv.Atoi(cmp.Or(exponent, "0"))
	n, tooLarge := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e-places), 64)
	if err != nil || tooLarge != nil {
		return 0, fmt.Errorf("%.40s is beyond any plausible value", s)
	}
	return n, nil
}

// Time reads a day or time, or the seconds since 1970 or parts of them; ok is false
// if the text is none.
func Time(s string) (at time.Time, ok bool) {
	at, shape := dates.Parse(s, dates.Day|dates.Local|dates.Instant|dates.Unix|dates.Free)
	return at, shape != 0
}
