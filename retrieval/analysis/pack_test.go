package analysis_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"almanac/retrieval/analysis"

	"pgregory.net/rapid"
)

// same fails unless the view holds exactly the tokens.
func same(t interface {
	Helper()
	Fatalf(string, ...any)
}, p analysis.Packed, fields [analysis.NumFields][]analysis.Token) {
	t.Helper()
	for f := range analysis.Field(analysis.NumFields) {
		terms := p.Field(f)
		if terms.Len() != len(fields[f]) {
			t.Fatalf("%s has %d terms, want %d", f, terms.Len(), len(fields[f]))
		}
		for i, k := range fields[f] {
			if got, want := terms.ID(i), analysis.IDOf(k.Term); got != want {
				t.Fatalf("%s %d has id %d, want %d of %q", f, i, got, want, k.Term)
			}
			if got, want := terms.Position(i), min(k.Position, analysis.MaxPosition); got != want {
				t.Fatalf("%s %d has position %d, want %d", f, i, got, want)
			}
		}
	}
}

func TestPackedTermsReadBackAsPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fields [analysis.NumFields][]analysis.Token
		for f := range fields {
			fields[f] = analysis.Analyze(ugly().Draw(t, "text"))
		}
		view, err := analysis.View(analysis.Pack(fields))
		if err != nil {
			t.Fatalf("View: %v", err)
		}
		same(t, view, fields)
	})
}

func TestLatePositionsReadAsTheLast(t *testing.T) {
	var fields [analysis.NumFields][]analysis.Token
	fields[analysis.Body] = []analysis.Token{{Term: "a", Position: 65_535}, {Term: "b", Position: 65_536},
		{Term: "c", Position: 1 << 40}}
	view, err := analysis.View(analysis.Pack(fields))
	if err != nil {
		t.Fatal(err)
	}
	same(t, view, fields)
}

func TestNoBytesAreNoTerms(t *testing.T) {
	view, err := analysis.View(nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, view, [analysis.NumFields][]analysis.Token{})
}

func TestCorruptTermsAreAnError(t *testing.T) {
	good := analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Analyze("a title"), nil,
		analysis.Analyze("the body of it")})
	many := append([]byte(nil), good...)
	binary.LittleEndian.PutUint32(many[1:], 1<<32-1)
	magic := append([]byte(nil), good...)
	magic[0]++
	corrupt := map[string][]byte{"one byte more": append(good[:len(good):len(good)], 0), "more terms than bytes": many,
		"another format": magic}
	for n := 1; n < len(good); n++ {
		corrupt[fmt.Sprintf("cut at %d", n)] = good[:n]
	}
	for name, b := range corrupt {
		t.Run(name, func(t *testing.T) {
			if _, err := analysis.View(b); !errors.Is(err, analysis.ErrCorrupt) {
				t.Errorf("View = %v, want ErrCorrupt", err)
			}
		})
	}
}

func FuzzView(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Analyze("CIP-56 title"), nil,
		analysis.Analyze("body")}))
	f.Add([]byte{0xA1, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		view, err := analysis.View(b)
		if err != nil {
			return
		}
		for field := range analysis.Field(analysis.NumFields) {
			terms := view.Field(field)
			for i := range terms.Len() {
				terms.ID(i)
				terms.Position(i)
			}
		}
	})
}
