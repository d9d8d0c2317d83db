package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
)

func TestAReferenceIsReadAsItIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		want catalog.Ref
		ok   bool
	}{
		{"cip:CIP-0042", catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0042"}, true},
		{"doc:guide:lamps", catalog.Ref{Kind: catalog.KindDoc, Key: "guide:lamps"}, true}, // keys may have colons
		{"lamps", catalog.Ref{Kind: "lamps"}, false},
		{":lamps", catalog.Ref{Key: "lamps"}, false},
		{"doc:", catalog.Ref{Kind: catalog.KindDoc}, false},
		{"", catalog.Ref{}, false},
	} {
		got, ok := catalog.RefNamed(c.name)
		if got != c.want || ok != c.ok {
			t.Errorf("%q is read as %v, %v", c.name, got, ok)
		}
		if ok && got.Name() != c.name {
			t.Errorf("%q is named %q", c.name, got.Name())
		}
	}
}

// A state means the end for its own kind alone: a deprecated version is over, a project
// that calls itself deprecated is not retired.
func TestWhatIsNoMoreIsOver(t *testing.T) {
	for _, c := range []struct {
		kind  catalog.Kind
		state string
		want  bool
	}{
		{catalog.KindProject, catalog.ProjectRetired, true},
		{catalog.KindPackageVersion, catalog.VersionDeprecated, true},
		{catalog.KindValidator, catalog.ValidatorOffboarded, true},
		{catalog.KindOperation, catalog.OperationCancelled, true},
		{catalog.KindEndpoint, catalog.EndpointDeprecated, true},
		{catalog.KindOperation, catalog.OperationCompleted, false},
		{catalog.KindProject, catalog.ValidatorOffboarded, false},
		{catalog.KindProject, "", false},
		{catalog.KindDoc, "", false}, // of a kind that never ends
	} {
		if got := (catalog.Record{Kind: c.kind, State: c.state}).Over(); got != c.want {
			t.Errorf("a %s that is %q: over is %v", c.kind, c.state, got)
		}
	}
}

func TestARecordIsKnownByAllItsNamesOnce(t *testing.T) {
	proposal := catalog.Record{ID: 7, Kind: catalog.KindCIP, Key: "CIP-0042", Path: "cip-0042/README.md",
		URL: "https://forge.example/cips/42"}
	page := catalog.Record{ID: 8, Kind: catalog.KindDoc, Key: "guide-lamps.md", Path: "guide-lamps.md"}
	for _, c := range []struct {
		record catalog.Record
		want   []string
	}{
		{proposal, []string{"cip-0042/README.md", "cip:CIP-0042", "CIP-0042", "https://forge.example/cips/42", "7", "0042"}},
		{page, []string{"guide-lamps.md", "doc:guide-lamps.md", "8"}}, // a dash makes no number of a page
	} {
		if got := c.record.Handles(); !slices.Equal(got, c.want) {
			t.Errorf("%s is known as %q, want %q", c.record.Ref(), got, c.want)
		}
	}
}

func TestSpellingsOfANameAreOne(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"Minimum Version", "minimum_version", true},
		{"minimum-version", " MINIMUM  version ", true},
		{"docs/guide-lamps", "Docs/Guide Lamps", true},
		{"docs/guide", "docs guide", false}, // paths stay paths
		{"minimumversion", "minimum_version", false},
		{"", "-_ ", true},
	} {
		if got := catalog.SameName(c.a, c.b); got != c.want {
			t.Errorf("%q (%q) and %q (%q): the same is %v", c.a, catalog.Underscored(c.a), c.b,
				catalog.Underscored(c.b), got)
		}
	}
}

// The hash of an addition tells whether it has to be written again, and whether there is
// anything to write.
func TestAnAdditionIsHashedByWhatItAdds(t *testing.T) {
	plain := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "lamps"}, Addition: true}
	if plain.Adds() || plain.AdditionHash() != "" {
		t.Errorf("nothing has the hash %q", plain.AdditionHash())
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*catalog.Entry){
		"an alias": func(e *catalog.Entry) { e.Aliases = []string{"lanterns"} },
		"a link": func(e *catalog.Entry) {
			e.Links = []catalog.Link{{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindDoc, Key: "oil"}}}
		},
		"facts": func(e *catalog.Entry) { e.Facts = &catalog.Facts{State: "open"} },
	} {
		e := plain
		change(&e)
		hash := e.AdditionHash()
		if other, taken := seen[hash]; !e.Adds() || hash == "" || taken {
			t.Errorf("%s has the hash %q, as %q has", name, hash, other)
		}
		seen[hash] = name
		e.Record.Body = "what the owner says"
		if e.AdditionHash() != hash {
			t.Errorf("%s: the text of the owner changes the hash", name)
		}
	}
	owned := plain
	owned.Addition = false
	if owned.AdditionHash() == "" {
		t.Error("an entry that can own its record has no hash")
	}
}

// The order is a column of an index, which takes no more than MaxKey bytes.
func TestTheOrderOfALongKeyIsCutAtACharacter(t *testing.T) {
	key := strings.Repeat("1-", 30) + strings.Repeat("é", 400) // padded digits make it longer than the key
	order := catalog.KeyOrder(key)
	if len(order) > catalog.MaxKey || len(order) < catalog.MaxKey-1 || !strings.HasSuffix(order, "é") {
		t.Errorf("%d bytes that end in %q", len(order), order[len(order)-4:])
	}
}

// Snippets are cut by characters: a byte more or less would break one.
func TestALongSnippetIsCutAtACharacter(t *testing.T) {
	e, err := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "lamps"}, Links: []catalog.Link{{
		Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindDoc, Key: "oil"},
		Snippet: strings.Repeat("é", catalog.MaxSnippet+1)}}}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Links[0].Snippet; got != strings.Repeat("é", catalog.MaxSnippet) {
		t.Errorf("%d bytes are left: %q", len(got), got)
	}
}

func TestADayBeginsAtMidnightUTC(t *testing.T) {
	east := time.FixedZone("east", 9*60*60)
	want := time.Date(2031, 5, 5, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{want, want.Add(24*time.Hour - 1), time.Date(2031, 5, 6, 8, 59, 0, 0, east)} {
		if got := catalog.Day(at); got != want {
			t.Errorf("the day of %v begins at %v", at, got)
		}
	}
}
