package retrieval_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/snippet"
)

// handbook is a text whose title and first section say what is asked about, and
// whose last but one answers.
func handbook() catalog.Record {
	filler := strings.Repeat("Nothing else is said in this part of the text about how it is to be done. ", 9)
	return catalog.Record{Kind: catalog.KindDoc, Key: "h", Title: "Harbour crane handbook", Body: "# Abstract\n\n" +
		"The harbour crane handbook tells operators of a harbour crane all there is. " + filler +
		"\n\n# Parts\n\n" + filler + "\n\n# Loads\n\nA crane lifts at most forty barrels. " + filler +
		"\n\n# Barrels\n\nForty barrels are what a crane lifts. " + filler + "\n\n# Licence\n\n" +
		strings.Repeat(filler, 12)}
}

func TestTheBestResultsComeWithWholePassages(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, handbook(), catalog.Record{Kind: catalog.KindDoc, Key: "o", Title: "Ropes", Body: "A crane has ropes."})
	f.index(t)
	r := retrieval.Request{Query: "how many barrels does the harbour crane lift", Whole: 1}
	res := f.search(t, r)
	first, second := res.Results[0], res.Results[1]
	if !strings.Contains(first.Text, "arrels") || first.Section != "loads" && first.Section != "barrels" ||
		utf8.RuneCountInString(first.Text) > snippet.PassageLength {
		t.Errorf("the first is read by %q: %q", first.Section, first.Text)
	}
	if second.Text != "" || second.Section != "" || second.Snippet == "" {
		t.Errorf("the second: %+v", second)
	}
	r.Joined = true
	first = f.search(t, r).Results[0]
	if !strings.Contains(first.Text, "at most forty barrels") || !strings.Contains(first.Text, "Forty barrels are") ||
		!strings.Contains(first.Text, "\n\nBarrels\n\n") {
		t.Errorf("neighbours are not joined: %q", first.Text)
	}
	r.Offset, r.Limit, r.Snippet = 1, 1, 12
	if second = f.search(t, r).Results[0]; second.Text != "" || utf8.RuneCountInString(second.Snippet) > 12 {
		t.Errorf("the second page: %+v", second)
	}
}
