package retrieval_test

import (
	"fmt"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// TestEndpointsOfAnAPI: of many that answer, some are shown among other kinds, and one
// that several files describe is shown once.
func TestEndpointsOfAnAPI(t *testing.T) {
	f := open(t, t.TempDir())
	var records []catalog.Record
	for i := range 12 {
		title := fmt.Sprintf("GET /tide/gauge/%c", 'a'+i)
		for _, source := range []string{"mirror", "site"} {
			records = append(records, catalog.Record{Kind: catalog.KindEndpoint, Key: source + "#" + title, Title: title,
				Source: source, Body: "Reads the tide gauge, as " + source + " has it."})
		}
		records = append(records, catalog.Record{Key: fmt.Sprint("gauge", i), Title: fmt.Sprintf("Tide gauge %c", 'a'+i),
			Body: fmt.Sprintf("Keeper %d looks at the tide gauge %s.", i, strings.Repeat("again and again ", i))})
	}
	f.put(t, records...)
	endpoints := func(r retrieval.Request) int {
		t.Helper()
		n := 0
		r.Query, r.Limit = "tide gauge", 10
		for _, x := range f.search(t, r).Results {
			if strings.HasPrefix(x.Title, "GET ") {
				n++
				if len(x.AlsoAt) != 1 {
					t.Errorf("%s is shown for %d others", x.Title, len(x.AlsoAt))
				}
				if shown, err := f.store.ByID(t.Context(), x.Record); err != nil || shown.Source != "site" {
					t.Errorf("%s is that of %s (%v)", x.Title, shown.Source, err)
				}
			}
		}
		return n
	}
	if n := endpoints(retrieval.Request{Diversify: true}); n == 0 || n > 6 {
		t.Errorf("%d endpoints among the first ten", n)
	}
	if n := endpoints(retrieval.Request{Filter: passage.Filter{Kinds: []string{"endpoint"}}}); n != 10 {
		t.Errorf("%d endpoints among endpoints", n)
	}
}
