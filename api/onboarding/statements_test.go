package onboarding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/testing/recordtest"
)

var sextant = deprecated.Of([]catalog.Record{
	recordtest.With(catalog.Record{Kind: catalog.KindDeprecation, Title: "sextant", State: catalog.ItemDeprecated},
		catalog.Deprecation{Replacement: "gauge read", Patterns: []string{"sextant", ":7575"}}),
	recordtest.With(catalog.Record{Kind: catalog.KindDeprecation, Title: "log", State: catalog.ItemDeprecated},
		catalog.Deprecation{Patterns: []string{"dead reckoning"}}),
})

func TestStatements(t *testing.T) {
	for text, want := range map[string]string{
		"Check that PostgreSQL is 15 or later.":        "version: postgresql, at least = 15",
		"| PostgreSQL | 15 or later, 100 GB |":         "version: postgresql, at least = 15",
		"It needs node 2.6.0 or newer.":                "version: node, at least = 2.6.0",
		"It requires the helm 1.2.":                    "version: helm, at least = 1.2",
		"It needs at least helm 3.1. Older ones sink.": "version: helm, at least = 3.1",
		"The latest version of helm is v3.1.0-rc.1.":   "version: helm, latest = 3.1.0-rc.1",
		"`helm` 3.1 is the newest.":                    "version: helm, latest = 3.1",
		"We recommend helm 3.1.":                       "version: helm, recommended = 3.1",
		"Since helm 3.1 it floats.":                    "",
		"Does it need helm 3.1 or later?":              "",
		"A 2.5 or later node is enough.":               "",
		"It needs party 3 and 20 ships.":               "",
		"> It needs node 2.5 or later.\n\nNo.":         "",
		"```\nhelm 3 or later\n```":                    "",
		"It needs node 2.6.0x or node 2.7y.":           "",
		"To dive, it needs helm 3.1 or later.":         "",
		"Exposes the keel for helm 3.1 or later.":      "",
		"It needed helm 3 or later before.":            "",

		"The Tide API listens on port 6401 and sleeps.": "port: tide api = 6401",
		"The **Tide API** is on port 6401.":             "port: tide api = 6401",
		"It provides a REST API on port 6401.":          "port: rest api = 6401",
		"The tide-api uses port 6401.":                  "port: tide-api = 6401",
		"The server listens on port 6401.":              "",
		"# Tide API\n\nServed on port 6401.":            "",
		"The Tide API was on port 6401.":                "",
		"Metrics on port 6490":                          "",

		"Run `sextant now`.":                              "name: sextant = sextant",
		"```\ncurl localhost:7575/v1\n```":                "name: sextant = sextant",
		"The sextant was replaced by `gauge read`.":       "name: sextant = gauge read",
		"Run `sextant now`. Or `gauge read`.":             "name: sextant = gauge read",
		"The sextant is deprecated.":                      "",
		"```\ncurl localhost:75750/v1\nsextants\n```":     "",
		"Dead reckoning, which nothing replaces.":         "",
		"The base allowance is 200 kB. It takes 5 hours.": "",
		"": "",
	} {
		var got []string
		for _, s := range statementsOf("docs", []catalog.Record{{Body: text}}, sextant) {
			got = append(got, fmt.Sprintf("%s: %s = %s", s.Aspect, s.Name, s.Value))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// states is what a source says on a day of May in a record.
func states(source Body, record int64, day int, text string) []statement {
	r := catalog.Record{ID: record, Body: text, LastActivityAt: recordtest.Noon}
	if day > 0 {
		r.CreatedAt = time.Date(2030, 4, 1, 0, 0, 0, 0, time.UTC)
		r.UpdatedAt = time.Date(2030, 5, day, 0, 0, 0, 0, time.UTC)
	}
	return statementsOf(source, []catalog.Record{r}, sextant)
}

func TestContradictions(t *testing.T) {
	const old, current = "It needs helm 2 or later.", "It needs helm 3 or later."
	for name, c := range map[string]struct {
		statements [][]statement
		want       string // subject: each side's source, value and number of records
		agreed     int
	}{
		"nothing":          {nil, "", 0},
		"one source alone": {[][]statement{states("docs", 1, 1, old), states("docs", 2, 2, current)}, "", 0},
		"two agree":        {[][]statement{states("docs", 1, 1, old), states("forum", 2, 2, old)}, "", 1},
		"two differ": {[][]statement{states("forum", 2, 2, current), states("docs", 1, 1, old)},
			"helm, at least: docs 2 1, forum 3 1", 0},
		"the latest of each counts": {[][]statement{states("docs", 1, 1, old), states("forum", 2, 2, current),
			states("forum", 3, 3, old)}, "", 1},
		"records with the same value are counted": {[][]statement{states("docs", 1, 1, old),
			states("forum", 2, 2, current), states("forum", 3, 3, current+" "+current)},
			"helm, at least: docs 2 1, forum 3 2", 0},
		"the value of most pages counts": {[][]statement{states("docs", 1, 0, old), states("docs", 2, 0, current),
			states("docs", 3, 0, current), states("forum", 4, 4, old)}, "helm, at least: docs 3 2, forum 2 1", 0},
		"a record with both says neither": {[][]statement{states("docs", 1, 1, old), states("forum", 2, 2, old+" "+current)},
			"", 0},
		"a version with zeros": {[][]statement{states("docs", 1, 1, "helm 2.0 or later"), states("forge", 2, 2, old)},
			"", 1},
		"one without a date is the oldest": {[][]statement{states("docs", 1, 1, old), states("forum", 2, 0, current),
			states("forum", 3, 1, old)}, "", 1},
		"a deprecated name against its successor": {[][]statement{states("docs", 1, 1, "Use `gauge read`."),
			states("forge", 2, 2, "Use `gauge read`."), states("forum", 2, 2, "Run `sextant`.")},
			"sextant: docs gauge read 1, forge gauge read 1, forum sextant 1", 0},
		"newest first": {[][]statement{states("docs", 1, 1, old+" The Tide API is on port 80."),
			states("forum", 2, 2, current), states("forum", 3, 3, "The Tide API is on port 81.")},
			"tide api: docs 80 1, forum 81 1; helm, at least: docs 2 1, forum 3 1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, agreed := compare(slices.Concat(c.statements...), func(catalog.Record) kb.Item { return kb.Item{} })
			var got []string
			for _, f := range found {
				var sides []string
				for _, s := range f.Sides {
					sides = append(sides, fmt.Sprintf("%s %s %d", s.Source, s.Value, s.Records))
				}
				got = append(got, f.Subject+": "+strings.Join(sides, ", "))
			}
			if strings.Join(got, "; ") != c.want || agreed != c.agreed {
				t.Errorf("%q, %d agreed; want %q, %d", got, agreed, c.want, c.agreed)
			}
		})
	}
}

// TestRelevantPages: the best of those that are current counts.
func TestRelevantPages(t *testing.T) {
	page := func(id int64, title, version string, relevance float64, tags ...string) find.Match {
		r := catalog.Record{ID: id, Kind: catalog.KindDoc, Title: title, Tags: tags}
		return find.Match{Record: recordtest.With(r, catalog.Doc{Version: version}), Relevance: relevance}
	}
	got := relevantPages([]find.Match{page(1, "Tides", "1.0", 1), page(2, "Moons", "", 0.9, catalog.TagOtherVersion),
		page(3, "Tides", "2.0", 0.5), page(4, "Fog", "1.0", 0.36), page(5, "Locks", "", 0.34)})
	if want := []int64{3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func FuzzStatements(f *testing.F) {
	for _, s := range []string{
		"| a | 15 or later |", "`sextant`\n```\nsextant\n", "at least helm 1.2.3-x", "A b on port 65535",
		"\xff is 1 s", "1. 2. 3 or later", "gauge read → sextant", "helm 1.0 is the latest.",
	} {
		f.Add("moving", s)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		for _, s := range statementsOf("docs", []catalog.Record{{Title: title, Body: text}}, sextant) {
			if s.Aspect == "" || s.Name == "" || s.Value == "" || s.same == "" {
				t.Errorf("%+v in %q", s, text)
			}
			if s.Aspect != "name" && !strings.Contains(s.Text, s.Value) {
				t.Errorf("%q does not say %q", s.Text, s.Value)
			}
		}
	})
}
