package proposal_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/proposal"
)

// lagoon is a network with a prefix that says nothing of its files.
func lagoon(prefix string) network.Network {
	return network.Network{Name: "lagoon", Title: "Lagoon", Proposals: network.Proposals{
		Prefix: prefix, Default: "Draft", Statuses: []string{"Draft", "Review", "Final", "Stale", "Withdrawn"},
		StatusMap: map[string]string{"Activated": "Final", "Deployed": "Final", "Proposed": "Review", "Stale": "Withdrawn"},
	}}
}

const wikiPage = `<pre>
  LIP: 12
  Layer: Core
  Title: Ropes of
         hemp
  Authors: Ada Quay <ada@lagoon.example>
           Bo Marlin <bo@lagoon.example>
  Status: Deployed
  Assigned: 2025-03-04
</pre>

==Abstract==

Ropes are of '''hemp''', see [[lip-0013.mediawiki|LIP 13]].

=== Knots ===
* a bowline
`

const literalHeader = `::

  LIP: 32
  Title: Purses
  Owners: Ada Quay <ada@lagoon.example>
          Bo Marlin <bo@lagoon.example>
  Status: Activated
  Category: Wallets
  Created: 2025-03-04

Terminology
===========

Words are words.

Abstract
========

A purse holds ` + "``tally``" + `.
`

const mailHeader = `LIP: 8
Title: How ropes
  are spliced
Author: Ada Quay <ada@lagoon.example>,
        Bo Marlin <bo@lagoon.example>
Status: Final
Post-History: 2-Mar-2025

Abstract
========

.. note:: Ropes are spliced twice.

Rules
-----

One splice a day.
`

const fieldHeader = `====================
Lamps on every pier
====================

:LIP: 9
:Author: Ada Quay
:Status: Proposed
:Created: 2025-03-04

Abstract
--------

Lamps burn.
`

// yamlHeader is a header of front matter.
func yamlHeader(field, title string) string {
	return "---\n" + field + "\ntitle: " + title + "\nauthors:\n  - Ada Quay (Pier Works)\n  - Bo Marlin\n" +
		"status: Activated\ncreated: 2025-03-04\n---\n\n## Summary\n\nThis is about " + title + ".\n"
}

func table(number, title, status string) string {
	return "| ACP | " + number + " |\n| :--- | :--- |\n| **Title** | " + title + " |\n| **Author(s)** | Ada Quay " +
		"([@adaq](https://forge.example/adaq)), Bo Marlin <@bom> |\n| **Status** | " + status + " |\n" +
		"| **Track** | Standards |\n| **Replaces** | [ACP-13](../13-ropes/README.md) |\n\n## Abstract\n\nIt is " +
		title + ".\n"
}

// TestLayouts reads repositories that are laid out as those of known networks.
func TestLayouts(t *testing.T) {
	type row struct{ Key, Title, Author, State, Raw, Created, Type string }
	both := "Ada Quay, Bo Marlin"
	for name, c := range map[string]struct {
		prefix string
		paths  []any
		files  map[string]string
		want   []row
		others []string // records of other kinds
		texts  map[string][]string
	}{
		"numbers in front of the name, and a header that has them": {
			prefix: "SID",
			files: map[string]string{
				"proposals/0001-the-process.md": yamlHeader("sid: '0001'", "Process of lamps"),
				"proposals/0033-signals.md":     yamlHeader("sid: '0033'", "Timely signals"),
				"proposals/XXXX-template.md":    yamlHeader("sid: 'XXXX'", "(fill in)"),
				"README.md":                     "# Proposals",
			},
			want: []row{
				{"SID-0001", "Process of lamps", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"SID-0033", "Timely signals", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
			},
		},
		"a number that only the name has": {
			prefix: "RFC",
			files: map[string]string{
				"text/0001-agile-berths.md": "# RFC-1: Agile berths\n\n|  |  |\n| --- | --- |\n" +
					"| **Start Date** | 30 June 2025 |\n" +
					"| **Authors** | Ada Quay, Bo Marlin |\n\n## Summary\n\nThe knot of berths is sold.\n",
				"text/0149-rfc-1-renewals.md": "# RFC-0149: Renewals\n\n| **Authors** | Ada Quay |\n| --- | --- |\n\n" +
					"## Summary\n\nText.\n",
				"mdbook/01-introduction.md": "# Introduction\n\nRead on.\n",
			},
			want: []row{
				{"RFC-0001", "Agile berths", both, "Draft", "", "30 June 2025", ""},
				{"RFC-0149", "Renewals", "Ada Quay", "Draft", "", "", ""},
			},
		},
		"records of decisions without a header": {
			prefix: "ADR", paths: []any{"docs/architecture/*.md"},
			files: map[string]string{
				"docs/architecture/adr-007-coins-of-tin.md": "# ADR 007: Coins of tin\n\n## Context\n\nCoins rust.\n",
				"docs/architecture/adr-012.md":              "# ADR 012: Nets\n\n## Context\n\nNets tear.\n",
			},
			want: []row{
				{"ADR-0007", "Coins of tin", "", "Draft", "", "", ""},
				{"ADR-0012", "Nets", "", "Draft", "", "", ""},
			},
		},
		"a folder for each, with a table of links": {
			prefix: "ACP",
			files: map[string]string{
				"ACPs/13-ropes/README.md":          table("13", "Ropes", "Stale"),
				"ACPs/77-piers/README.md":          table("77", "Piers", "Activated ([Discussion](https://forge.example/d/78))"),
				"ACPs/77-piers/appendix-2.md":      "# Appendix 2\n\nMore of it.\n",
				"ACPs/77-piers/plan of 3.pdf":      "no pdf",
				"ACPs/TEMPLATE.md":                 table("<number>", "<title>", "Proposed"),
				"ACPs/99-dock-master/Readme.md":    table("99", "Dock master", "Proposed, see [PR](https://forge.example/p/9)"),
				"ACPs/drafts/README.md":            "# Drafts",
				".github/ISSUE_TEMPLATE/1-acp.md":  "---\ntitle: An ACP\n---\n",
				"ACPs/99-dock-master/contract.sol": "contract X {}",
			},
			want: []row{
				{"ACP-0013", "Ropes", both, "Withdrawn", "Stale", "", "Standards"},
				{"ACP-0077", "Piers", both, "Final", "Activated", "", "Standards"},
				{"ACP-0099", "Dock master", both, "Review", "Proposed", "", "Standards"},
			},
			others: []string{"attachment ACPs/77-piers/appendix-2.md", "attachment ACPs/77-piers/plan of 3.pdf"},
		},
		"a folder for each, named with the prefix, beside another series": {
			prefix: "CIP",
			files: map[string]string{
				"CIP-0030/README.md":              yamlHeader("CIP: 30", "Bridge of a purse"),
				"CIP-0030/extensions-register.md": "# Register of extensions\n\nA list.\n",
				"CIP-0031/index.md":               yamlHeader("CIP: 31", "References"),
				"CPS-0030/README.md":              yamlHeader("CPS: 30", "A problem"),
				"CPS-0044/README.md":              yamlHeader("CPS: 44", "Another problem"),
				"Meetings/2025-03-04.md":          "# Notes",
			},
			want: []row{
				{"CIP-0030", "Bridge of a purse", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"CIP-0031", "References", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
			},
			others: []string{"attachment CIP-0030/extensions-register.md"},
		},
		"a wiki": {
			prefix: "LIP",
			files: map[string]string{"lip-0012.mediawiki": wikiPage, "README.mediawiki": "== All ==",
				"lip-0012/annex.mediawiki": "==Annex==\nText."},
			want:   []row{{"LIP-0012", "Ropes of hemp", both, "Final", "Deployed", "2025-03-04", ""}},
			others: []string{"attachment lip-0012/annex.mediawiki"},
			texts: map[string][]string{"LIP-0012": {"## Abstract", "of **hemp**, see [LIP 13](lip-0013.mediawiki).",
				"### Knots", "- a bowline"}},
		},
		"reStructuredText with a header of any kind": {
			prefix: "LIP", paths: []any{"lips/*.rst"},
			files: map[string]string{"lips/lip-0032.rst": literalHeader, "lips/lip-0008.RST": mailHeader,
				"lips/nine.rst": fieldHeader},
			want: []row{
				{"LIP-0008", "How ropes are spliced", both, "Final", "Final", "", ""},
				{"LIP-0009", "Lamps on every pier", "Ada Quay", "Review", "Proposed", "2025-03-04", ""},
				{"LIP-0032", "Purses", both, "Final", "Activated", "2025-03-04", "Wallets"},
			},
			texts: map[string][]string{
				"LIP-0008": {"\n## Abstract\n", "**Note:**\nRopes are spliced twice.", "\n### Rules\n"},
				"LIP-0009": {"# Lamps on every pier\n", "\n## Abstract\n"},
				"LIP-0032": {"\n## Terminology\n", "\n## Abstract\n", "A purse holds `tally`."},
			},
		},
		"any name, as the header says": {
			prefix: "TIP",
			files: map[string]string{
				"p/tip-0003-fee-market.MARKDOWN":  yamlHeader("tip: 3", "Fees"),
				"p/5.md":                          yamlHeader("tip: 5", "Five"),
				"p/adr-007-coins.md":              yamlHeader("tip: 70", "Coins"),
				"p/fee-market.md":                 yamlHeader("tip: 8", "Market"),
				"p/draft_tip_0009_lamps.txt":      strings.ReplaceAll(mailHeader, "LIP: 8\n", ""),
				"p/2025-03-04-minutes.md":         "# Minutes",
				"p/2025-03-tip-0010-of-march.md":  yamlHeader("layer: core", "March"),
				"tip-0011/README.md":              yamlHeader("layer: core", "Eleven"),
				"tip-0012-of-twelve/README.rst":   strings.ReplaceAll(literalHeader, "LIP: 32", "Layer: core"),
				"assets/tip-0077/README.md":       "# Assets",
				"assets/tip-0011/v2/tides-2.png":  "png",
				"assets/erc-0011/not-of-this.png": "png",
			},
			want: []row{
				{"TIP-0003", "Fees", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"TIP-0005", "Five", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"TIP-0008", "Market", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"TIP-0009", "How ropes are spliced", both, "Final", "Final", "", ""},
				{"TIP-0010", "March", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"TIP-0011", "Eleven", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"TIP-0012", "Purses", both, "Final", "Activated", "2025-03-04", "Wallets"},
				{"TIP-0070", "Coins", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
			},
			others: []string{"attachment assets/tip-0011/v2/tides-2.png"},
		},
		"parts of a proposal": {
			prefix: "CAP", paths: []any{"core/*.md"},
			files: map[string]string{
				"core/cap-0046.md":    yamlHeader("CAP: 0046", "Contracts"),
				"core/cap-0046-01.md": yamlHeader("CAP: 0046-01", "Runtime"),
				"core/cap-0046-02.md": yamlHeader("layer: core", "Lifecycle"),
			},
			want: []row{
				{"CAP-0046", "Contracts", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"CAP-0046-01", "Runtime", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
				{"CAP-0046-02", "Lifecycle", "Ada Quay (Pier Works), Bo Marlin", "Final", "Activated", "2025-03-04", ""},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			f.commit("one", c.files)
			o := given(f)
			if o["paths"] = c.paths; c.paths == nil {
				delete(o, "paths")
			}
			out, _ := syncOf(t, lagoon(c.prefix), t.TempDir(), "", o)
			var got []row
			var others []string
			for _, key := range out.keys() {
				kind, name, _ := strings.Cut(key, " ")
				if kind != string(catalog.KindCIP) {
					others = append(others, key)
					continue
				}
				e := out.entries[catalog.Ref{Kind: catalog.KindCIP, Key: name}]
				data := decode[catalog.CIP](t, e)
				got = append(got, row{e.Record.Key, e.Record.Title, e.Record.Author, e.Record.State, data.RawStatus,
					data.Created, e.Record.Category})
				for _, want := range c.texts[name] {
					if !strings.Contains(e.Record.Body, want) {
						t.Errorf("%s has no %q:\n%s", name, want, e.Record.Body)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("proposals (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.others, others); diff != "" {
				t.Errorf("others (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatIsNotReadIsSaid holds that each file that the options name is read or
// skipped with a reason, on every run until one is a proposal.
func TestWhatIsNotReadIsSaid(t *testing.T) {
	f := newForge(t)
	files := map[string]string{
		"p/tip-0001.md": yamlHeader("tip: 1", "One"), "p/tip-0001-again.md": yamlHeader("tip: 1", "One again"),
		"p/tip-0002.md": yamlHeader("tip: 1", "Two by its name"), "p/notes.md": "# Notes", "p/README.md": "# All",
		"p/sip-0003.md": yamlHeader("sip: 3", "Three of others"), "p/tip-template.md": yamlHeader("tip: ?", "<title>"),
		"p/tip-0000-template.md": yamlHeader("tip: 0", "A title"),
		"p/chart.png":            "png", "p/tip-0004.adoc": "= Four", "p/hidden.md": "# Hidden",
		"tip-0006.md":  yamlHeader("tip: 6", "Six"),
		"p/1234567.md": yamlHeader("layer: core", "Too long"),
	}
	f.commit("one", files)
	o := given(f)
	o["paths"], o["exclude"] = []any{"p/**"}, []any{"p/hidden.md"}
	noNumber := "it has no number: neither its header nor its name or folder says one"
	noFormat := "its format is not one of those of proposals: .md, .markdown, .mediawiki, .rst, .txt"
	want := []string{
		"p/1234567.md: not read: " + noNumber, "p/README.md: not read: " + noNumber, "p/chart.png: not read: " + noFormat,
		"p/notes.md: not read: " + noNumber, "p/sip-0003.md: not read: it is numbered as one of SIP, not of TIP",
		"p/tip-0000-template.md: not read: it is a template",
		"p/tip-0001-again.md: not read: a second file of TIP-0001 beside p/tip-0001.md",
		"p/tip-0004.adoc: not read: " + noFormat, "p/tip-template.md: not read: it is a template",
	}
	work := t.TempDir()
	out, outcome := syncOf(t, lagoon("TIP"), work, "", o)
	if diff := cmp.Diff(want, out.skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cip TIP-0001", "cip TIP-0002"}, out.keys()); diff != "" || outcome.Cursor == "" {
		t.Errorf("cursor %q, records (-want +got):\n%s", outcome.Cursor, diff)
	}
	if diff := cmp.Diff([]string{"p/tip-0002.md: the header says number 0001"}, out.warned); diff != "" {
		t.Errorf("warned (-want +got):\n%s", diff)
	}
	for name, option := range map[string]any{"p": []any{"p/**"}, "all of it": []any{"tip-*.md"}, "none": []any{"q/**"}} {
		o["paths"] = option
		whole, _ := syncOf(t, lagoon("TIP"), t.TempDir(), "", o)
		seen := survey(t, lagoon("TIP"), o)
		if diff := cmp.Diff([][]string{whole.keys(), whole.skipped}, [][]string{seen.keys(), seen.skipped}); diff != "" {
			t.Errorf("a survey of %s (-want +got):\n%s", name, diff)
		}
	}
	o["paths"] = []any{"q/**"}
	nothing := "no file of the branch is a proposal; are repository, branch and the option paths right?"
	cursor := ""
	for range 2 { // a run that reads nothing says so, however often
		out, outcome := syncOf(t, lagoon("TIP"), work, cursor, o)
		if diff := cmp.Diff([]string{"harbour/cips: not read: " + nothing}, out.skipped); diff != "" || !outcome.Complete {
			t.Errorf("complete %t, skipped (-want +got):\n%s", outcome.Complete, diff)
		}
		cursor = outcome.Cursor
	}

	// Without the option the repository's own files are not spoken of.
	delete(o, "paths")
	delete(o, "exclude")
	out, _ = syncOf(t, lagoon("TIP"), work, "", o)
	want = slices.DeleteFunc(want, func(s string) bool {
		return strings.Contains(s, noFormat) || strings.Contains(s, "README") || strings.Contains(s, "template")
	})
	want = slices.Insert(want, 1, "p/hidden.md: not read: "+noNumber)
	if diff := cmp.Diff(want, out.skipped); diff != "" {
		t.Errorf("skipped without paths (-want +got):\n%s", diff)
	}
}

// TestTheBetterFileOfANumber reads one of several files with a number.
func TestTheBetterFileOfANumber(t *testing.T) {
	r := proposal.Reader{Network: lagoon("TIP")}
	for name, c := range map[string]struct {
		files map[string]string
		want  map[string]string
	}{
		"header and name before the header": {map[string]string{"a.md": yamlHeader("tip: 7", "A"),
			"tip-7.md": yamlHeader("tip: 7", "B")}, map[string]string{"0007": "tip-7.md"}},
		"named after the number before its folder": {map[string]string{"tip-0118/tip-0018.md": "x",
			"tip-0118/tip-0118.md": "x"}, map[string]string{"0118": "tip-0118/tip-0118.md"}},
		"a mistake of the name": {map[string]string{"tip-0118/tip-0018.md": "x"},
			map[string]string{"0118": "tip-0118/tip-0018.md"}},
		"the header before the name": {map[string]string{"tip-0018.md": yamlHeader("tip: 19", "A")},
			map[string]string{"0019": "tip-0018.md"}},
		"a header that was copied": {map[string]string{"tip-0018.md": yamlHeader("tip: 18", "A"),
			"tip-0019.md": yamlHeader("tip: 18", "B")}, map[string]string{"0018": "tip-0018.md", "0019": "tip-0019.md"}},
		"another file in the folder of one": {map[string]string{"tip-0018/README.md": yamlHeader("tip: 18", "A"),
			"tip-0018/annex-2.md": "x"}, map[string]string{"0018": "tip-0018/README.md"}},
		"a folder of many": {map[string]string{"phase-2/tip-0018.md": "x", "phase-2/tip-0019.md": "x"},
			map[string]string{"0018": "phase-2/tip-0018.md", "0019": "phase-2/tip-0019.md"}},
		"not a readme further below": {map[string]string{"tip-0018/tip-0018.md": "x",
			"tip-0019/images/README.md": yamlHeader("layer: core", "Images")},
			map[string]string{"0018": "tip-0018/tip-0018.md"}},
		"one that cannot be read": {map[string]string{"tip-0018.md": "", "other.md": ""},
			map[string]string{"0018": "tip-0018.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			var files []string
			for file := range c.files {
				files = append(files, file)
			}
			n := r.Number(files, false, func(file string) (string, error) {
				if c.files[file] == "" {
					return "", os.ErrPermission
				}
				return c.files[file], nil
			})
			if diff := cmp.Diff(c.want, n.Files); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, u := range n.Unread(false) {
				unread := u.File == "other.md" // its record, if it has one, is kept
				if errors.Is(u.Err(), ingest.ErrNoItem) == unread {
					t.Errorf("%s: %v", u.File, u.Err())
				}
			}
		})
	}
}

// A number that only the header has, and a status behind which a remark stands,
// keep their history when the file gets another name.
func TestHistoryOfANumberInTheHeader(t *testing.T) {
	f := newForge(t)
	text := func(field, status string) string {
		return strings.ReplaceAll(yamlHeader(field, "Market"), "status: Activated", "status: "+status)
	}
	f.commit("Draft", map[string]string{"p/fee-market.md": text("tip: ?", "Draft")})
	f.commit("Number", map[string]string{"p/fee-market.md": text("tip: 8", "Proposed")})
	f.commit("Name", map[string]string{"p/fee-market.md": "", "p/0008-fee-market.md": text("tip: 8", "Proposed")})
	for _, status := range []string{"Activated ([talk](https://f.example/1))", "Activated ([talk](https://f.example/2))",
		"Activated, with remarks"} {
		f.commit("Status", map[string]string{"p/0008-fee-market.md": text("tip: 8", status)})
	}
	out, _ := syncOf(t, lagoon("TIP"), t.TempDir(), "", given(f))
	var events []string
	for _, e := range out.events["TIP-0008"] {
		events = append(events, fmt.Sprintf("%d %s→%s", e.At.Day(), e.RawFrom, e.RawTo))
	}
	if diff := cmp.Diff([]string{"2 →Proposed", "4 Proposed→Activated"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A file or directory whose name has bytes that few expect stops nothing, and of one with a
// control character it is said that it is not read.
func TestNamesOfAnyBytes(t *testing.T) {
	f := newForge(t)
	f.commit("one", map[string]string{
		"p/tip-0001\t.md": yamlHeader("tip: 1", "One"), "p/\xfcber.md": yamlHeader("tip: 2", "Two"),
		"a dir/\"3\".md": yamlHeader("tip: 3", "Three"), "p/a\nb.md": yamlHeader("tip: 5", "Five"),
		"tip-0004/README.md": yamlHeader("tip: 4", "Four"), "tip-0004/a'b.md": "# Beside",
	})
	f.commit("two", map[string]string{"p/tip-0001\t.md": "", "p/tip-0001.md": yamlHeader("tip: 1", "One"),
		"a dir/\"3\".md": yamlHeader("tip: 3", "Three and more")})
	out, _ := syncOf(t, lagoon("TIP"), t.TempDir(), "", given(f))
	want := []string{"attachment tip-0004/a'b.md", "cip TIP-0001", "cip TIP-0002", "cip TIP-0003", "cip TIP-0004"}
	if diff := cmp.Diff(want, out.keys()); diff != "" || len(out.skipped) != 1 ||
		!strings.Contains(out.skipped[0], `"a\nb.md", with a control character`) {
		t.Errorf("skipped %q, records (-want +got):\n%s", out.skipped, diff)
	}
}

// survey reads what is read of a repository, without its history.
func survey(t *testing.T, n network.Network, options map[string]any) *recorder {
	t.Helper()
	c, err := open(options, ingest.Environment{Network: n, WorkDir: t.TempDir(), Survey: true})
	if err != nil {
		t.Fatal(err)
	}
	out := &recorder{entries: map[catalog.Ref]catalog.Entry{}, events: map[string][]catalog.Event{}}
	if _, _, err := c.Sync(t.Context(), nil, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzFiles holds that any file becomes a valid record or none.
func FuzzFiles(f *testing.F) {
	for name, text := range map[string]string{
		"lip-0012.mediawiki": wikiPage, "lip-0032.rst": literalHeader, "8.rst": mailHeader, "nine.rst": fieldHeader,
		"a/13-x/README.md": table("13", "Ropes", "Stale (x)"), "p/cap-0046-01.md": yamlHeader("lip: 0046-01", "x"),
		"2025-03-04-7.txt": "LIP: 7\n Title\nTitle: a\n  b\n\n", "\xff-1/\t.rst": ":LIP: 1\n:Status:\n  x\n```\n",
	} {
		f.Add(name, text)
	}
	n := lagoon("LIP")
	r := proposal.Reader{Network: n}
	f.Fuzz(func(t *testing.T, name, text string) {
		read := func(string) (string, error) { return text, nil }
		numbering := r.Number([]string{name, "lip-1/README.md"}, len(text)%2 == 0, read)
		for number, file := range numbering.Files {
			if proposal.Numeral(number) != number {
				t.Errorf("number %q", number)
			}
			e, err := r.Proposal(proposal.File{Path: file, Text: text, Number: number})
			if err != nil {
				t.Fatal(err)
			}
			if key, ok := n.Proposals.ParseID(e.Record.Key); !ok || key != e.Record.Key {
				t.Errorf("key %q is read as %q", e.Record.Key, key)
			}
			if _, err := e.Normalize(); err != nil {
				t.Fatal(err)
			}
		}
		for _, u := range numbering.Unread(true) {
			if !errors.Is(u.Err(), ingest.ErrNoItem) {
				t.Errorf("%q: %v", u.File, u.Err())
			}
			numbering.Of(u.File)
		}
	})
}
