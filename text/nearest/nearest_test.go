package nearest_test

import (
	"strings"
	"testing"

	"almanac/text/nearest"
)

func TestNearest(t *testing.T) {
	known := []string{"title", "every", "freshness", "options", "kind", "query", "source_types"}
	for word, want := range map[string]string{
		"qurey": "query", "sourcetypes": "source_types", strings.Repeat("x", 1000): "",
		"titel": "title", "Every": "every", "freshnes": "freshness", "option": "options",
		"kinds": "kind", "zzzzzz": "", "": "", "x": "",
	} {
		if got := nearest.Of(word, known); got != want {
			t.Errorf("Of(%.20q) = %q, want %q", word, got, want)
		}
	}
}
