package proposal_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/proposal"
)

func testNetwork() network.Network {
	return network.Network{
		Name: "harbour", Title: "Harbour Network",
		Proposals: network.Proposals{
			Prefix: "CIP", Default: "Draft",
			Statuses: []string{"Draft", "Review", "Final", "Withdrawn", "Rejected", "Superseded"},
			StatusMap: map[string]string{"Proposed": "Review", "Deferred": "Review", "Approved": "Review",
				"Active": "Final", "Replaced": "Superseded", "Obsolete": "Superseded"},
		},
	}
}

func decode[T any](t *testing.T, e catalog.Entry) (data T) {
	t.Helper()
	if err := json.Unmarshal(e.Record.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestProposal(t *testing.T) {
	var warnings []string
	r := proposal.Reader{Network: testNetwork(), Warn: func(_, m string) { warnings = append(warnings, m) }}
	e, err := r.Proposal(proposal.File{
		Path: "cip-0056/cip-0056.md", URL: "https://forge.example/b/cip-0056.md", Repository: "harbour/cips",
		UpdatedAt: time.Date(2032, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600)),
		Text: "<pre>\nCIP: 0057\nTitle: CIP-0056: Token crates\nAuthor: Ada Quill and Bo Marlin\nStatus: " +
			"active\nType: Standards Track\n" +
			"Created: 2031-06-203\nRequires: CIP-12, EIP-20, 56\nReplaces: CIP 0003\n</pre>\n\n## Abstract\n\nCrates " +
			"are counted by token. They are stacked.",
	})
	if err != nil {
		t.Fatal(err)
	}
	rec := e.Record
	rec.Data, rec.Body = nil, ""
	want := catalog.Record{
		Kind: catalog.KindCIP, Key: "CIP-0057", Title: "Token crates", URL: "https://forge.example/b/cip-0056.md",
		Path: "cip-0056/cip-0056.md", Container: "harbour/cips", State: "Final", Category: "Standards Track",
		Author:    "Ada Quill, Bo Marlin",
		UpdatedAt: time.Date(2032, 1, 2, 2, 4, 5, 0, time.UTC), LastActivityAt: time.Date(2032, 1, 2, 2, 4, 5, 0,
			time.UTC),
		Summary: "Crates are counted by token. They are stacked.",
		Tags:    []string{"status:active", "type:standards track", ""}, // "" is never stored
	}
	if diff := cmp.Diff(want, rec); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	data := decode[catalog.CIP](t, e)
	if data.Number != "0057" || data.RawStatus != "active" || data.Created != "2031-06-203" ||
		data.TLDRAt != "2032-01-02T02:04:05Z" { // when the text that it is made of changed last
		t.Errorf("data %+v", data)
	}
	wantLinks := []catalog.Link{
		{Relation: catalog.Requires, To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0012"},
			Snippet: "CIP-12, EIP-20, 56"},
		{Relation: catalog.Supersedes, To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0003"}, Snippet: "CIP 0003"},
	}
	if diff := cmp.Diff(wantLinks, e.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"the header says number 0057, the path 0056; the header counts",
		`created "2031-06-203" is not a date`}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestProposalStatus(t *testing.T) {
	pull := func(state string) *catalog.PullRequest { return &catalog.PullRequest{Number: 203, State: state} }
	for name, c := range map[string]struct {
		file             proposal.File
		key, state, raw  string
		warned, noRecord bool
	}{
		"an allowed status is itself": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: Rejected\n</pre>"}, "CIP-0001", "Rejected", "Rejected", false, false},
		"a mapped status keeps its word": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: Replaced\n</pre>"}, "CIP-0001", "Superseded", "Replaced", false, false},
		"an unknown word is the default": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: Afloat\n</pre>"}, "CIP-0001", "Draft", "Afloat", true, false},
		"a blank is the default": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: \n</pre>"}, "CIP-0001", "Draft", "", true, false},
		"the index fills a blank": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: \n</pre>", Index: proposal.IndexRow{Status: "Active"}}, "CIP-0001",
			"Final", "Active", false, false},
		"the header wins over the index": {proposal.File{Path: "cip-1/cip-1.md",
			Text: "<pre>\nTitle: a\nStatus: Draft\n</pre>", Index: proposal.IndexRow{Status: "Active"}}, "CIP-0001",
			"Draft", "Draft", false, false},
		"an open pull request is a draft": {proposal.File{Path: "cip-1/cip-1.md", Pull: pull("open"),
			Text: "<pre>\nTitle: a\nStatus: Final\n</pre>"}, "PR-203", "Draft", "open", false, false},
		"a closed pull request is withdrawn": {proposal.File{Path: "cip-x.md", Pull: pull("closed")}, "PR-203",
			"Withdrawn", "closed", false, false},
		"a merged one is what it became": {proposal.File{Path: "cip-1/cip-1.md", Pull: pull("merged"),
			Text: "<pre>\nTitle: a\nStatus: Final\n</pre>"}, "CIP-0001", "Final", "Final", false, false},
		"the header's number serves if need be": {proposal.File{Path: "lamps.md",
			Text: "<pre>\nCIP: 9\nStatus: Final\n</pre>"}, "CIP-0009", "Final", "Final", false, false},
		"a file without a number is not a proposal": {proposal.File{Path: "cip-XXXX/cip-XXXX.md",
			Text: "<pre>\nCIP: XXXX\nTitle: a\n</pre>"}, "", "", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			warned := false
			r := proposal.Reader{Network: testNetwork(), Warn: func(string, string) { warned = true }}
			e, err := r.Proposal(c.file)
			if c.noRecord {
				if !errors.Is(err, proposal.ErrNotProposal) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			data := decode[catalog.CIP](t, e)
			if e.Record.Key != c.key || e.Record.State != c.state || data.RawStatus != c.raw || warned != c.warned {
				t.Errorf("%s is %s (%q), warned %v", e.Record.Key, e.Record.State, data.RawStatus, warned)
			}
		})
	}
}

// form is what the texts of a form begin with.
const form = "# Development Fund Proposal\n\n**Author:** Ada\n**Status:** Draft\n\n## Abstract\n\n"

func TestTitles(t *testing.T) {
	r := proposal.Reader{Network: testNetwork()}
	for name, c := range map[string]struct{ path, text, want string }{
		"the header's": {"a.md", "**Title:** Ropes for boats\n**Status:** Draft",
			"Ropes for boats"},
		"a form's name is cut": {"a.md", "# Development Fund Proposal: Ropes for boats",
			"Ropes for boats"},
		"a form's name before a dash": {"a.md", "# **Harbour Grant Proposal — Ropes**", "Ropes"},
		"a form's name before for": {"a.md", "# Fund Proposal for maintenance of ropes",
			"Maintenance of ropes"},
		"a process for something keeps its": {"a.md", "# Improvement Process for the Harbour",
			"Improvement Process for the Harbour"},
		"a number is cut": {"a.md", "# CIP-0090: Ropes - a study", "Ropes - a study"},
		"the next heading when generic": {"a.md",
			"# Development Fund Proposal\n\n## Ropes and knots\n\n| Author | Ada |\n\n# Abstract\n\n## Milestone",
			"Ropes and knots"},
		"never a section's": {"proposals/2031-03-acme-rope_store.md",
			"## Abstract\n\nText.\n\n## What we do", "Acme rope store"},
		"the file's when all is generic": {"proposals/rope-api.md",
			"# Development Fund Proposal\n\n**Author:** Ada\n\n## Abstract", "Rope api"},
		"a paragraph is not a title":           {"rope.md", "# " + string(make([]byte, 0)) + longTitle, "Rope"},
		"a generic heading at last":            {"cip-0022/cip-0022.md", "## CIP 0022\n", "CIP 0022"},
		"an identifier keeps its case":         {"a.md", "# Proposal: dApp ropes", "dApp ropes"},
		"emphasis and links go":                {"a.md", "# **[Ropes](x) `and` knots**", "Ropes and knots"},
		"bold first lines are headings enough": {"a.md", "**Ropes of hemp**\n\nText.", "Ropes of hemp"},
		"a bold section is not a heading": {"proposals/rope-api.md",
			"**Objective and scope**\n\nText of it.\n\n**Ropes**", "Rope api"},
		"a form's name at the end is cut":    {"a.md", "# Tug LSP Development Fund Proposal", "Tug LSP"},
		"a form's name behind a dash is cut": {"a.md", "# Zonal - Harbour Network Fund Proposal", "Zonal"},
		"a form in brackets is cut":          {"a.md", "# [PROPOSAL] Ropes", "Ropes"},
		"a long dash divides, too":           {"a.md", "# CIP 00XX – Add ropes to piers", "Add ropes to piers"},
		"a phase is kept": {"a.md", "# Ropes Fund Proposal - Phase 2",
			"Ropes Fund Proposal - Phase 2"},
		"the file's as the text spells it": {"proposals/rope_kit-api.md", form +
			"We build the Rope Kit API for piers.", "Rope Kit API"},
		"what a file says of being a form": {"proposals/2031-02-proposal-for-rope-kit (1).md", form + "Text.",
			"Rope kit"},
		"a version stays": {"proposals/rope-kit-v2.md", form + "Text.", "Rope kit v2"},
		"what the text defines": {"proposals/acme-thing.md", form + "PilotChart is a tool that draws.",
			"PilotChart"},
		"what the text names in bold": {"proposals/acme-chart.md", form +
			"We propose the **Acme Pilot Chart**, a tool.", "Acme Pilot Chart"},
		"not what exists already": {"proposals/acme-chart.md", form +
			"Harbour is a port. **Tide Table** is a list. **Note:** see **1,000 CC**.", "Acme chart"},
		"not what code shows": {"a.md",
			"# Proposal\n\n````md\n```\n# Title inside code\n```\n````\n\n## Ropes for boats", "Ropes for boats"},
		"not what code between tildes shows": {"a.md", "~~~\n```\n~~~\n\n# Ropes for boats", "Ropes for boats"},
		"what stands below a span of code":   {"a.md", "```make rope```\n\n# Ropes for boats", "Ropes for boats"},
		"not less than the file's": {"proposals/pilot-chart-for-tugs.md", form + "**Pilot Chart** is a tool.",
			"Pilot Chart for tugs"},
		"a short first sentence for no name": {"cip-0022/cip-0022.md",
			"# CIP 0022\n\n## Summary\n\n- **Add Acme as a pilot (weight 1)**\n", "Add Acme as a pilot (weight 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := r.Grant(proposal.File{Path: c.path, Text: c.text,
				Pull: &catalog.PullRequest{Number: 7, State: "open"}})
			if err != nil || e.Record.Title != c.want {
				t.Errorf("title %q, %v; want %q", e.Record.Title, err, c.want)
			}
		})
	}
}

const longTitle = "A paragraph that somebody set as a heading and that goes on and on about ropes and boats and " +
	"knots and piers and lamps and nets and " +
	"buoys and masts and sails and oars and tides and crates and fenders and docks and everything else that a " +
	"harbour may have in it"

func TestGrant(t *testing.T) {
	r := proposal.Reader{Network: testNetwork()}
	text := "## Development Fund Proposal: Rope store\n\n**Author:** Ada Quill\n**Status:** " +
		"Submitted<br/>\n**Created:** 2031-03-04\n" +
		"**Label:** `tooling`, Ropes\n**Champion:** Need Champion\n\n## Abstract\n\nThe store keeps ropes, see " +
		"CIP-56 and cip 0012 and CIP-0056.\n\n" +
		"### Milestone 1: Shelves\nText\n### Milestone 2 — Hooks\n## Milestone 1: again\n\n```\n# Milestone 9: " +
		"code\n```\n\n" +
		"- **Funding:** 1,000 HBC\n\n**Total Funding Request: 9,000.50 HBC** at 0.15 USD/HBC. Then more.\n"
	pull := &catalog.PullRequest{Number: 123, State: "merged", Author: "bo", MergedAt: "2031-04-05T06:07:08Z"}
	e, err := r.Grant(proposal.File{Path: "proposals/rope.md", Text: text, URL: "https://forge.example/pull/123",
		Repository: "harbour/fund", Pull: pull})
	if err != nil {
		t.Fatal(err)
	}
	rec := e.Record
	if rec.Key != "123" || rec.Kind != catalog.KindGrant || rec.State != "closed" || rec.Title != "Rope store" ||
		rec.Author != "Ada Quill" ||
		rec.Category != "tooling" || !rec.CreatedAt.Equal(time.Date(2031, 3, 4, 0, 0, 0, 0, time.UTC)) ||
		!rec.UpdatedAt.Equal(time.Date(2031, 4, 5, 6, 7, 8, 0, time.UTC)) {
		t.Errorf("record %+v", rec)
	}
	want := catalog.Grant{
		Number: 123, RawStatus: "Submitted", Labels: []string{"tooling", "ropes"},
		Funding:    "9,000.50 HBC at 0.15 USD/HBC",
		Milestones: []catalog.Milestone{{Number: "1", Title: "Shelves"}, {Number: "2", Title: "Hooks"}},
		Cites:      []string{"CIP-0012", "CIP-0056"}, Files: []string{"proposals/rope.md"}, Merged: true, Pull: pull,
	}
	if diff := cmp.Diff(want, decode[catalog.Grant](t, e)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	child, err := r.GrantFile(proposal.File{Path: "proposals/annex.md", Text: "# Annex of ropes", Pull: pull})
	if err != nil || child.Record.Key != "123/proposals/annex.md" ||
		child.Parent != (catalog.Ref{Kind: catalog.KindGrant, Key: "123"}) {
		t.Errorf("child %+v, %v", child, err)
	}
}

func FuzzGrant(f *testing.F) {
	f.Add("# Proposal: x\n**Author:** a\n### Milestone 1: y\nTotal: $5k", "proposals/2031-01-x.md")
	f.Add("\xff# \x00", "")
	r := proposal.Reader{Network: testNetwork()}
	f.Fuzz(func(t *testing.T, text, path string) {
		e, err := r.Grant(proposal.File{Path: path, Text: text, Pull: &catalog.PullRequest{Number: 1, State: "open"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Normalize(); err != nil {
			t.Fatal(err)
		}
	})
}

// A draft may be a text of a proposal that has been numbered since, or may
// only have taken a number that another got.
func TestDraftsOfNumberedProposals(t *testing.T) {
	r := proposal.Reader{Network: testNetwork(), Register: &proposal.Register{}}
	words := "\n\n## Abstract\n\n" + strings.Repeat("Ropes are kept dry by the keeper. ", 6)
	read := func(f proposal.File) catalog.Entry {
		t.Helper()
		e, err := r.Proposal(f)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for number, title := range map[string]string{
		"0001": "Add Acme as a pilot of weight 5", "0002": "Add Bora as a pilot of weight 3",
		"0003": "Add Caspar as a pilot", "0004": "Free tide tables for tugs",
		"0005": "Refinement", "0006": "Refinement",
	} {
		read(proposal.File{Path: "cip-" + number + "/cip.md", Text: "<pre>\nTitle: " + title +
			"\nStatus: Final\n</pre>" + words})
	}
	for name, c := range map[string]struct {
		path, title, state string
		amends             bool
		of, supersededBy   string
	}{
		"an older text of the same number": {"cip-0001/cip.md", "Add Acme as pilot of weight 4", "closed", false,
			"CIP-0001", "CIP-0001"},
		"a number that another got": {"cip-0002/cip.md", "Add Dorn as a pilot of weight 3", "closed",
			false, "", ""},
		"the title of another number": {"cip-0002/cip.md", "Free tide-tables for tugs", "closed", false,
			"CIP-0004", "CIP-0004"},
		"an open one that was numbered elsewhere": {"cip-tides/cip.md", "Free Tide Tables for Tugs", "open", false,
			"CIP-0004", "CIP-0004"},
		"an open change of a numbered one": {"cip-0001/cip.md", "Add Acme as a pilot of weight 5", "open", true,
			"CIP-0001", ""},
		"a closed change of a numbered one": {"cip-0001/cip.md", "Add Acme as a pilot of weight 5", "closed", true,
			"CIP-0001", "CIP-0001"},
		"a title that two have": {"cip-x/cip.md", "Refinement", "closed", false, "", ""},
		"a free number":         {"cip-0088/cip.md", "Add Eos as a pilot", "open", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := read(proposal.File{Path: c.path, Amends: c.amends, Text: "<pre>\nTitle: " + c.title +
				"\nStatus: Draft\n</pre>" + words,
				Pull: &catalog.PullRequest{Number: 7, State: c.state}})
			data := decode[catalog.CIP](t, e)
			if got := strings.Join(data.SupersededBy, " "); got != c.supersededBy || e.Record.Key != "PR-7" {
				t.Errorf("%s superseded by %q, want %q", e.Record.Key, got, c.supersededBy)
			}
			of := ""
			for _, l := range e.Links {
				if l.Relation == catalog.References {
					of = l.To.Key
				}
			}
			if of != c.of {
				t.Errorf("a text of %q, want %q", of, c.of)
			}
		})
	}
}

func TestStubs(t *testing.T) {
	r := proposal.Reader{Network: testNetwork()}
	words := "\n\n## Abstract\n\n" + strings.Repeat("Ropes are kept dry by the keeper. ", 6)
	for name, c := range map[string]struct {
		path, text string
		stub       bool
	}{
		"a proposal": {"cip-ropes/cip-ropes.md", "<pre>\nTitle: Ropes\nStatus: Draft\n</pre>" +
			words, false},
		"no text": {"proposals/ropes.md", "", true},
		"a header alone": {"proposals/ropes.md",
			"<pre>\nTitle: Ropes\nAuthor: Ada Quill\nStatus: Draft\n</pre>", true},
		"a test that calls itself one": {"cip-test/cip-test.md",
			"<pre>\nTitle: test for ropes\nStatus: Draft\n</pre>" + words, true},
		"a proposal about tests": {"cip-ropes/cip-ropes.md",
			"<pre>\nTitle: Testing of ropes\nStatus: Draft\n</pre>" + words, false},
		"a proposal in a tests' folder": {"cip-test/cip-test.md", "<pre>\nTitle: Ropes\nStatus: Draft\n</pre>" + words,
			false},
		"a form that was not filled in": {"cip-XXXX/cip-XXXX.md",
			"<pre>\nTitle: <title of the proposal>\nStatus: Draft\n</pre>" + words, true},
		"a number still to come": {"cip-XXXX-ropes/cip-XXXX-ropes.md", "<pre>\nTitle: Ropes\nStatus: Draft\n</pre>" +
			words, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := proposal.File{Path: c.path, Text: c.text, Pull: &catalog.PullRequest{Number: 7, State: "open"}}
			for kind, read := range map[string]func(proposal.File) (catalog.Entry, error){"proposal": r.Proposal,
				"grant": r.Grant} {
				e, err := read(f)
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Contains(e.Record.Tags, catalog.TagStub); got != c.stub {
					t.Errorf("%s: tags %q, want a stub: %v", kind, e.Record.Tags, c.stub)
				}
			}
		})
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("proposals/rope_kit (1).md", form+"**Pilot Chart** is a tool. cip 12, CIP-0003.\n\n| Total: | $3 |")
	f.Add("x", "**Bold line of it**\n\n# [Draft] — Proposal")
	f.Add("\u212a_kelvin.md", "K is a unit")
	r := proposal.Reader{Network: testNetwork(), Register: &proposal.Register{}}
	f.Fuzz(func(t *testing.T, path, text string) {
		pull := &catalog.PullRequest{Number: 7, State: "closed"}
		e, err := r.Grant(proposal.File{Path: path, Text: text, Pull: pull})
		if err != nil || strings.ContainsAny(e.Record.Title, "\n\r") {
			t.Errorf("title %q, %v", e.Record.Title, err)
		}
		if _, err := r.Proposal(proposal.File{Path: path, Text: text, Pull: pull}); err != nil {
			t.Error(err)
		}
	})
}
