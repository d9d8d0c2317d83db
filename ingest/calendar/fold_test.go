package calendar

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestStraightLinesAreTheFoldedOnes: whoever joins first, lines and numbers are the
// same in ASCII.
func TestStraightLinesAreTheFoldedOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("AB: \t\r\n"))).Draw(t, "text"))
		got := slices.Collect(unfold(string(straighten([]byte(text)))))
		if diff := cmp.Diff(slices.Collect(unfold(text)), got, cmp.AllowUnexported(contentLine{})); diff != "" {
			t.Fatalf("%q (-want +got)\n%s", text, diff)
		}
	})
}
