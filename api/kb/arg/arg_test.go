package arg_test

import (
	"slices"
	"testing"

	"almanac/api/kb/arg"
)

func TestOnly(t *testing.T) {
	for _, c := range []struct {
		value, all string
		want       []string
	}{{"", "", nil}, {"all", "all", nil}, {"all", "", []string{"all"}}, {"open", "all", []string{"open"}}} {
		if got := arg.Only(c.value, c.all); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %v, want %v", c.value, c.all, got, c.want)
		}
	}
}
