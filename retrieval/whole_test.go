package retrieval_test

import (
	"slices"
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
	if second.Text != "" || second.Section != "" || second.Snippet == "" || second.Further != nil {
		t.Errorf("the second: %+v", second)
	}
	if n := len(first.Further); n < 2 || n > 4 || slices.Contains(first.Further, first.Passage.Ordinal()) {
		t.Errorf("after passage %d those that answer best are %v", first.Passage.Ordinal(), first.Further)
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

// TestAResultLeadsToTheHeadingOfItsMatches has a passage of four short sections.
func TestAResultLeadsToTheHeadingOfItsMatches(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, catalog.Record{Key: "signals", Title: "Harbour signals", Body: "Flags and lamps.\n\n# Lamps\n\n" +
		"## LAMP_OUT\n\nThe keeper lights it again.\n\n## Green lamp\n\nThe berth is free after LAMP_OUT.\n\n## Red lamp {#stop}\n\n" +
		"A barge waits outside."},
		catalog.Record{Key: "log", Title: "LAMP_OUT again", Body: "We saw LAMP_OUT and LAMP_OUT twice."})
	f.index(t)
	for query, want := range map[string][2]string{
		"LAMP_OUT":                          {"lamp_out", "Lamps › LAMP_OUT"},
		"WARN LAMP_OUT(3): a barge waits":   {"lamp_out", "Lamps › LAMP_OUT"},
		"Harbour signals where barge waits": {"stop", "Lamps › Red lamp"},
		"berth is free":                     {"green-lamp", "Lamps › Green lamp"},
		"lamps":                             {"lamps", "Lamps"},
		"harbour flags":                     {"", ""},
	} {
		for _, whole := range []int{0, 1} {
			first := f.search(t, retrieval.Request{Query: query, Whole: whole}).Results[0]
			if first.Title != "Harbour signals" || [2]string{first.Anchor, first.Heading} != want {
				t.Errorf("%q leads to %s#%s, %s, want %v", query, first.Title, first.Anchor, first.Heading, want)
			}
		}
	}
}

// TestAThreadIsShownOnce has posts that would fill a page one by one.
func TestAThreadIsShownOnce(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, catalog.Record{Kind: catalog.KindTopic, Key: "7", Title: "Storm", Body: "Where do you moor?"})
	topic, err := f.store.Get(t.Context(), catalog.Ref{Kind: catalog.KindTopic, Key: "7"})
	if err != nil {
		t.Fatal(err)
	}
	post := func(key, body string, kind catalog.Kind) catalog.Record {
		return catalog.Record{Kind: kind, Key: key, Title: "Re: Storm", Body: body, Parent: topic.ID}
	}
	f.put(t, post("7/2", "In a storm we moor a barge with three ropes.", catalog.KindPost),
		post("7/3", "Moor the barge in the inner basin before a storm.", catalog.KindPost),
		post("7/4", "A storm of gulls.", catalog.KindAttachment),
		catalog.Record{Key: "o", Title: "Mooring", Body: "How to moor a barge in a storm is shown on the quay."})
	r := retrieval.Request{Query: "moor a barge in a storm"}
	if res := f.search(t, r); len(res.Results) != 5 {
		t.Fatalf("%q, want all", titles(res))
	}
	r.Distinct, r.Whole = true, 3
	res := f.search(t, r)
	if len(res.Results) != 3 || res.Total != 3 {
		t.Fatalf("%q of %d, want the thread once, its attachment and the page", titles(res), res.Total)
	}
	for _, key := range []string{"7/2", "7/3"} {
		x, err := f.store.Get(t.Context(), catalog.Ref{Kind: catalog.KindPost, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.engine.Absent(t.Context(), r, x.ID)
		if shown := slices.ContainsFunc(res.Results, func(s retrieval.Result) bool { return s.Record == x.ID }); err != nil ||
			!shown && (a.Cause != retrieval.Collapsed || !strings.Contains(a.Why, "is in the thread of record")) {
			t.Errorf("%s is left out for %q: %s, %v", key, a.Cause, a.Why, err)
		}
	}
	for _, x := range res.Results {
		if first, second := strings.Index(x.Text, "three ropes"), strings.Index(x.Text, "inner basin"); first >= 0 {
			if second < first {
				t.Errorf("the thread is shown by %q", x.Text)
			}
			return
		}
	}
	t.Error("no result has the posts")
}

// TestShortPassagesLeaveRoom gives snippets what the best passages leave.
func TestShortPassagesLeaveRoom(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, handbook(), catalog.Record{Kind: catalog.KindDoc, Key: "o", Title: "Ropes",
		Body: strings.Repeat("Seen from afar a crane of the harbour has ropes of hemp and of wire. ", 9)})
	length := func(room int) int {
		res := f.search(t, retrieval.Request{Query: "harbour crane", Whole: 1, Snippet: 100, Room: room})
		return utf8.RuneCountInString(res.Results[1].Snippet)
	}
	for room, most := range map[int]int{0: 100, 10: 100, 100_000: 200} {
		if n := length(room); n > most || n < most*3/4 {
			t.Errorf("with room for %d characters a snippet has %d, want about %d", room, n, most)
		}
	}
}

// TestOneParagraphTakesOneOfTheBestPlaces has a rule that a mail and a page quote, with what
// each says besides, and pages that say something else on the matter.
func TestOneParagraphTakesOneOfTheBestPlaces(t *testing.T) {
	const rule = "A barge that enters the inner basin at night carries a green lantern at the bow and a white one at " +
		"the stern, and sounds its horn twice before the lock gate is opened, unless the harbour master has waived it."
	f := open(t, t.TempDir())
	f.put(t,
		catalog.Record{Kind: catalog.KindCIP, Key: "rule", Title: "Lights", Body: "# Lights\n\n" + rule +
			"\n\nThe council of masters looks at the rule each spring."},
		catalog.Record{Kind: catalog.KindMailMessage, Key: "mail", Title: "Re: Lights", Body: "> " +
			strings.ReplaceAll(rule, " and ", "\n> and ") + "\n\nWe support the text as it stands and vote in favour of it."},
		catalog.Record{Kind: catalog.KindRepo, Key: "readme", Title: "Charts", Body: "These are charts of the coast.\n\n" +
			rule + "\n\nWhoever finds a mistake opens an issue; corrections are welcome at any time of the year."},
		catalog.Record{Kind: catalog.KindDoc, Key: "night", Title: "Night",
			Body: "At night a barge that lies in the inner basin carries a lantern, too."},
		catalog.Record{Kind: catalog.KindDoc, Key: "shop", Title: "Shop", Body: "Lanterns are sold on the quay."},
		catalog.Record{Kind: catalog.KindDoc, Key: "basin", Title: "Basin",
			Body: "In the inner basin no barge moors at night without a lantern."},
		catalog.Record{Kind: catalog.KindMailMessage, Key: "more", Title: "Re: Lights", Body: "> " + rule +
			"\n\nWhat of a barge under tow, whose lantern nobody lights?"})
	r := retrieval.Request{Query: "lantern and horn of a barge at bow and stern at night in the inner basin"}
	all := f.keysOf(t, r)
	quoting := func(keys []string) (n int) {
		for _, key := range keys {
			if key != "shop" && key != "basin" && key != "night" {
				n++
			}
		}
		return n
	}
	if len(all) != 7 || quoting(all[:3]) < 2 {
		t.Fatalf("%q: nothing is in the way", all)
	}
	r.Apart, r.Explain = 3, true
	res := f.search(t, r)
	if keys := f.keysOf(t, r); quoting(keys[:3]) != 1 || len(keys) != 7 || res.Total != 7 {
		t.Errorf("%q of %d, want one of those that say the same among the first three, and all of them", keys, res.Total)
	}
	for i, x := range res.Results {
		if i > 0 && x.Score > res.Results[i-1].Score {
			t.Errorf("result %d scores more than the one before", i+1)
		}
		holdExplanation(t, x)
	}
	tow := retrieval.Request{Query: r.Query + " under tow", Apart: 3}
	if keys := f.keysOf(t, tow); !slices.Contains(keys[:3], "more") {
		t.Errorf("%q: what adds to the text that it quotes is behind", keys)
	}
	if r.Apart = 1; !slices.Equal(f.keysOf(t, r), all) {
		t.Errorf("one best result: %q, want %q", f.keysOf(t, r), all)
	}
}
