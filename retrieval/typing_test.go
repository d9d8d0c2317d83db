package retrieval_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

// typed are the beginnings of a text, from its first letter on.
func typed(text string) (all []string) {
	for i := range text {
		if i > 0 && text[i-1] != ' ' {
			all = append(all, text[:i])
		}
	}
	return append(all, text)
}

// TestEveryBeginningOfAWordFindsSomething: also where a letter of it is wrong, and behind other words.
func TestEveryBeginningOfAWordFindsSomething(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	for _, text := range []string{"troubleshooting", "delegated voting", "sequencer", "rotation", "burned fees",
		`"burned tra`, "Wallet Installed"} {
		for _, query := range typed(text) {
			if query == `"` {
				continue
			}
			if res := f.search(t, retrieval.Request{Query: query, Typing: true}); len(res.Results) == 0 {
				t.Errorf("%q finds nothing", query)
			}
		}
	}
	for query, first := range map[string]string{"traf": "Traffic fees", "wal": "Wallet setup",
		"voting wi": "Voting windows", "sequemc": "Release 1.4.2"} {
		res := f.search(t, retrieval.Request{Query: query, Typing: true})
		if len(res.Results) == 0 || res.Results[0].Title != first || res.Corrected != "" {
			t.Errorf("%q: %q (read as %q), want %q first", query, titles(res), res.Corrected, first)
		}
	}
}

// TestOnlyWhatIsBeingTypedIsReadAsABeginning: a word means itself to everyone else, a whole word while it is typed
// too, and so does what ends an operator.
func TestOnlyWhatIsBeingTypedIsReadAsABeginning(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, shelf()...)
	if res := f.search(t, retrieval.Request{Query: "seque"}); len(res.Results) > 0 {
		t.Errorf("a search for a beginning found %q", titles(res))
	}
	for _, query := range []string{"rotation of keys", "wallets", "7", `vote -wal`, `vote "keys"`, "xylophone",
		"guide wal ", "v1.4.", "onb kind:release"} {
		whole := f.search(t, retrieval.Request{Query: query})
		if res := f.search(t, retrieval.Request{Query: query, Typing: true}); !slices.Equal(titles(res), titles(whole)) {
			t.Errorf("%q: %q while it is typed, and %q then", query, titles(res), titles(whole))
		}
	}
}

// TestNamesComeFirstWhileTyping: however often texts have a word, people type the beginnings of names.
func TestNamesComeFirstWhileTyping(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t,
		catalog.Record{Key: "log", Title: "Harbour log", Body: strings.Repeat("The capstan turns. Capstans hold. ", 40)},
		catalog.Record{Key: "rope", Title: "Rope", Body: strings.Repeat("A capstan winds it. ", 40)},
		catalog.Record{Key: "capstan", Title: "Capstan, and what it is for on a quay at low tide", Body: "Paint it."})
	for _, query := range []string{"c", "cap", "capsta"} {
		res := f.search(t, retrieval.Request{Query: query, Typing: true, Explain: true})
		if len(res.Results) != 3 || !strings.HasPrefix(res.Results[0].Title, "Capstan") {
			t.Fatalf("%q: %q", query, titles(res))
		}
		for i, r := range res.Results {
			if i > 0 && r.Score > res.Results[i-1].Score {
				t.Errorf("%q: scores increase at %d", query, i)
			}
			if len(r.SnippetSpans)+len(r.TitleSpans) == 0 {
				t.Errorf("%q: nothing is marked in %q", query, r.Title)
			}
			holdExplanation(t, r)
		}
	}
}

// TestTypingOnOtherStacks: without engines the documents in memory are searched, by the same words.
func TestTypingOnOtherStacks(t *testing.T) {
	f := open(t, t.TempDir(), serversAway)
	f.put(t, library()...)
	res := f.search(t, retrieval.Request{Query: "traf", Typing: true, Filter: passage.Filter{Kinds: []string{"doc"}}})
	if len(res.Results) == 0 || res.Results[0].Title != "Traffic fees" {
		t.Errorf("%q", titles(res))
	}
}
