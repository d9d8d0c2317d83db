package network_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
	"almanac/text/options"
)

const full = `
name: north-sea
title: North Sea Ledger
description: An invented network.
homepage: https://north-sea.example/
proposals:
  prefix: NSP
  statuses: [Draft, Review, Final]
  status_map: {Proposed: Review, In Last Call: Review, Active: Final}
  decided: [Final, in last call]
  default: Draft
  digits: 3
authority: {proposals: 1, doc: 0.5}
aliases:
  party: [party id, account]
descriptions: {doc: Pages of the handbook.}
sources:
  - name: proposals
    kind: git-proposals
    title: Proposals
    every: 15m
    freshness: 24h
    options: {dir: "${corpus}", depth: 3, nested: {a: null}}
  - name: handbook
    kind: docs
community:
  - {kind: forum, title: Forum, url: "https://forum.north-sea.example/"}
partner: trawler
toolchain: {sdk: "@north/sdk", package_manager: north/nspm}
`

func TestParseReadsEveryField(t *testing.T) {
	got, err := network.Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := network.Network{
		Name: "north-sea", Title: "North Sea Ledger", Description: "An invented network.",
		Homepage: "https://north-sea.example/",
		Proposals: network.Proposals{
			Prefix: "NSP", Digits: 3, Statuses: []string{"Draft", "Review", "Final"}, Default: "Draft",
			Decided: []string{"Final", "in last call"}, StatusMap: map[string]string{"Proposed": "Review", "In Last Call": "Review", "Active": "Final"},
		},
		Toolchain:    network.Toolchain{SDK: "@north/sdk", PackageManager: "north/nspm"},
		Authority:    map[string]float64{"proposals": 1, "doc": 0.5},
		Aliases:      map[string][]string{"party": {"party id", "account"}},
		Descriptions: map[string]string{"doc": "Pages of the handbook."},
		Sources: []network.Source{
			{
				Name: "proposals", Kind: "git-proposals", Title: "Proposals", Every: 15 * time.Minute,
				Freshness: 24 * time.Hour,
				Options:   options.Of(map[string]any{"dir": "${corpus}", "depth": 3, "nested": map[string]any{"a": nil}}),
			},
			{Name: "handbook", Kind: "docs"},
		},
		Community: []network.Place{{Kind: "forum", Title: "Forum", URL: "https://forum.north-sea.example/"}},
		Partner:   "trawler",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestParseErrorsNameFileLineAndRemedy(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(full, old) {
			t.Fatalf("the fixture has no %q", old)
		}
		return strings.Replace(full, old, new, 1)
	}
	tests := map[string]struct{ file, want string }{
		"an empty file":     {"", "n.yaml:1: the file is empty"},
		"only a comment":    {"# nothing\n", "n.yaml:1: the file is empty"},
		"a list":            {"- a\n", "n.yaml:1: a network file is a mapping"},
		"broken YAML":       {"name: [\n", "n.yaml:1: did not find expected node content"},
		"a second document": {full + "---\nname: b\n", "a second document"},
		"an unknown key names the nearest": {replace("homepage:", "homepag:"),
			`n.yaml:5: unknown key "homepag"; did you mean "homepage"?`},
		"an unknown key in a source": {replace("    freshness:", "    freshnes:"),
			`n.yaml:22: sources[1]: unknown key "freshnes"; did you mean "freshness"?`},
		"a far unknown key names all": {replace("homepage:", "zzz:"),
			`unknown key "zzz"; known are name, title,`},
		"a key that appears twice": {replace("title: North", "name: x\ntitle: North"),
			"n.yaml:3: name: is a duplicate"},
		"a string where a list belongs": {replace("[Draft, Review, Final]", "Draft"), "n.yaml:8: proposals.statuses: want a list"},
		"a number where a string belongs": {replace("title: North Sea Ledger", "title: 1.10"),
			"n.yaml:3: title: 1.10 is not text; write it in quotes"},
		"a key without a value": {replace("title: North Sea Ledger", "title:"),
			"n.yaml:3: title: has no value"},
		"a duration without a unit": {replace("15m", "15"),
			`n.yaml:21: sources[1].every: "15" is not a duration; write 15m, 24h or 1h30m`},
		"a duration in words": {replace("15m", "a day"),
			`n.yaml:21: sources[1].every: "a day" is not a duration`},
		"a negative duration":              {replace("15m", "-15m"), "is not negative"},
		"a duration of less than a second": {replace("15m", "15ms"), "shorter than a second"},
		"an ill-formed name": {replace("north-sea", "North Sea"),
			`n.yaml:2: name: "North Sea" must be at most 64 lower-case`},
		"a name that is a path": {replace("north-sea", "../etc"), "n.yaml:2: name:"},
		"a missing name":        {replace("name: north-sea\n", ""), "name: missing"},
		"a missing title":       {replace("title: North Sea Ledger\n", ""), "title: the network's name"},
		"a homepage without scheme": {replace("https://north-sea.example/", "north-sea.example"),
			"n.yaml:5: homepage:"},
		"a script as homepage": {replace("https://north-sea.example/", "javascript:alert(1)"),
			"n.yaml:5: homepage:"},
		"a place of no kind": {replace("kind: forum", "kind: pub"),
			`n.yaml:27: community: kind "pub" is not one of forum, mail, chat`},
		"a place without a title": {replace("title: Forum", `title: " "`),
			"n.yaml:27: community: a place has no title"},
		"a place without an address": {replace(`"https://forum.north-sea.example/"`, "forum"),
			`n.yaml:27: community: want a web address: one that begins with https://`},
		"a place with a password": {replace("https://forum.north-sea.example/", "https://ada:hush@forum.north-sea.example/"),
			`n.yaml:27: community: want a web address without a user or a password`},
		"an ill-formed partner": {replace("trawler", "Traw ler"),
			`n.yaml:28: partner: "Traw ler" must be at most 64 lower-case`},
		"an authority that is not a number": {replace("proposals: 1,", "proposals: .nan,"),
			`n.yaml:13: authority.proposals: ".nan" is not a number`},
		"a program that is an address": {replace("north/nspm", "https://north.example/nspm"),
			`toolchain.package_manager: "https://north.example/nspm" is neither a repository (owner/name) nor a package`},
		"a program that there is not": {replace("sdk:", "skd:"), `toolchain: unknown key "skd"; did you mean "sdk"?`},
		"a prefix with a hyphen":      {replace("NSP", "NS-P"), "n.yaml:7: proposals.prefix:"},
		"no statuses": {replace("[Draft, Review, Final]", "[]"),
			"n.yaml:8: proposals.statuses: at least one"},
		"a status twice": {replace("[Draft, Review", "[Draft, draft, Review"),
			`n.yaml:8: proposals.statuses: "draft" appears twice`},
		"a status without a meaning": {replace("[Draft, Review", "[Draft, Living, Review"),
			`n.yaml:8: proposals.statuses: "Living" has no meaning; map it in proposals.status_map to one of ` +
				`Draft, Review, Final, Withdrawn, Rejected, Superseded`},
		"a decided word without a meaning": {replace("decided: [Final", "decided: [Finall"),
			`n.yaml:10: proposals.decided: unknown status "Finall"; did you mean "Final"?`},
		"a decided word twice": {replace("decided: [Final", "decided: [In Last Call"),
			`n.yaml:10: proposals.decided: "in last call" appears twice`},
		"no decided word": {replace("decided: [Final, in last call]", "decided: []"),
			"n.yaml:10: proposals.decided: at least one status is needed"},
		"a prefix that is that of drafts": {replace("NSP", "pr"),
			"n.yaml:7: proposals.prefix: pr begins the ids of drafts"},
		"no digits": {replace("digits: 3", "digits: 0"),
			"n.yaml:12: proposals.digits: 0 must be 1 (no padding) to 6"},
		"too many digits": {replace("digits: 3", "digits: 7"),
			"n.yaml:12: proposals.digits: 7 must be"},
		"digits that are not a whole number": {replace("digits: 3", "digits: 1.5"),
			`n.yaml:12: proposals.digits: "1.5" is not a whole`},
		"a default outside the statuses": {replace("default: Draft", "default: Idea"),
			`n.yaml:11: proposals.default: "Idea" is neither one of Draft, Review, Final, Withdrawn,`},
		"a status map to an unknown status": {replace("Active: Final", "Active: Done"),
			`n.yaml:9: proposals.status_map: "Active" maps to "Done"`},
		"a status mapped to another": {replace("Active: Final", "final: Draft"),
			`"final" is itself a status and cannot mean "Draft"`},
		"a word mapped twice": {replace("Active: Final", "proposed: Review"),
			`"Proposed" and "proposed" are the same word`},
		"a source called as what is derived": {replace("name: handbook", "name: derived"),
			`n.yaml:24: source "derived": the name is reserved for derived records; choose another`},
		"a source name that appears twice": {replace("name: handbook", "name: proposals"),
			`n.yaml:24: source "proposals" is already defined in line 18`},
		"a source without connector": {replace("    kind: docs\n", ""), "n.yaml:24: kind: missing"},
		"an ill-formed source name": {replace("name: handbook", "name: Hand book"),
			`n.yaml:24: name: "Hand book" must be`},
		"an alias, which would hide its own lines": {replace("[party id, account]", "&x [a]\n  other: *x"),
			"aliases (*x) are not supported"},
		"more than a network file ever has": {full + strings.Repeat("#", 1<<20), "n.yaml:1: the file has"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := network.Parse("n.yaml", []byte(tt.file))
			if err == nil {
				t.Fatal("was accepted")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error\n%v\ndoes not contain\n%s", err, tt.want)
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "n.yaml:") {
					t.Errorf("no file and line in %q", line)
				}
			}
		})
	}
}

func TestParseReportsAllProblemsAtOnce(t *testing.T) {
	_, err := network.Parse("n.yaml", []byte("name: A\nproposals: {prefix: '', statuses: [X], default: Y}\n"))
	if err == nil || strings.Count(err.Error(), "\n") < 4 {
		t.Errorf("want name, title, prefix, default and sources reported, got\n%v", err)
	}
}

func TestStatus(t *testing.T) {
	p := network.Proposals{
		Statuses: []string{"Draft", "Living", "Last Call", "Final"}, Default: "Idea",
		StatusMap: map[string]string{"Proposed": "Review", "Last  Call": "Review", "Living": "Final", "Idea": "Draft"},
	}
	tests := map[string]struct {
		raw, want string
		known     bool
	}{
		"one of the six needs no entry":             {"Final", "Final", true},
		"one of the six need not be listed":         {"Rejected", "Rejected", true},
		"case does not count":                       {"fInAL", "Final", true},
		"space around does not count":               {"\t Review \n", "Review", true},
		"a word of the network":                     {"Living", "Final", true},
		"a mapped word that is not listed":          {"Proposed", "Review", true},
		"a mapped word in another case":             {"LIVING", "Final", true},
		"inner space is folded":                     {"last   call", "Review", true},
		"an unknown word is the default's meaning":  {"Postponed?", "Draft", false},
		"a blank word is the default's meaning":     {"  ", "Draft", false},
		"a word that merely starts with one is not": {"Final!", "Draft", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := p.Status(tt.raw)
			if got != tt.want || known != tt.known {
				t.Errorf("Status(%q) = %q, %v; want %q, %v", tt.raw, got, known, tt.want, tt.known)
			}
		})
	}
}

func TestIsDecided(t *testing.T) {
	plain := network.Proposals{Default: "Draft", StatusMap: map[string]string{"Living": "Final", "Adopted": "Review"}}
	named := plain
	named.Decided = []string{"Adopted", "Final"}
	for name, tt := range map[string]struct {
		status, word string
		plain, named bool
	}{
		"the word Final":                      {"Final", "Final", true, true},
		"no word":                             {"Final", "", true, true},
		"a word that means Final":             {"Final", "Living", true, false},
		"a word that is named, in other case": {"Review", " adopted ", false, true},
		"a word that is not named":            {"Review", "Review", false, false},
		"a draft that is closed":              {"Withdrawn", "closed", false, false},
	} {
		if got := plain.IsDecided(tt.status, tt.word); got != tt.plain {
			t.Errorf("%s: %v where the network names none", name, got)
		}
		if got := named.IsDecided(tt.status, tt.word); got != tt.named {
			t.Errorf("%s: %v where it names some", name, got)
		}
	}
}

func TestANetworkMayHaveNoProposals(t *testing.T) {
	const text = "name: quay\ntitle: Quay\nsources: [{name: pages, kind: docs}]\n"
	n, err := network.Parse("quay.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if status, known := n.Proposals.Status("final"); n.Proposals.Key("7") != "CIP-0007" || status != "Final" || !known {
		t.Errorf("proposals %+v", n.Proposals)
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	if err := resolvedSchema(t, nil).Validate(value); err != nil {
		t.Errorf("the schema: %v", err)
	}
	_, err = network.Parse("quay.yaml", []byte(text+"proposals: {prefix: QIP}\n"))
	for _, want := range []string{"proposals.statuses: at least one", "proposals.default: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("an empty one: %v, which does not say %q", err, want)
		}
	}
}

func TestWordsAreTheSixThenTheNetworksOwn(t *testing.T) {
	p := network.Proposals{Statuses: []string{"draft", "Last Call", "Final", "Living"},
		StatusMap: map[string]string{"Proposed": "Review"}}
	want := []string{"Draft", "Review", "Final", "Withdrawn", "Rejected", "Superseded", "Last Call", "Living"}
	if diff := cmp.Diff(want, p.Words()); diff != "" {
		t.Errorf("Words (-want +got):\n%s", diff)
	}
}

func resolvedSchema(t testing.TB, kinds map[string]*jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	raw, err := network.Schema(kinds)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSchemaAcceptsWhatParseAcceptsAndKnowsTheKeys(t *testing.T) {
	schema := resolvedSchema(t, map[string]*jsonschema.Schema{"docs": {}, "git-proposals": {}})
	var value any
	if err := yaml.Unmarshal([]byte(full), &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("the full file is refused: %v", err)
	}
	bad := map[string]func(m map[string]any){
		"an unknown key":     func(m map[string]any) { m["titel"] = "x" },
		"no title":           func(m map[string]any) { delete(m, "title") },
		"an ill-formed name": func(m map[string]any) { m["name"] = "A b" },
		"a place of no kind": func(m map[string]any) { m["community"].([]any)[0].(map[string]any)["kind"] = "pub" },
		"an unknown kind":    func(m map[string]any) { m["sources"].([]any)[1].(map[string]any)["kind"] = "dosc" },
		"a word that means none of the six": func(m map[string]any) {
			m["proposals"].(map[string]any)["status_map"].(map[string]any)["Active"] = "Finel"
		},
		"a numeric interval": func(m map[string]any) { m["sources"].([]any)[0].(map[string]any)["every"] = 15 },
	}
	for name, change := range bad {
		t.Run(name+" is refused", func(t *testing.T) {
			var m map[string]any
			if err := yaml.Unmarshal([]byte(full), &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			if err := schema.Validate(m); err == nil {
				t.Error("was accepted")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("name: a\nsources: [{name: x, every: 1h}]"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("<<: {name: b}\n? [x]\n: y"))
	schema := resolvedSchema(f, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := network.Parse("f.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		var value any
		if err := yaml.Unmarshal(data, &value); err != nil {
			t.Fatalf("accepted although YAML is broken: %v", err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("accepted by Parse, refused by the schema: %v", err)
		}
		for raw := range n.Proposals.StatusMap {
			if _, known := n.Proposals.Status(raw); !known {
				t.Errorf("mapped word %q is unknown", raw)
			}
		}
	})
}

func TestSpelling(t *testing.T) {
	n := network.Network{Aliases: map[string][]string{"baynet": {"test network", "testnet"}}}
	known := []string{"MainNet", "BayNet"}
	for asked, want := range map[string]string{
		"mainnet": "MainNet", "TestNet": "BayNet", " test  Network ": "BayNet", "bay": "", "": "",
	} {
		if got := n.Spelling(asked, known); got != want {
			t.Errorf("%q is %q, want %q", asked, got, want)
		}
	}
}
