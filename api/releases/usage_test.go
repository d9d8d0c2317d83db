package releases

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func deprecationOf(id int64, name, replacement string, patterns ...string) catalog.Record {
	return catalog.Record{ID: id, Kind: catalog.KindDeprecation, Title: name, State: catalog.ItemDeprecated,
		Data: recordtest.Data(catalog.Deprecation{Replacement: replacement, Patterns: patterns})}
}

var deprecatedItems = []catalog.Record{
	deprecationOf(1, "tillerctl", "helm", "tillerctl"), deprecationOf(2, "tillerctl moor", "helm berth", "tillerctl moor"),
	deprecationOf(3, "port 75", "port 64", ":75", "port 75"), deprecationOf(4, "moor()", "berth()", "moor("),
	deprecationOf(5, "no spelling", "x", " ", ""),
	{ID: 6, Kind: catalog.KindDeprecation, Title: "helm", State: catalog.ItemCurrent,
		Data: recordtest.Data(catalog.Deprecation{Patterns: []string{"helm"}})},
}

func TestOutdated(t *testing.T) {
	for name, c := range map[string]struct {
		kind        catalog.Kind
		title, body string
		want        []string // name, mentions, whether the replacement is named, snippet
	}{
		"a mention": {catalog.KindDoc, "", "First. Run `tillerctl go` now. Done.",
			[]string{"tillerctl 1 false Run tillerctl go now."}},
		"in any case, over a line break": {catalog.KindDoc, "", "Call TILLERCTL\nMoor.",
			[]string{"tillerctl moor 1 false Call TILLERCTL Moor."}},
		"the longer of two": {catalog.KindDoc, "", "tillerctl moor and tillerctl",
			[]string{"tillerctl 1 false tillerctl moor and tillerctl",
				"tillerctl moor 1 false tillerctl moor and tillerctl"}},
		"several in one text": {catalog.KindPost, "", "tillerctl, then tillerctl. On :75 or port 75.",
			[]string{"tillerctl 2 false tillerctl, then tillerctl.", "port 75 2 false On :75 or port 75."}},
		"only whole words": {catalog.KindDoc, "", "mytillerctl tillerctls :754 port 757 demoor(", nil},
		"punctuation ends a word": {catalog.KindDoc, "", "x.moor(1) :75/",
			[]string{"port 75 1 false x.moor(1) :75/", "moor() 1 false x.moor(1) :75/"}},
		"the replacement is named": {catalog.KindDoc, "", "Use tillerctl. Or helm, as you like.",
			[]string{"tillerctl 1 true Use tillerctl."}},
		"a sentence that says so": {catalog.KindDoc, "",
			"tillerctl is deprecated. It was replaced by helm: tillerctl no longer works.", nil},
		"it counts for one sentence": {catalog.KindDoc, "", "tillerctl is deprecated.\n\n- Run tillerctl go",
			[]string{"tillerctl 1 false Run tillerctl go"}},
		"a title that says so": {catalog.KindTopic, "tillerctl is gone", "$ tillerctl go\nerror", nil},
		"a title that says so of others": {catalog.KindTopic, "port 75 is gone", "$ tillerctl go",
			[]string{"tillerctl 1 false $ tillerctl go"}},
		"a deprecation":                 {catalog.KindDeprecation, "", "tillerctl", nil},
		"the release that announces it": {catalog.KindRelease, "", "tillerctl prints the new spelling.", nil},
		"an alert":                      {catalog.KindRadar, "", "tillerctl", nil},
		"what is current":               {catalog.KindDoc, "", "helm", nil},
		"nothing":                       {catalog.KindDoc, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := catalog.Record{ID: 9, Kind: c.kind, Title: c.title, Body: c.body}
			var got []string
			for _, u := range usagesIn([]catalog.Record{text}, deprecatedItems) {
				got = append(got, fmt.Sprintf("%s %d %v %s", u.Deprecation.Title, u.Mentions, u.Replaced, u.Snippet))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestMentionsInEveryCase holds for each character that another one stands for
// in another case.
func TestMentionsInEveryCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		other := unicode.SimpleFold(r)
		if other == r {
			continue
		}
		text := catalog.Record{Kind: catalog.KindDoc, Body: fmt.Sprintf("Run x%cx now.", other)}
		if got := usagesIn([]catalog.Record{text},
			[]catalog.Record{deprecationOf(1, "x", "", fmt.Sprintf("x%cx", r))}); len(got) != 1 {
			t.Errorf("%U %c is not found by %U %c", other, other, r, r)
		}
	}
}

func TestOutdatedOrder(t *testing.T) {
	var texts []catalog.Record
	for id, hours := range []int{300, -1, 5, 100} { // -1: unknown
		r := catalog.Record{ID: int64(id), Kind: catalog.KindDoc, Body: strings.Repeat("port 75, tillerctl. ", id+1)}
		if hours > 0 {
			r.UpdatedAt = recordtest.Ago(hours)
		}
		texts = append(texts, r)
	}
	usages := usagesIn(texts, deprecatedItems)
	var ids []int64
	for _, u := range usages {
		ids = append(ids, u.Text.ID)
	}
	if want := []int64{2, 2, 3, 3, 0, 0, 1, 1}; !slices.Equal(ids, want) {
		t.Errorf("order %v, want %v", ids, want)
	}
	proofs := usageProofs(usages[:3])
	if len(proofs) != 2 || proofs[0].Record.Title != "tillerctl" || proofs[0].Weight != 0.7 ||
		proofs[0].Why != "deprecated; mentions: 7, in texts: 2" {
		t.Errorf("proofs %+v", proofs)
	}
}

func TestMentioned(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "tillerctl moor on port 75": "tillerctl moor,port 75", "port 75, tillerctl": "port 75,tillerctl",
		"helm": "",
	} {
		var got []string
		for _, r := range mentioned(text, deprecatedItems) {
			got = append(got, r.Title)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzOutdated holds that no text and no spelling makes it fail.
func FuzzOutdated(f *testing.F) {
	f.Add("Run tillerctl moor.", "tillerctl moor", "helm")
	f.Add("a\xff\n\n- b: é(", "é(", "(?i)")
	f.Fuzz(func(t *testing.T, body, pattern, replacement string) {
		text := catalog.Record{Kind: catalog.KindDoc, Body: body}
		for _, u := range usagesIn([]catalog.Record{text},
			[]catalog.Record{deprecationOf(1, "x", replacement, pattern)}) {
			if u.Mentions < 1 || len([]rune(u.Snippet)) > 320 {
				t.Errorf("%+v", u)
			}
		}
	})
}

func TestAUseIsTold(t *testing.T) {
	got := usagesIn([]catalog.Record{{ID: 1, Body: "port 75, port 75, tillerctl"}}, deprecatedItems)
	want := Use{Deprecated: "port 75", Replacement: "port 64", Mentions: 2,
		Snippet: "port 75, port 75, tillerctl"}
	if len(got) != 2 || got[0].Use != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestDeprecationNamed(t *testing.T) {
	for name, want := range map[string]int64{"tillerctl": 1, " TillerCtl Moor\n": 2, "helm": 6, "tiller": 0, "": 0} {
		got, names := deprecationNamed(deprecatedItems, name)
		if (got == nil) != (want == 0) || got != nil && got.ID != want || len(names) != len(deprecatedItems) {
			t.Errorf("%q: %v among %d, want %d", name, got, len(names), want)
		}
	}
}
