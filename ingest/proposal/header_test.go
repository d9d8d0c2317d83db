package proposal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/ingest/proposal"
)

func TestParseHeader(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want proposal.Header // Fields, Order, Duplicates only where given
	}{
		"a block after a heading": {
			"## CIP 0007\n\n<pre>\n  CIP: CIP 0007\n  Title:  Lamps on every pier\n  Author: Ada Quill\n  Status: " +
				"Final \n  Type: Process \n  Created: 2031-02-03\n  Approved: 2031-2-9\n  License: " +
				"CC0-1.0\n</pre>\n\n## Abstract\nText.",
			proposal.Header{Number: "0007", Title: "Lamps on every pier", Authors: []string{"Ada Quill"},
				Status: "Final", Type: "Process",
				Created: "2031-02-03", Approved: "2031-2-9", License: "CC0-1.0", Body: "## Abstract\nText."},
		},
		"a block first, authors on their own lines": {
			"<pre>\n  CIP:  CIP-0112\n  Layer: Core\n  Title: Ropes\n  Author:\n    Ada Quill\n    Bo Marlin \n  " +
				"Status: Draft\n  Post-History: https://lists.example/1\n</pre>\n# 1. Abstract",
			proposal.Header{Number: "0112", Title: "Ropes", Layer: "Core", Authors: []string{"Ada Quill", "Bo Marlin"},
				Status:      "Draft",
				Discussions: "https://lists.example/1", Body: "# 1. Abstract"},
		},
		"a closing tag that should be an opening one": {
			"# CIP-0099: Nets\n\n</pre>\nNumber: CIP-0099\nTitle: Nets  \nAuthor(s): Ada Quill  \nStatus: " +
				"Approved\nRequires: CIP 0060-Mend the nets of weight 7.5\n</pre>  \n\nBody here.",
			proposal.Header{Number: "0099", Title: "Nets", Authors: []string{"Ada Quill"}, Status: "Approved",
				Body: "Body here."},
		},
		"bold lines": {
			"# CIP-0090: Buoys\n\n**CIP:** 0090  \n**Author(s):** Ada Quill, Bo Marlin & Cy Dory  \n**Status:** " +
				"Approved  \n**License:** CC0-1.0\n\n## Abstract\nText.",
			proposal.Header{Number: "0090", Authors: []string{"Ada Quill", "Bo Marlin", "Cy Dory"}, Status: "Approved",
				License: "CC0-1.0", Body: "## Abstract\nText."},
		},
		"authors who are not named": {
			"<pre>\n  CIP: 90\n  Title: Nets\n  Author: Ada Quill et al., Bo Marlin and others, et al\n" +
				"  Status: Draft\n</pre>\nText.",
			proposal.Header{Number: "0090", Title: "Nets", Authors: []string{"Ada Quill", "Bo Marlin"}, Status: "Draft",
				Body: "Text."},
		},
		"bold keys on one line": {
			"# Stewardship\n\n**Author:** Ada Quill  **Status:** Submitted  **Date:** 2031-06-12\n\n## Abstract\nText.",
			proposal.Header{Authors: []string{"Ada Quill"}, Status: "Submitted", Created: "2031-06-12",
				Body: "## Abstract\nText."},
		},
		"front matter in TOML": {
			"+++\ntitle = \"Buoys\"\nauthors = [\"Ada Quill\", \"Bo Marlin\"]\nstatus = \"Draft\"\ncreated = 2031-06-12\n[x]\ntitle = " +
				"\"y\"\n+++\n\n## Abstract\nText.",
			proposal.Header{Title: "Buoys", Authors: []string{"Ada Quill", "Bo Marlin"}, Status: "Draft", Created: "2031-06-12",
				Body: "## Abstract\nText."},
		},
		"front matter with remarks": {
			"---\n# of the form\ntitle: Buoys\n\n# who writes\nauthor: Ada Quill\nstatus: Draft\n...\nText.",
			proposal.Header{Title: "Buoys", Authors: []string{"Ada Quill"}, Status: "Draft", Body: "Text."},
		},
		"front matter alone": {"---\ntitle: Buoys\nstatus: Draft\n---", proposal.Header{Title: "Buoys", Status: "Draft"}},
		"keys in italics, linked keys, unknown keys between": {
			"# T\n\n*Author:* Ada Quill\n**Existing Prototype:** " +
				"<https://x.example>\n**[Champion](https://x.example/a.md):** Bo\n*Status:* Draft<br/>\n\n---\n\nText.",
			proposal.Header{Authors: []string{"Ada Quill"}, Status: "Draft", Body: "Text."},
		},
		"a list": {
			"# T\n\n- **Author:** Ada Quill\n- **Status:** Draft\n\nText.",
			proposal.Header{Authors: []string{"Ada Quill"}, Status: "Draft", Body: "Text."},
		},
		"a table": {
			"# Form\n\n| Field | Value |\n| :---- | :---- |\n|Author|Ada Quill|\n| Org|Acme|\n| Status|Approved|  " +
				"\n|Created|2031-02-15|\n\n---\n\n# Abstract\nText.",
			proposal.Header{Authors: []string{"Ada Quill"}, Status: "Approved", Created: "2031-02-15",
				Body: "# Abstract\nText."},
		},
		"front matter": {
			"---\nnumber: 12\ntitle: \"Tides: a table\"\nauthor:\n  - Ada Quill\n  - Bo Marlin\nstatus: " +
				"Draft\ncreated: 2031-01-02\nrequires: 3, 0044\n---\nText.",
			proposal.Header{Number: "0012", Title: "Tides: a table", Authors: []string{"Ada Quill", "Bo Marlin"},
				Status: "Draft", Created: "2031-01-02", Body: "Text."},
		},
		"a fenced block": {
			"## CIP XXXX\n\n```\n  CIP: XXXX\n  Title: Oars  \n  Status: Draft  \n```\nText.",
			proposal.Header{Title: "Oars", Status: "Draft", Body: "Text."},
		},
		"placeholders are not numbers": {
			"<pre>\nCIP: <to be assigned by editors>\nTitle: Sails\nAuthor: Ada Quill <ada@mail.example> " +
				"(@adaq)\nStatus: Draft\n</pre>",
			proposal.Header{Title: "Sails", Authors: []string{"Ada Quill"}, Status: "Draft"},
		},
		"marked template lines and semicolons": {
			"<pre>\n  CIP: 00XX;\n* Layer: Core\n  Title: Masts\n* Discussions-To: https://lists.example/g/x\n* " +
				"Requires: \n  Status: Draft\n</pre>",
			proposal.Header{Title: "Masts", Layer: "Core", Status: "Draft", Discussions: "https://lists.example/g/x"},
		},
		"placeholders are not values": {
			"<pre>\n  CIP: ?\n  Title: <CIP title>\n  Author: <list of authors>\n  Status: <Draft | Active |\n       " +
				"    Final>\n</pre>",
			proposal.Header{},
		},
		"the first value that is not blank counts": {
			"<pre>\nNumber: 4\nApproved:\nStatus: \nApproved: 2031-05-05\nStatus: Final\nStatus: Draft\n</pre>",
			proposal.Header{Number: "0004", Approved: "2031-05-05", Status: "Final",
				Duplicates: []string{"Approved", "Status"}},
		},
		"a key without a blank after its colon": {
			"<pre>\nNumber: CIP-105\nTitle:Knots\nStatus: Odd words here\n</pre>",
			proposal.Header{Number: "0105", Title: "Knots", Status: "Odd words here"},
		},
		"authors keep what belongs together": {
			"<pre>\nTitle: T\nAuthor: Acme (Ada Quill), Bolt (Bo Marlin, Cy Dory), Dock, Inc. and Eve Fender / " +
				"Finn\n</pre>",
			proposal.Header{Title: "T", Authors: []string{"Acme (Ada Quill)", "Bolt (Bo Marlin, Cy Dory)",
				"Dock, Inc.", "Eve Fender", "Finn"}},
		},
		"lines as of a mail": {
			"CIP: 12\nTitle: Lamps\n  on every pier\nAuthor: Ada Quill <ada@mail.example>,\n        Bo Marlin " +
				"<bo@mail.example>\nStatus: Final\nType: Process\nDate:\n\t2031-02-03\n\nText.\n\nStatus: prose",
			proposal.Header{Number: "0012", Title: "Lamps on every pier", Authors: []string{"Ada Quill", "Bo Marlin"},
				Status: "Final", Type: "Process", Created: "2031-02-03", Body: "Text.\n\nStatus: prose"},
		},
		"lines as of a mail, one author a line, up to a heading": {
			"Title: Lamps\nAuthors: Ada Quill\n  Bo Marlin\nColour: red\nStatus: Draft\n# Lamps\nText.",
			proposal.Header{Title: "Lamps", Authors: []string{"Ada Quill", "Bo Marlin"}, Status: "Draft",
				Body: "# Lamps\nText."},
		},
		"lines that no mail begins with": {
			"Title: Lamps\nAuthor: Ada Quill\nand much prose without a colon\nStatus: Draft\n",
			proposal.Header{Title: "Lamps", Authors: []string{"Ada Quill"}, Status: "Draft"},
		},
		"owners, a track, the start and handles in brackets": {
			"<pre>\nTitle: T\nOwners: Ada Quill <@adaq>\n        Bo Marlin\nTrack: Standards\nStart Date: 2031-02-03\n</pre>",
			proposal.Header{Title: "T", Authors: []string{"Ada Quill", "Bo Marlin"}, Type: "Standards",
				Created: "2031-02-03"},
		},
		"authors who give nothing but a handle or an address": {
			"---\ntitle: T\nstatus: Draft\nauthor: Ada Quill (@adaq), @bo.marlin, <cy@mail.example>, @dory @eve-f, " +
				"[@fay](https://x.example/fay) & Gil Hart - gil@mail.example\n---\nText.",
			proposal.Header{Title: "T", Status: "Draft",
				Authors: []string{"Ada Quill", "bo.marlin", "cy", "dory", "eve-f", "fay", "Gil Hart"}, Body: "Text."},
		},
		"handles in brackets with more": {
			"---\ntitle: T\nstatus: Draft\nauthor: Ada Quill (of the pier, @adaq), Bo (@bo, @bo2)\n---\nText.",
			proposal.Header{Title: "T", Status: "Draft", Authors: []string{"Ada Quill (of the pier)", "Bo"}, Body: "Text."},
		},
		"authors who give addresses, one a line": {
			"<pre>\nTitle: T\nStatus: Draft\nAuthor: ada@mail.example <ada@mail.example>\n        bo@mail.example\n</pre>",
			proposal.Header{Title: "T", Status: "Draft", Authors: []string{"ada", "bo"}},
		},
		"what a template says of fields": {
			"---\ntitle: T\nauthor: Ada Quill\ndiscussions-to (*optional): https://talk.example/1\nstatus: Draft\n" +
				"last-call-end-date (*optional): <mm/dd/yyyy: the last date>\ntype: Core\n---\nText.",
			proposal.Header{Title: "T", Authors: []string{"Ada Quill"}, Status: "Draft", Type: "Core",
				Discussions: "https://talk.example/1", Body: "Text."},
		},
		"names of programs are not strong": {
			"---\ntitle: Back to the __pier__ with __Lamps__\nstatus: __draft__\n---\nText.",
			proposal.Header{Title: "Back to the __pier__ with Lamps", Status: "draft", Body: "Text."},
		},
		"the authors of a working group, and a part's number": {
			"```\nCIP: 0046-1\nTitle: T\nWorking Group:\n    Owner: Ada Quill <@adaq>\n    Authors: Ada Quill, Bo Marlin\n" +
				"Assigned: 2031-02-03\n```",
			proposal.Header{Number: "0046-01", Title: "T", Authors: []string{"Ada Quill", "Bo Marlin"},
				Created: "2031-02-03"},
		},
		"no header at all": {
			"# Just a text\n\n## Summary\n\nStatus: this line is prose of a section.",
			proposal.Header{Body: "# Just a text\n\n## Summary\n\nStatus: this line is prose of a section."},
		},
		"a code block is not a header": {
			"# T\n\n```\nlet x: Int = 1\n```\n**Author:** Ada Quill\n**Status:** Draft\n",
			proposal.Header{Authors: []string{"Ada Quill"}, Status: "Draft"},
		},
		"a block that is never closed ends at a heading": {
			"<pre>\nTitle: T\nStatus: Draft\n## Abstract\nText: here.",
			proposal.Header{Title: "T", Status: "Draft", Body: "## Abstract\nText: here."},
		},
		"a fence within the fence of a block": {
			"````\nTitle: Lamps\nStatus: Draft\nExample: of a lamp\n```\nlamp --on\n```\n````\n\nText.",
			proposal.Header{Title: "Lamps", Status: "Draft", Body: "Text."},
		},
		"windows line ends and a byte order mark": {
			"\ufeff<pre>\r\nTitle: T\r\nStatus: Draft\r\n</pre>\r\nText.\r\n",
			proposal.Header{Title: "T", Status: "Draft", Body: "Text."},
		},
		"nothing": {"", proposal.Header{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := proposal.ParseHeader(c.text)
			got.Fields, got.Order = nil, nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFieldsKeepTheirOrderAndNames(t *testing.T) {
	h, _ := proposal.ParseHeader("<pre>\nCIP: 1\nAuthor(s): Ada\nSuperseded by: CIP 2\nColour: red\n</pre>")
	if diff := cmp.Diff([]string{"Number", "Author", "Superseded-By", "Colour"}, h.Order); diff != "" {
		t.Error(diff)
	}
	if h.Fields["Colour"] != "red" || h.Fields["Superseded-By"] != "CIP 2" {
		t.Errorf("fields %v", h.Fields)
	}
}

func TestDate(t *testing.T) {
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]time.Time{
		"2031-05-09":                    day(2031, 5, 9),
		"2031-5-9":                      day(2031, 5, 9),
		"2031/05/09":                    day(2031, 5, 9),
		"2031-05-09 (reset 2031-08-13)": day(2031, 5, 9),
		"March 17, 2031":                day(2031, 3, 17),
		"17 March 2031":                 day(2031, 3, 17),
		"March 2031":                    day(2031, 3, 1),
		"19.03.2031":                    day(2031, 3, 19),
		"Wed, 19th of March 2031":       day(2031, 3, 19),
		"03/04/2031":                    {},
		"2031-06-203":                   {},
		"2031-02-30":                    {},
		"TBD":                           {},
		"":                              {},
	} {
		if got := proposal.Date(text); !got.Equal(want) {
			t.Errorf("Date(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestNumberFromPath(t *testing.T) {
	for path, want := range map[string]string{
		"cip-0056/cip-0056.md":        "0056",
		"cip-0056/images/a-1.png":     "0056",
		"cip-106/cip-106.md":          "0106",
		"cip-0118/cip-0018.md":        "0118",
		"CIP-7.md":                    "0007",
		"proposals/cip 12.md":         "0012",
		"cip-0095/cip-0095":           "0095",
		"cip-XXXX/cip-XXXX.md":        "",
		"cip-00XX/cip-00XX.md":        "",
		"cip-name-topic/CIP-TBD-x.md": "",
		"README.md":                   "",
		"":                            "",
	} {
		if got := proposal.NumberFromPath(path); got != want {
			t.Errorf("NumberFromPath(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestIndexTable(t *testing.T) {
	text := `# proposals

| Number | Layer | Title | Author | Type | Status |
|--------|-------|-------|--------|------|--------|
| [cip-0001](cip-0001/cip-0001.md) | | Lamps \| lights | Ada | Process | Active |
| cip-0002 | | Nets | Bo | Process |  |
| [CIP 3](/x) | | Ropes | Cy | Process | **Final** 
a stray line
| 0004 | | Oars | Cy | Process | Draft |
| 0004 | | Again | Cy | Process | Final |
| none | | Oars | Cy | Process | Draft |
`
	want := []proposal.IndexRow{
		{Number: "0001", Title: `Lamps | lights`, Author: "Ada", Type: "Process", Status: "Active"},
		{Number: "0003", Title: "Ropes", Author: "Cy", Type: "Process", Status: "Final"},
		{Number: "0004", Title: "Oars", Author: "Cy", Type: "Process", Status: "Draft"},
	}
	if diff := cmp.Diff(want, proposal.IndexTable(text)); diff != "" {
		t.Error(diff)
	}
	if rows := proposal.IndexTable("| a | b |\n|--|--|\n| cip-0001 | Final |"); rows != nil {
		t.Errorf("a table without a Status column has rows: %v", rows)
	}
}

func FuzzParseHeader(f *testing.F) {
	for _, seed := range []string{
		"", "<pre>\nCIP: 1\nTitle: x\n</pre>", "---\na: [b\n---", "---\ntitle: &a *a\n---", "| Author | x |",
		"**Author:** **Status:**",
		"```\nStatus: a\nTitle:b\n", "Status:\xff\nTitle: \x00", "# a\n</pre>\nNumber: 99999999\nStatus: x",
		"<pre>\nAuthor: ((,&/ and \n\n", "Title: a\n b\nStatus: x\n\tFinal\n\nCIP: 1-2", "CIP: 0-0\n Title:\nTitle:b\n#",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, _ := proposal.ParseHeader(text)
		number, _, _ := strings.Cut(h.Number, "-")
		if n := len(number); n != 0 && (n < 4 || n > 6) || proposal.Numeral(h.Number) != h.Number {
			t.Errorf("number %q", h.Number)
		}
		if len(h.Order) != len(h.Fields) {
			t.Errorf("%d names of %d fields", len(h.Order), len(h.Fields))
		}
		for _, a := range h.Authors {
			if strings.TrimSpace(a) != a || a == "" || strings.Contains(a, "\n") {
				t.Errorf("author %q", a)
			}
		}
		if h.Body != strings.TrimSpace(h.Body) {
			t.Errorf("body %q", h.Body)
		}
		proposal.Date(h.Created)
		proposal.IndexTable(text)
	})
}
