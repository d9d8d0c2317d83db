package snippet_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"almanac/retrieval/query"
	"almanac/retrieval/snippet"
)

func TestPassageEndsWhereReadersStop(t *testing.T) {
	q, err := query.Parse("capstan")
	if err != nil {
		t.Fatal(err)
	}
	filler := strings.Repeat("Nothing is said here of it. ", 10)
	for name, c := range map[string]struct{ text, want string }{
		"a header is left out":   {"Tide\n\nHIP: 2\nAuthor: Ola Skua\n\nThe capstan.", "Tide\n\nThe capstan."},
		"but not all there is":   {"Author: Ola Skua\nStatus: capstan.", "Status: capstan."},
		"what is short is whole": {"One.\n\n- two\n", "One.\n\n- two"},
		"sentences":              {filler + "The capstan turns. " + filler, " …"},
		"list items": {strings.Repeat("- nothing of it\n", 20) + "- the capstan\n" +
			strings.Repeat("- more of nothing\n", 20), " …"},
		"table rows": {strings.Repeat("| no | yes |\n", 20) + "| capstan | yes |\n" +
			strings.Repeat("| no | yes |\n", 20), " …"},
		"one very long sentence": {strings.Repeat("and so ", 80) + "the capstan " + strings.Repeat("and so ", 80),
			" …"},
		"the match is at the end": {filler + filler + "The capstan turns.", "The capstan turns."},
	} {
		t.Run(name, func(t *testing.T) {
			got := snippet.New(q, nil).Passage(c.text, 200)
			if n := utf8.RuneCountInString(got); n > 200 || !strings.HasSuffix(got, c.want) {
				t.Errorf("%d characters: %q", n, got)
			}
			if strings.Contains(c.text, "capstan") && !strings.Contains(got, "capstan") {
				t.Errorf("without the match: %q", got)
			}
			end := strings.TrimSuffix(got, " …")
			if cut := end[len(end)-1]; name != "one very long sentence" && name != "what is short is whole" &&
				!strings.ContainsRune(".|fgn", rune(cut)) {
				t.Errorf("it ends in %q", end[len(end)-10:])
			}
		})
	}
}

func TestPassageKeepsToItsLimit(t *testing.T) {
	q, err := query.Parse("capstan oar")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"capstan", "oar", ". ", "\n", "| ", "é", " word",
			"- "})).Draw(t, "text"), "")
		limit := rapid.IntRange(40, 200).Draw(t, "limit")
		got := snippet.New(q, nil).Passage(text, limit)
		if n := utf8.RuneCountInString(got); n > limit || !utf8.ValidString(got) {
			t.Errorf("%d characters of at most %d: %q", n, limit, got)
		}
	})
}
