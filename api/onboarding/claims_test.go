package onboarding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/kb/deprecated"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/testing/recordtest"
)

var sextant = deprecated.Of([]catalog.Record{recordtest.With(catalog.Record{Kind: catalog.KindDeprecation,
	Title: "sextant", State: catalog.ItemDeprecated},
	catalog.Deprecation{Replacement: "gauge read", Patterns: []string{"sextant", ":7575"}})})

func claimsOf(text string) []string {
	title, body, ok := strings.Cut(text, " || ")
	if !ok {
		title, body = "", text
	}
	got := []string{}
	for _, c := range claimsIn(title, body, sextant) {
		got = append(got, fmt.Sprintf("%s: %s = %s", c.Aspect, c.Subject, c.Value))
	}
	return got
}

func TestClaims(t *testing.T) {
	for text, want := range map[string]string{
		// versions
		"Check that PostgreSQL is 15 or later.":        "version: postgresql, at least = 15",
		"| PostgreSQL | 15 or later, 100 GB |":         "version: postgresql, at least = 15",
		"It needs node 2.6.0 or newer.":                "version: node, at least = 2.6.0",
		"It requires the helm 1.2.":                    "version: helm, at least = 1.2",
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
		"It needs at least helm 3.1. Older ones sink.": "version: helm, at least = 3.1",
		"To dive, it needs helm 3.1 or later.":         "",
		"Exposes the keel for helm 3.1 or later.":      "",
		"On helm 3.1 and later it floats.":             "",
		"It needed helm 3 or later before.":            "",
		// ports
		"The Tide API listens on port 6401 and sleeps.": "port: tide api = 6401",
		"# Tide API\n\nServed on port 6401.":            "",
		"The Tide API was on port 6401.":                "",
		"The **Tide API** is on port 6401.":             "port: tide api = 6401",
		"Metrics on port 6490":                          "",
		// amounts
		"The base allowance is 200 kB.":                     "amount: base allowance (bytes) = 200 kB",
		"A base allowance of at most 1,200.5 kB a day.":     "amount: base allowance, at most (bytes) = 1,200.5 kB",
		"The mooring fee is 20 TLY at least.":               "amount: mooring fee, at least (TLY) = 20 TLY",
		"`max_connections` is 24 %.":                        "amount: max_connections (%) = 24 %",
		"- clock margin: 15 s":                              "amount: clock margin (time) = 15 s",
		"Median of the clock margin: 15 s":                  "",
		"One anchor chain is 20 s, two clock margins: 15 s": "amount: anchor chain (time) = 20 s",
		"30 ships × 200 kB = 6 MB":                          "",
		"The base allowance is 1 MB || x":                   "",
		"The default value is 15 s.":                        "",
		"A harbour bonus of 10 %":                           "amount: harbour bonus (%) = 10 %",
		"Maximum response size: 15 kB":                      "",
		"It provides a REST API on port 6401.":              "port: rest api = 6401",
		"It provides REST on port 6401.":                    "",
		"The margin is 15 s.":                               "",
		"The usual margin of 15 seconds":                    "amount: usual margin (time) = 15 seconds",
		"The base allowance was 100 kB.":                    "",
		"If the base allowance is 100 kB, wait.":            "",
		"The base allowance is 100 kB/s, or 3 ships.":       "",
		"Base allowances are 200 kB.":                       "amount: base allowance (bytes) = 200 kB",
		// names
		"Run `sextant now`.":                                       "name: sextant = sextant",
		"The sextant is pretty.":                                   "",
		"The sextant was replaced by `gauge read`.":                "name: sextant = gauge read",
		"Call `gauge read` twice.":                                 "name: sextant = gauge read",
		"```\n$ sextant now\n```":                                  "name: sextant = sextant",
		"```\n$ sextant now\nerror: unknown command\n```":          "name: sextant = gauge read",
		"```\ncurl localhost:7575/v1\n```":                         "name: sextant = sextant",
		"```\ncurl localhost:75750/v1\nsextants\n```":              "",
		"```\n$ sextant now\n```\nIt is deprecated: sextant ends.": "name: sextant = gauge read",
		"```\n$ gauge read\n```":                                   "name: sextant = gauge read",
		"Moving from it || ```\n$ sextant now\n```":                "name: sextant = gauge read",
		"```\n$ sextant now\n```\nOr `gauge read`.":                "name: sextant = gauge read",
		"Stored ones are read by sextant.":                         "",
		"Use gauge reads.":                                         "",
		"    sextant now":                                          "",
		"":                                                         "",
	} {
		if got := strings.Join(claimsOf(text), "; "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDeprecatedNames(t *testing.T) {
	record := func(title, state string, d catalog.Deprecation) catalog.Record {
		raw, err := catalog.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Record{Kind: catalog.KindDeprecation, Title: title, State: state, Data: raw}
	}
	full := catalog.Deprecation{Replacement: "gauge", Patterns: []string{"sextant"}}
	names := deprecated.Of([]catalog.Record{
		record("sextant", catalog.ItemDeprecated, full), record("gauge", catalog.ItemCurrent, full),
		record("lead", catalog.ItemDeprecated, catalog.Deprecation{Replacement: "sonar"}),
		record("log", catalog.ItemDeprecated, catalog.Deprecation{Patterns: []string{"log"}}),
	})
	got := claimsIn("", "Use `sonar`. Run `log`. Run `Sextant`.", names)
	if len(got) != 1 || got[0].Subject != "sextant" || got[0].Value != "sextant" {
		t.Errorf("%+v", got)
	}
}

// states is what a source says on a day of May in a record.
func states(source string, record int64, day int, text string) []statement {
	r := catalog.Record{ID: record, Body: text}
	if day > 0 {
		r.CreatedAt = time.Date(2030, 5, day, 0, 0, 0, 0, time.UTC)
	}
	return statementsOf(source, []catalog.Record{r}, sextant)
}

func TestStatementsAreDatedByTheText(t *testing.T) {
	r := catalog.Record{Body: "The base allowance is 1 MB.", CreatedAt: recordtest.Ago(9), UpdatedAt: recordtest.Ago(5),
		LastActivityAt: recordtest.Ago(1)}
	got := statementsOf("docs", []catalog.Record{r}, nil)
	if len(got) != 1 || got[0].Source != "docs" || !got[0].Date.Equal(recordtest.Ago(5)) || got[0].Value != "1 MB" {
		t.Errorf("%+v", got)
	}
}

func TestContradictions(t *testing.T) {
	const small, large = "The base allowance is 100 kB.", "The base allowance is 200 kB."
	for name, c := range map[string]struct {
		statements []statement
		want       string // subject: each side's source, value and number of records
		agreed     int
	}{
		"nothing":          {nil, "", 0},
		"one source alone": {slices.Concat(states("docs", 1, 1, small), states("docs", 2, 2, large)), "", 0},
		"two agree":        {slices.Concat(states("docs", 1, 1, small), states("forum", 2, 2, small)), "", 1},
		"two differ": {slices.Concat(states("forum", 2, 2, large), states("docs", 1, 1, small)),
			"base allowance (bytes): docs 100 kB 1, forum 200 kB 1", 0},
		"the latest of each counts": {slices.Concat(states("docs", 1, 1, small), states("forum", 2, 2, large),
			states("forum", 3, 3, small)), "", 1},
		"records with the same value are counted": {slices.Concat(states("docs", 1, 1, small),
			states("forum", 2, 2, large), states("forum", 3, 3, large+" "+large)),
			"base allowance (bytes): docs 100 kB 1, forum 200 kB 2", 0},
		"the value of most pages counts": {slices.Concat(states("docs", 1, 0, small), states("docs", 2, 0, large),
			states("docs", 3, 0, large), states("forum", 4, 4, small)),
			"base allowance (bytes): docs 200 kB 2, forum 100 kB 1", 0},
		"a record with both says neither": {slices.Concat(states("docs", 1, 1, small),
			states("forum", 2, 2, small+" "+large)), "", 0},
		"a value written in another way": {slices.Concat(states("docs", 1, 1, "The base allowance is 1 MB."),
			states("forum", 2, 2, "The base allowance is 1,000 kB.")), "", 1},
		"a version with zeros": {slices.Concat(states("docs", 1, 1, "helm 2.0 or later"),
			states("forge", 2, 2, "helm 2 or later")), "", 1},
		"one without a date is the oldest": {slices.Concat(states("docs", 1, 1, small), states("forum", 2, 0, large),
			states("forum", 3, 1, small)), "", 1},
		"a deprecated name against its successor": {slices.Concat(states("docs", 1, 1, "Use `gauge read`."),
			states("forge", 2, 2, "Use `gauge read`."), states("forum", 2, 2, "Run `sextant`.")),
			"sextant: docs gauge read 1, forge gauge read 1, forum sextant 1", 0},
		"newest first": {slices.Concat(states("docs", 1, 1, small+" Helm 3 or later."), states("forum", 2, 2, large),
			states("forum", 3, 3, "helm 2 or later")),
			"helm, at least: docs 3 1, forum 2 1; base allowance (bytes): docs 100 kB 1, forum 200 kB 1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, agreed := compare(c.statements)
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

func TestCurrentPages(t *testing.T) {
	page := func(id int64, container, version string, tags ...string) catalog.Record {
		raw, err := catalog.Encode(catalog.Doc{Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Record{ID: id, Kind: catalog.KindDoc, Container: container, Data: raw, Tags: tags}
	}
	for name, c := range map[string]struct {
		pages []catalog.Record
		want  []int64
	}{
		"without versions":        {[]catalog.Record{page(1, "a", ""), page(2, "a", "")}, []int64{1, 2}},
		"none is the current one": {[]catalog.Record{page(1, "a", "2.5"), page(2, "a", "")}, []int64{2}},
		"the newest of each": {[]catalog.Record{page(1, "a", "2.9"), page(2, "a", "2.10"), page(3, "b", "1.0"),
			page(4, "a", "main")}, []int64{2, 3}},
		"marked ones are others": {[]catalog.Record{page(1, "a", "", catalog.TagOtherVersion), page(2, "a", "")},
			[]int64{2}},
		"names of branches": {[]catalog.Record{page(1, "a", "main"), page(2, "a", "dev")}, []int64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int64
			for _, r := range currentPages(c.pages) {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestRelevantPages(t *testing.T) {
	page := func(id int64, version string, relevance float64) find.Match {
		r := catalog.Record{ID: id, Kind: catalog.KindDoc}
		return find.Match{Record: recordtest.With(r, catalog.Doc{Version: version}),
			Relevance: relevance}
	}
	got := relevantPages([]find.Match{page(1, "1.0", 1), page(2, "2.0", 0.6), page(3, "", 0.5),
		page(4, "", 0.36), page(5, "", 0.34)})
	if want := []int64{3, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v: the best of those that are current counts", got, want)
	}
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{
		"The base allowance is 200 kB.", "| a | 15 or later |", "`sextant`\n```\nsextant\n", "at least helm 1.2.3-x",
		"on port 65535",
		"x_y: 1,000 %", "\xff is 1 s", "1. 2. 3 or later", "a is is of = 9 ms at most", "gauge read → sextant",
	} {
		f.Add("moving", s)
	}
	f.Fuzz(func(t *testing.T, title, text string) {
		claims := claimsIn(title, text, sextant)
		for _, c := range claims {
			if c.Aspect == "" || c.Subject == "" || c.Value == "" {
				t.Errorf("%+v in %q", c, text)
			}
			if c.Aspect != aspectName && !strings.Contains(c.Text, c.Value) {
				t.Errorf("%q does not say %q", c.Text, c.Value)
			}
		}
		again := claimsIn(title, text, sextant)
		if !slices.Equal(claims, again) {
			t.Errorf("%q is read in two ways", text)
		}
	})
}

func TestSnippetOfSide(t *testing.T) {
	side := side{}
	for text, want := range map[string]string{
		"short": "short", strings.Repeat("é", 240): strings.Repeat("é", 240),
		strings.Repeat("é", 241): strings.Repeat("é", 239) + "…",
	} {
		if side.Text = text; side.Snippet() != want {
			t.Errorf("%d bytes: %q", len(text), side.Snippet())
		}
	}
}
