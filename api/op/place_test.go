package op_test

import (
	"testing"

	"almanac/api/op"
)

func TestPlacesAreCursors(t *testing.T) {
	for cursor, want := range map[string]op.Place{"": {op.OwnText, 0}, "~500": {op.OwnText, 500}, "0": {0, 0}, "12": {12, 0},
		"12~500": {12, 500}} {
		if got, ok := op.ParsePlace(cursor); !ok || got != want || got.String() != cursor {
			t.Errorf("%q is %+v, %v", cursor, got, ok)
		}
	}
	for _, cursor := range []string{"-1", "-2", "x", "~", "12~", "12~0", "12~-5", "012", "1~2~3", " 1", "99999999999999999999"} {
		if got, ok := op.ParsePlace(cursor); ok {
			t.Errorf("%q is %+v", cursor, got)
		}
	}
}
