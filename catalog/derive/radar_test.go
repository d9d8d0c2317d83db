package derive_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/testing/recordtest"
)

// notes is a release of invented software with the given notes.
func notes(version, body string) catalog.Record {
	return recordtest.With(catalog.Record{
		ID: 7, Kind: catalog.KindRelease, Key: "saltpan/lantern@v" + version, Title: "Lantern " + version, Body: body,
		URL: "https://forge.example.org/saltpan/lantern/releases/v" + version, Container: "saltpan/lantern",
		Category: "lantern", CreatedAt: time.Date(2031, 3, 1, 0, 0, 0, 0, time.UTC),
	}, catalog.Release{Version: version})
}

// said are the statements of the items of a release, by topic.
func said(entries []catalog.Entry) map[string][]string {
	out := map[string][]string{}
	for _, e := range entries {
		name := strings.TrimPrefix(e.Record.Key, "saltpan/lantern@v2.0.0/")
		for line := range strings.Lines(e.Record.Body) {
			out[name] = append(out[name], strings.TrimSpace(strings.TrimPrefix(line, "- ")))
		}
	}
	return out
}

func TestRadarReadsNotes(t *testing.T) {
	for name, c := range map[string]struct {
		notes string
		want  map[string][]string
	}{
		"an empty note warns of nothing": {"", nil},
		"features and fixes warn of nothing": {"# Lantern 2.0.0\n\n## What's new\n\n- Add a fog mode (#12).\n- Fix a " +
			"breaking change of 1.9 in the wick parser.\n" +
			"- The lamp must be lit before dusk, which the new timer does.\n- Non-breaking changes to the log " +
			"format.\n- Removed an annoying warning.\n- No action is required.\n", nil},
		"each item under a heading of breaking changes": {
			"## Breaking changes\n\n- The `wick` command is called **trim** now. Scripts that call it fail.\n- Oil " +
				"is measured in litres.\n\n## Fixes\n\n- The horn sounds again.\n",
			map[string][]string{"breaking": {"The wick command is called trim now. Scripts that call it fail.",
				"Oil is measured in litres."}}},
		"a heading with a sign": {"### ⚠️ BREAKING CHANGES\n\n* **lamp-api:** drop the v1 client " +
			"([#31](https://forge.example.org/31))\n",
			map[string][]string{"breaking": {"lamp-api: Drop the v1 client"}}},
		"a heading in reStructuredText": {"Breaking changes\n----------------\n\n* The lens table lost its column " +
			"``focus``.\n\nOther\n-----\n\n* A new icon.\n",
			map[string][]string{"breaking": {"The lens table lost its column focus."}}},
		"a general heading above others, which speak with their first sentence": {
			"## Breaking Changes\n\n### Lenses are polished offline\n\nThe polishing service is gone. Use the " +
				"bench.\n\nMore of it.\n\n### Tanks have two valves\nBoth open.\n",
			map[string][]string{"breaking": {"Lenses are polished offline: The polishing service is gone.",
				"Tanks have two valves: Both open."}}},
		"a heading that says what goes": {"### Removal of the coal burner\n\nThe coal burner was replaced long ago. " +
			"It is gone.\n\nA second paragraph.\n",
			map[string][]string{"removal": {"Removal of the coal burner: The coal burner was replaced long ago."}}},
		"a marked item among others": {"## Changes\n\n- *BREAKING*: Renamed `lamp.fuel` to `lamp.oil`.\n- BREAKING " +
			"The lens has to be turned by hand.\n- Shinier brass.\n",
			map[string][]string{"breaking": {"Renamed lamp.fuel to lamp.oil.", "The lens has to be turned by hand."}}},
		"components are the short items above": {"- Lens room\n\n  > - The old shutter has been removed.\n\n- A long " +
			"sentence about nothing in particular.\n  - Support is better now.\n",
			map[string][]string{"removal": {"Lens room: The old shutter has been removed."}}},
		"what is now mandatory": {"- The value `keeper.name` is now mandatory. It was optional before.\n",
			map[string][]string{"breaking": {"The value keeper.name is now mandatory. It was optional before."}}},
		"a warning that requires something": {"**Warning:** Keepers must upgrade to 2.0.0 before the spring tide. " +
			"Later is too late.\n\n- A new flag.\n",
			map[string][]string{"action": {
				"Keepers must upgrade to 2.0.0 before the spring tide. Later is too late."}}},
		"notes of a site": {
			":::danger[Before you start]\n\nBack up the log book before the upgrade, it is only read once.\n\n:::\n",
			map[string][]string{"action": {"Danger: Before you start: Back up the log book before the " +
				"upgrade, it is only read once."}}},
		"alerts of the forge": {
			"> [!IMPORTANT]\n> Back up the log book before the upgrade, it is only read once.\n",
			map[string][]string{"action": {"Back up the log book before the upgrade, it is only read once."}}},
		"a directive in reStructuredText": {".. warning::\n   Do not light two lamps; only one is insured.\n",
			map[string][]string{"action": {"Do not light two lamps; only one is insured."}}},
		"a condition is breaking for some": {"- If you turn the lens by hand, you need to update your crank.\n",
			map[string][]string{"breaking": {"If you turn the lens by hand, you need to update your crank."}}},
		"instructions under upgrade notes": {"## Upgrade notes\n\n- Run `lantern migrate` first.\n- Replace the old " +
			"wick by a new one.\n- The migration takes an hour.\n",
			map[string][]string{"action": {"Replace the old wick by a new one."}}},
		"advice on a known issue is not an action": {
			"#### Workaround\n\nNone. You need to upgrade to a version without the issue.\n", nil},
		"an item that leads in a list": {"- The following endpoints have been removed:\n  - `/v0/oil`\n  - " +
			"`/v0/wick`. It was slow.\n- Next.\n",
			map[string][]string{"removal": {"The following endpoints have been removed: /v0/oil; /v0/wick"}}},
		"what is to go": {
			"- The brass polish is deprecated and will be removed in 3.0.\n- The paint is dry.\n",
			map[string][]string{"deprecation": {"The brass polish is deprecated and will be removed in 3.0."}}},
		"removed trifles are not removals": {
			"- Removed unused imports.\n- The requirement for two keepers has been removed.\n- Remove dead code from " +
				"the horn.\n", nil},
		"the sentence that says so comes first": {"- Lanterns can be painted. The colours are new. The old palette " +
			"is now deprecated.\n",
			map[string][]string{"deprecation": {"The old palette is now deprecated."}}},
		"vulnerabilities": {"- Update the boiler to 1.9 (CVE-2031-12345, GHSA-aaaa-bbbb-cccc).\n- No known " +
			"vulnerabilities are left.\n- Ongoing security hardening.\n- Fix a security issue in the hatch.\n",
			map[string][]string{"security": {"Update the boiler to 1.9 (CVE-2031-12345, GHSA-aaaa-bbbb-cccc).",
				"Fix a security issue in the hatch."}}},
		"severe issues under security": {"## Security and Bugfixes\n\n### (31-002, High): The hatch opens from " +
			"outside\n\n#### Impact\n\nAnybody gets in.\n\n### (31-003, Low): The bell is faint\n\nHardly heard.\n",
			map[string][]string{"security": {"(31-002, High): The hatch opens from outside: Anybody gets in."}}},
		"dates to act by": {"- Version 1 will not be maintained after June 2031.\n- Keepers must upgrade by May 4th, " +
			"2031. It is short.\n- Sealed by 12 May 2031 the lamp must be, it is the deadline.\n- The old mirror was " +
			"bought before 1990-01-01 and must stay.\n" +
			"- Lantern 1.9 was released on 2031-04-01 and will be removed.\n",
			map[string][]string{
				"deadline-2031-06-30": {"Version 1 will not be maintained after June 2031."},
				"deadline-2031-05-04": {"Keepers must upgrade by May 4th, 2031. It is short."},
				"deadline-2031-05-12": {"Sealed by 12 May 2031 the lamp must be, it is the deadline."},
				"deprecation":         {"Lantern 1.9 was released on 2031-04-01 and will be removed."}}},
		"code, tables and comments say nothing": {
			"```\n- BREAKING: not said\n```\n\n| Breaking | x |\n|---|---|\n| BREAKING: y | z |\n\n<!-- BREAKING: " +
				"hidden from view -->\n", nil},
		"a span of code hides nothing": {"```lantern upgrade```\n\n## Breaking changes\n\n- The door opens inwards " +
			"now.\n", map[string][]string{"breaking": {"The door opens inwards now."}}},
		"a fence with a language closes none": {"```\n```sh\n- BREAKING: not said\n```\n- BREAKING: The door opens " +
			"inwards now.\n", map[string][]string{"breaking": {"The door opens inwards now."}}},
		"nothing under a heading is nothing": {"## Breaking changes\n\nNone.\n\n## Deprecations\n\n- N/A\n", nil},
		"a text said twice counts once": {
			"## Breaking changes\n- The door opens inwards now.\n\n## Details\n- **Breaking:** The door opens " +
				"inwards now.\n", map[string][]string{"breaking": {"The door opens inwards now."}}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = map[string][]string{}
			}
			if d := cmp.Diff(c.want, said(derive.Radar(notes("2.0.0", c.notes)))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRadarItem(t *testing.T) {
	release := notes(
		"2.0.0", "- Lens room\n  - **Breaking:** Keepers must upgrade the lens by 2031-05-04.\n- **lamp-api:** the "+
			"v1 client has been removed\n")
	entries := derive.Radar(release)
	if len(entries) != 2 {
		t.Fatalf("%d items", len(entries))
	}
	want := catalog.Entry{
		Record: recordtest.With(catalog.Record{
			Kind: catalog.KindRadar, Key: release.Key + "/deadline-2031-05-04",
			Title: "Lantern 2.0.0: Keepers must upgrade the lens by 2031-05-04.", URL: release.URL,
			Container: release.Container, Category: catalog.RadarCritical, CreatedAt: release.CreatedAt,
			EndsAt:  time.Date(2031, 5, 4, 0, 0, 0, 0, time.UTC),
			Body:    "- Lens room: Keepers must upgrade the lens by 2031-05-04.",
			Summary: "Keepers must upgrade the lens by 2031-05-04.", Tags: []string{"topic:deadline"},
		}, catalog.Radar{Affected: []string{"Lantern", "Lens room"},
			Action: "Keepers must upgrade the lens by 2031-05-04.", Deadline: "2031-05-04",
			Versions: []string{"2.0.0"}}),
		Links: []catalog.Link{{Relation: catalog.References, To: release.Ref()}},
	}
	if d := cmp.Diff(want, entries[1]); d != "" {
		t.Error(d)
	}
	if got := entries[0].Record; got.Body != "- lamp-api: The v1 client has been removed" ||
		got.Category != catalog.RadarImportant {
		t.Errorf("%+v", got)
	}
}

func TestRadarLeavesOut(t *testing.T) {
	body := "- BREAKING: The door opens inwards now.\n"
	for name, r := range map[string]catalog.Record{
		"prereleases": recordtest.With(notes("2.0.0-rc1", body),
			catalog.Release{Version: "2.0.0-rc1", Prerelease: true}),
		"pages of no release": recordtest.With(notes("", body), catalog.Release{}),
		"templates": func() catalog.Record {
			r := notes("2.0.0",
				body)
			r.Tags = []string{catalog.TagStub}
			return r
		}(),
		"not a release":         {Kind: catalog.KindDoc, Key: "page", Body: body},
		"data that is not JSON": {Kind: catalog.KindRelease, Key: "x", Body: body, Data: []byte("{")},
	} {
		if got := derive.Radar(r); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Notes that go on for ever give no more than others.
func TestRadarIsBounded(t *testing.T) {
	var days, dated strings.Builder
	for i := range 100 {
		day := time.Date(2031, 4, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i).Format(time.DateOnly)
		fmt.Fprintf(&days, "- You must upgrade lens %d before %s.\n", i, day)
		fmt.Fprintf(&dated, "%s and ", day)
	}
	for name, c := range map[string]struct {
		notes string
		items int
		most  int // bytes of an item's text
	}{
		"dates":             {days.String(), 25, 100},
		"one of many dates": {"You must upgrade before " + dated.String() + "then.", 1, 330},
		"a heading":         {"# Breaking " + strings.Repeat("change of it ", 5000) + "\n\n- The door opens inwards.", 1, 330},
		"statement":         {"- BREAKING: " + strings.Repeat("the door opens ", 5000), 1, 330},
	} {
		entries := derive.Radar(notes("2.0.0", c.notes))
		if len(entries) != c.items {
			t.Errorf("%s: %d items, want %d", name, len(entries), c.items)
		}
		for _, e := range entries {
			if n := len(e.Record.Body); n > c.most {
				t.Errorf("%s: a text of %d bytes", name, n)
			}
		}
	}
}

func TestRadarItems(t *testing.T) {
	a, b := notes("2.0.0", "- BREAKING: The door opens inwards now, mind the step.\n"),
		notes("2.0.1", "- BREAKING: The window is shut.\n")
	b.ID++
	copied := notes(
		"2.0.0", "* **Breaking** The door opens inwards now. Mind the step!\n* **Breaking** A bell was added to it.\n")
	copied.ID, copied.Key, copied.URL = 9, "docs/lantern.md#2.0.0", "https://docs.example.org/lantern"
	page := copied
	page.ID, page.Key = 10, "docs/lantern.md#1.9.0"
	releases := []catalog.Record{copied, page, b, a}
	radar := func(r catalog.Record, d catalog.Radar) catalog.Record {
		r.Kind, r.Key = catalog.KindRadar, "curated"
		return recordtest.With(r, d)
	}
	for name, c := range map[string]struct {
		curated catalog.Entry
		want    []string
	}{
		"a copy gives none": {catalog.Entry{Record: radar(catalog.Record{}, catalog.Radar{})},
			[]string{a.Key, b.Key}},
		"a curated item linked": {catalog.Entry{Record: radar(catalog.Record{}, catalog.Radar{}),
			Links: []catalog.Link{{To: b.Ref()}}}, []string{a.Key}},
		"of its address": {catalog.Entry{Record: radar(catalog.Record{URL: b.URL}, catalog.Radar{})},
			[]string{a.Key}},
		"of a page of many": {catalog.Entry{Record: radar(catalog.Record{URL: page.URL}, catalog.Radar{})},
			[]string{a.Key, b.Key}},
		"of its version": {catalog.Entry{Record: radar(catalog.Record{},
			catalog.Radar{Affected: []string{"LANTERN"}, Versions: []string{"v2.0.1"}})}, []string{a.Key}},
		"of another's version": {catalog.Entry{Record: radar(catalog.Record{},
			catalog.Radar{Affected: []string{"wick"}, Versions: []string{"2.0.1"}})}, []string{a.Key, b.Key}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			made, err := derive.RadarItems(t.Context(), releases, []catalog.Entry{c.curated})
			for _, e := range made {
				got = append(got, strings.TrimSuffix(e.Record.Key, "/breaking"))
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" {
				t.Error(err, d)
			}
		})
	}
}

func FuzzRadar(f *testing.F) {
	for _, seed := range []string{
		"", "## Breaking changes\n- x y z", "- BREAKING:\n  - a\n   - b", "> > - must upgrade by 2031-02-30",
		"**Warning:**", ".. warning::\n\n   must", "a:\n- b\n\nc:\n  d", "#\n#\n# \xff", "- - - BREAKING: - nested",
		"\t- removed x\n\t\t- y:",
		"CVE-2031-1234" + strings.Repeat(" é", 400), "```\nnever closed", "[!WARNING]", "1. 2. 3) breaking change",
		"⚠:\n⚠ must",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		seen := map[string]bool{}
		for _, e := range derive.Radar(notes("2.0.0", body)) {
			if seen[e.Record.Key] {
				t.Errorf("%s twice", e.Record.Key)
			}
			seen[e.Record.Key] = true
			if e.Record.Body == "" || e.Record.Summary == "" || !utf8.ValidString(e.Record.Title) ||
				utf8.RuneCountInString(e.Record.Title) > 150 {
				t.Errorf("%+v", e.Record)
			}
			if _, err := e.Normalize(); err != nil {
				t.Error(err)
			}
		}
	})
}
