package proposal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/proposal"
)

// lantern is a network whose proposals have front matter, a category within
// the type, numbers without padding, and status words of its own.
func lantern() network.Network {
	return network.Network{Name: "lantern", Title: "Lantern", Proposals: network.Proposals{
		Prefix: "EIP", Digits: 1, Default: "Draft",
		Statuses:  []string{"Draft", "Review", "Last Call", "Final", "Living", "Stagnant", "Withdrawn"},
		StatusMap: map[string]string{"Last Call": "Review", "Living": "Final", "Stagnant": "Withdrawn"},
	}}
}

func TestFrontMatterIsReadWithoutWarnings(t *testing.T) {
	type row struct {
		Key, State, Raw, Type, Category, Title, Author string
		Requires                                       string
		Tags                                           []string
	}
	for name, c := range map[string]struct {
		file, text string
		want       row
	}{
		"a core change of the standards track": {
			"EIPS/eip-1559.md", "---\neip: 1559\ntitle: Wicks are metered by flow\n" +
				"description: A lamp burns what its basin can spare.\nauthor: Ada Quill (@adaq), Bo Marlin " +
				"<bo@mail.example>\n" +
				"discussions-to: https://talk.example/t/wicks/12\nstatus: Last Call\nlast-call-deadline: 2031-05-01\n" +
				"type: Standards Track\ncategory: Core\ncreated: 2031-04-13\nrequires: 1, 20, 1559, 12345\n---\n\n## " +
				"Abstract\n\nFlow is metered.",
			row{"EIP-1559", "Review", "Last Call", "Standards Track", "Core", "Wicks are metered by flow",
				"Ada Quill, Bo Marlin",
				"EIP-1 EIP-20 EIP-12345", []string{"status:last call", "type:core", "type:standards track"}},
		},
		"a living process without a category": {
			"EIPS/eip-1.md", "---\neip: 1\ntitle: How lanterns are proposed\nstatus: Living\ntype: Meta\nauthor: Ada " +
				"Quill\ncreated: 2031-10-27\n" +
				"updated: 2031-12-07, 2032-02-01\n---\n\nText.",
			row{"EIP-1", "Final", "Living", "Meta", "", "How lanterns are proposed", "Ada Quill", "",
				[]string{"status:living", "type:meta"}},
		},
		"a title that breaks YAML": {
			"EIPS/eip-20000.md",
			"---\neip: 20000\ntitle: Lamps: an interface: of many\nstatus: Stagnant\ntype: Standards " +
				"Track\ncategory: Interface\n" +
				"author: Cy Dory (@cy)\ncreated: 2031-11-19\nrequires: 165\nwithdrawal-reason: Nobody asked for it: " +
				"twice\n---\n\nText.",
			row{"EIP-20000", "Withdrawn", "Stagnant", "Standards Track", "Interface", "Lamps: an interface: of many",
				"Cy Dory", "EIP-165", []string{"status:stagnant", "type:interface", "type:standards track"}},
		},
		"a list of prerequisites, each with its prefix": {
			"EIPS/eip-7.md", "---\neip: EIP-7\ntitle: Shades\nstatus: Final\ntype: Informational\ncreated: 2031-01-02\n" +
				"requires: [EIP-1, eip 20]\nauthor: Ada Quill\n---\nText.",
			row{"EIP-7", "Final", "Final", "Informational", "", "Shades", "Ada Quill", "EIP-1 EIP-20",
				[]string{"status:final", "type:informational"}},
		},
		"a number that only the header has": {
			"drafts/basins.md",
			"---\neip: 00123456\ntitle: Basins\nstatus: Review\ntype: Meta\ncreated: 2031-01-02\nauthor: Ada " +
				"Quill\n---\nText.",
			row{"EIP-123456", "Review", "Review", "Meta", "", "Basins", "Ada Quill", "",
				[]string{"status:review", "type:meta"}},
		},
		"code that looks like a header": {
			"EIPS/0027-wicks/0027-wicks.md", "---\nNumber: \"0027\"\nTitle: Wicks\nStatus: Draft\nCategory: " +
				"Informational\nAuthor: Ada Quill\nCreated: 2031-04-30\n---\n\n# Wicks\n\n## Layout\n\n```yaml\n" +
				"version: Uint32\nnumber: Uint64\nhash_type: data\ntype: script\nstatus: Byte32\nauthor: Bytes\n```\n",
			row{"EIP-27", "Draft", "Draft", "Informational", "", "Wicks", "Ada Quill", "",
				[]string{"status:draft", "type:informational"}},
		},
		"a <pre> block that has what the front matter lacks": {
			"EIPS/eip-9.md", "---\neip: 9\ntitle: Oil\nstatus: Final\ntype: Meta\nauthor: Ada Quill\n---\n\n<pre>\n" +
				"Requires: 7\nCategory: Core\nStatus: Draft\n</pre>\n",
			row{"EIP-9", "Final", "Final", "Meta", "", "Oil", "Ada Quill", "", []string{"status:final", "type:meta"}},
		},
		"TOML": {
			"EIPS/eip-0030.md", "+++\nnumber = \"0030\"\ntitle = \"Rails\"\nstatus = \"Review\"\ntype = \"Meta\"\n" +
				"author = \"Bo Marlin\"\n+++\n\n```\nnumber: 64\nversion: Uint32\nstatus: u8\n```\n",
			row{"EIP-30", "Review", "Review", "Meta", "", "Rails", "Bo Marlin", "", []string{"status:review", "type:meta"}},
		},
		"a field whose value is a type": {
			"EIPS/eip-0031.md", "---\nnumber: Uint64\ntitle: Sizes\nstatus: Draft\ntype: Meta\nauthor: Cy Dory\n---\nText.",
			row{"EIP-31", "Draft", "Draft", "Meta", "", "Sizes", "Cy Dory", "", []string{"status:draft", "type:meta"}},
		},
		"a number glued to the prefix": {
			"EIPS/lamps.md", "---\nnumber: EIP0032\ntitle: Glue\nstatus: Draft\ntype: Meta\nauthor: Cy Dory\n---\nText.",
			row{"EIP-32", "Draft", "Draft", "Meta", "", "Glue", "Cy Dory", "", []string{"status:draft", "type:meta"}},
		},
		"front matter of a page above the header": {
			"EIPS/eip-33.md", "---\nlayout: page\nsidebar_position: 3\n---\n\n<pre>\nEIP: 33\nTitle: Shelves\n" +
				"Status: Final\nType: Meta\nAuthor: Ada Quill\n</pre>\n\nText.",
			row{"EIP-33", "Final", "Final", "Meta", "", "Shelves", "Ada Quill", "",
				[]string{"status:final", "type:meta"}},
		},
		"a category alone is the type": {
			"EIPS/eip-8.md", "---\neip: 8\ntitle: Hooks\nstatus: Withdrawn\ncategory: Networking\ncreated: " +
				"2031-01-02\nauthor: Ada Quill\n---\nText.",
			row{"EIP-8", "Withdrawn", "Withdrawn", "Networking", "", "Hooks", "Ada Quill", "",
				[]string{"status:withdrawn", "type:networking"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := proposal.Reader{Network: lantern(), Warn: func(at, m string) { t.Errorf("warns: %s: %s", at, m) }}
			e, err := r.Proposal(proposal.File{Path: c.file, Text: c.text})
			if err != nil {
				t.Fatal(err)
			}
			rec, data := e.Record, decode[catalog.CIP](t, e)
			rec.Tags = slices.DeleteFunc(rec.Tags, func(tag string) bool { return tag == "" }) // which no store keeps
			slices.Sort(rec.Tags)
			got := row{rec.Key, rec.State, data.RawStatus, rec.Category, data.Category, rec.Title, rec.Author,
				strings.Join(data.Requires, " "), rec.Tags}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := strings.TrimPrefix(rec.Key, "EIP-"); data.Number != want {
				t.Errorf("number %q, want %q", data.Number, want)
			}
		})
	}
}
