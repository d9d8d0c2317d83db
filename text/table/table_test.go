package table_test

import (
	"strings"
	"testing"

	"almanac/text/table"
)

func TestWhatIsNoTableIsRefused(t *testing.T) {
	for raw, want := range map[string]string{
		"": "is empty", "<html>": "a page for people", `{"a": `: "not valid JSON", `{"a": {}, "b": 7}`: "has no list",
		"7": "has no column", "name\nx": "has no column",
		"party" + strings.Repeat(",", 1000):    "has 1001 columns",
		"party" + strings.Repeat("\nx", 2e5+1): "more than 200000 rows",
		"[" + strings.Repeat("0,", 2e5) + "0]": "more than 200000 rows",
	} {
		err := table.Each([]byte(raw), "", []string{"party"}, func(table.Row) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", raw, err, want)
		}
	}
}
