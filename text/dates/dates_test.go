package dates_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"almanac/text/dates"
)

// all are the shapes that one text cannot have in two meanings.
const all = dates.Year | dates.Month | dates.Day | dates.Local | dates.Instant | dates.Free

var names = map[dates.Shape]string{0: "refused", dates.Year: "year", dates.Month: "month", dates.Day: "day",
	dates.Local: "local", dates.Instant: "instant", dates.Unix: "unix"}

// example is a row of testdata/dates.tsv.
type example struct{ text, shape, at string }

func examples(t testing.TB) (list []example) {
	t.Helper()
	data, err := os.ReadFile("testdata/dates.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		row := append(strings.Split(line, "\t"), "")
		text, err := strconv.Unquote(`"` + row[0] + `"`)
		if err != nil || len(row) < 3 {
			t.Fatalf("row %q: %v", line, err)
		}
		list = append(list, example{text, row[1], row[2]})
	}
	return list
}

func TestParse(t *testing.T) {
	list := examples(t)
	if len(list) < 200 {
		t.Fatalf("there are %d examples", len(list))
	}
	for _, e := range list {
		at, shape := dates.Parse(e.text, all)
		var got string
		if shape != 0 {
			got = at.Format(time.RFC3339Nano)
		}
		if names[shape] != e.shape || got != e.at {
			t.Errorf("%q: %s %s, want %s %s", e.text, names[shape], got, e.shape, e.at)
		}
	}
}

// TestOnlyTheShapesThatAreTaken reads every example with one shape left out, and
// with that shape alone.
func TestOnlyTheShapesThatAreTaken(t *testing.T) {
	for _, e := range examples(t) {
		want, shape := dates.Parse(e.text, all)
		if shape == 0 {
			continue
		}
		if at, got := dates.Parse(e.text, all&^shape); got != 0 || !at.IsZero() {
			t.Errorf("%q without shape %s: %s %s", e.text, e.shape, at, names[got])
		}
		if at, got := dates.Parse(e.text, shape|dates.Free); got != shape || !at.Equal(want) {
			t.Errorf("%q with shape %s: %s %s", e.text, e.shape, at, names[got])
		}
		if at := dates.At(e.text, shape); !at.IsZero() && canonical(at, shape) != e.text && shape != dates.Instant {
			t.Errorf("%q has not the form of a %s and is read as %s", e.text, e.shape, at)
		}
	}
}

func TestUnix(t *testing.T) {
	for text, want := range map[string]int64{
		"1936767889": 1936767889, "1936767889000": 1936767889, "1936767889123456": 1936767889,
		"1936767889123456789": 1936767889, "1936767889.75": 1936767889, "1.936767889e9": 1936767889,
		"1.936767889E+12": 1936767889, " 1936767889 ": 1936767889, "+1936767889": 1936767889, "0": 0, "20310506": 20310506,
	} {
		if at, shape := dates.Parse(text, dates.Unix|dates.Day|dates.Free); shape != dates.Unix || at.Unix() != want {
			t.Errorf("%q: %s %s", text, at, names[shape])
		}
	}
	for _, text := range []string{"", "-1", "NaN", "Inf", "1e300", "0x10", "1_000", "1e99999999", "."} {
		if at, shape := dates.Parse(text, dates.Unix|dates.Free); shape != 0 {
			t.Errorf("%q: %s %s", text, at, names[shape])
		}
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"By 2031-05-06, or June 7th, 2031.": "2031-05-06=2031-05-06 June 7th, 2031=2031-06-07",
		"from 6 May 2031 to the 8th of May, 2031": "6 May 2031=2031-05-06 8th of May, 2031=2031-05-08",
		"2031-05-06T07:08:09Z":                    "2031-05-06T=2031-05-06",
		"by the end of Sept. 2031":                "end of Sept. 2031=2031-09",
		"in MAY 2031 or may, 2032":                "MAY 2031=2031-05 may, 2032=2032-05",
		"3/4/2031, 2031-02-30, 1889-01-01, May 2200, decades 2031, 12031-05-06": "",
		"nov 31, 2031": "",
	} {
		var got []string
		for _, f := range dates.Find(text) {
			got = append(got, text[f.Start:f.End]+"="+canonical(f.Time, f.Shape))
		}
		if have := strings.Join(got, " "); have != want {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
}

// canonical writes a date in the form of its shape.
func canonical(at time.Time, shape dates.Shape) string {
	switch shape {
	case dates.Year:
		return at.Format("2006")
	case dates.Month:
		return at.Format("2006-01")
	case dates.Day:
		return at.Format(time.DateOnly)
	case dates.Local:
		return at.Format("2006-01-02T15:04:05.999999999")
	case dates.Unix:
		return strconv.FormatInt(at.Unix(), 10)
	}
	return at.Format(time.RFC3339Nano)
}

// FuzzParse holds that what is read has a form that is read as the same.
func FuzzParse(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.text)
	}
	f.Add("1936767889123")
	f.Fuzz(func(t *testing.T, text string) {
		for _, shapes := range []dates.Shape{all, dates.Unix | dates.Day | dates.Free, dates.Instant, dates.Day} {
			at, shape := dates.Parse(text, shapes)
			if shape == 0 {
				if !at.IsZero() {
					t.Fatalf("%q is refused and read as %s", text, at)
				}
				continue
			}
			if shape&shapes == 0 || shape&(shape-1) != 0 || at.Location() != time.UTC {
				t.Fatalf("%q: %s has shape %b", text, at, shape)
			}
			again, same := dates.Parse(canonical(at, shape), shape|dates.Free)
			if same != shape || !again.Equal(at) {
				t.Fatalf("%q: %s %s, and then %s %s", text, at, names[shape], again, names[same])
			}
		}
		last := 0
		for _, d := range dates.Find(text) {
			if d.Start < last || d.End <= d.Start || d.End > len(text) {
				t.Fatalf("%q: found %+v after %d", text, d, last)
			}
			last = d.End
		}
	})
}
