package mention

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
)

// of returns the proposals of a network that only sets a prefix.
func of(prefix string) network.Proposals { return network.Proposals{Prefix: prefix} }

func TestMentionsAreFoundInEverySpelling(t *testing.T) {
	m := mentions{of("CIP")}
	tests := map[string]struct {
		text string
		want []int
	}{
		"with a hyphen":            {"see CIP-56.", []int{56}},
		"padded":                   {"see CIP-0056,", []int{56}},
		"with a space":             {"CIP 0056 and CIP 56", []int{56, 56}},
		"with a number sign":       {"CIP#56 CIP #57", []int{56, 57}},
		"with an underscore":       {"cip_0056_notes", []int{56}},
		"without anything between": {"cip56 CIP0057", []int{56, 57}},
		"with a colon":             {"CIP: 0056", []int{56}},
		"with other hyphens":       {"CIP‑56 CIP–57 CIP - 58", []int{56, 57, 58}},
		"with a hard space":        {"CIP\u00a056", []int{56}},
		"escaped in markdown":      {`CIP\#56 CIP\_57`, []int{56, 57}},
		"in brackets and quotes":   {`[CIP-56](x) "CIP-57" (CIP-58)`, []int{56, 57, 58}},
		"in inline code":           {"run `cip-0056` now", []int{56}},
		"the plural lists several": {"CIPs 54, 55 and 56; also CIPs #7/#8", []int{54, 55, 56, 7, 8}},
		"a list with prefixes":     {"CIPs CIP-54 and CIP-55", []int{54, 55}},
		"a possessive":             {"CIP-56's text", []int{56}},
		"number zero":              {"CIP-0000", []int{0}},
		"at both ends of the text": {"CIP-1 CIP-2", []int{1, 2}},
		"in a file's address": {"https://forge.example/org/cips/blob/main/cip-0056/cip-0056.md",
			[]int{56, 56}},
		"escaped in an address":              {"https://x.example/?q=CIP%2056", []int{56}},
		"not a pull request's number":        {"https://forge.example/org/cips/pull/203 and org/cips#17", nil},
		"not a thread's number":              {"https://lists.example/g/cip-vote/message/56", nil},
		"not another path segment":           {"https://x.example/cip-56/2024/7", []int{56}},
		"not inside a word":                  {"recip56 acip-57 cipher56 0cip56", nil},
		"not the start of a word or number":  {"CIP-56a CIP-1234567 cip7Qz", nil},
		"of five and six digits":             {"CIP-20000 and cip 123456", []int{20000, 123456}},
		"not a decimal, date, time or share": {"CIP: 5,000 CIP 0.5, CIP 2024-01-02, CIP 12:30, CIP 5%", nil},
		"not the next list item":             {"the CIP\n\n1. First\nCIP\n56", nil},
		"not in fenced code": {
			"a CIP-1\n```\nCIP-2\n```\nCIP-3\n~~~~ x\nCIP-4\n~~~\nCIP-5\n~~~~\nCIP-6", []int{1, 3, 6}},
		"an unclosed fence extends to the end": {"CIP-1\n```\nCIP-2", []int{1}},
		"inline code with three backticks":     {"```CIP-1``` CIP-2", []int{1, 2}},
		"beside letters of scripts without case": {"灯台守はCIP-12を読む。请参阅CIP-13号 CIP-14에서 ตามCIP-15และ วCIP 16。",
			[]int{12, 13, 14, 15, 16}},
		"in full width":                      {"ＣＩＰ－１５を、ｃｉｐ　１６：３つ、CIP：１７，３月", []int{15, 16, 17}},
		"not in a word of full width":        {"ＡＣＩＰ－１ CIP-2ａ CIP－１．５ CIP 5％", nil},
		"not in a word of letters of a case": {"лCIP-1 CIP-2а CIP-3α éCIP-4", nil},
		"the word alone":                     {"a CIP is a CIP-", nil},
		"a plural without space":             {"cips56 cips/56", nil},
		"nothing":                            {"", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, f := range m.find(tt.text) {
				got = append(got, f.number)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("find(%q) = %v, want %v", tt.text, got, tt.want)
			}
		})
	}
	if got := (mentions{}).find("CIP-56"); got != nil {
		t.Errorf("without a prefix: %v", got)
	}
}

func TestCited(t *testing.T) {
	for text, want := range map[string]string{
		"CWP-12 and cwp 0013, CWP_14 CWP#15 CWP16":                  "CWP-0012 CWP-0013 CWP-0014 CWP-0015 CWP-0016",
		"CWPs 7, 8 and 9":                                           "CWP-0007 CWP-0008 CWP-0009",
		"https://x.example.org/cwps/blob/main/cwp-0056/cwp-0056.md": "CWP-0056",
		"https://x.example.org/cwps/pull/203":                       "", "CWP%2042": "CWP-0042",
		"ACWP-1 CWP-1234567 CWP-1a": "", "CWP-12345": "CWP-12345", "CWP-0": "CWP-0000", "cwp-discuss/12": "", "": "",
		"CWP-7, CWP-7": "CWP-0007",
	} {
		if got := strings.Join(Cited(of("CWP"), text), " "); got != want {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
	if got := Cited(of(""), "CWP-1"); len(got) != 0 {
		t.Errorf("without a prefix: %v", got)
	}
	lip := network.Proposals{Prefix: "LIP", Digits: 3}
	if got := strings.Join(Cited(lip, "lip 0007, LIPs 8 and 12345"), " "); got != "LIP-007 LIP-008 LIP-12345" {
		t.Errorf("of three digits: %q", got)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"CWPs 7, 8 and 9, not 10":             "CWPs 7=CWP-0007 8=CWP-0008 9=CWP-0009",
		"see CWP 7: a/b#12 (#13) and PR-14.":  "CWP 7=CWP-0007 a/b#12=a/b#12|a/b#12 #13=c/d#13|c/d#13 PR-14=PR-14",
		"```\nCWP-1\n```\nPR-2":               "PR-2=PR-2",
		"https://f.example/a/cwp-0001/pull/2": "https://f.example/a/cwp-0001/pull/2=a/cwp-0001#2",
		"SPR-1 PR-0 PR-1234567 #x":            "",
		"見よＣＷＰ－７、CWPs ８ and 9号":               "ＣＷＰ－７=CWP-0007 CWPs ８=CWP-0008 9=CWP-0009",
	} {
		var got []string
		for _, n := range Names(of("CWP"), "c/d", text) {
			var keys []string
			for _, ref := range n.Refs {
				keys = append(keys, ref.Key)
			}
			got = append(got, text[n.Start:n.End]+"="+strings.Join(keys, "|"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q names %q, want %q", text, strings.Join(got, " "), want)
		}
	}
}

func TestMentionLinks(t *testing.T) {
	m := mentions{of("NSP")}
	to := func(key string) catalog.Ref { return catalog.Ref{Kind: catalog.KindCIP, Key: key} }
	link := func(r catalog.Relation, key, snippet string) catalog.Link {
		return catalog.Link{Relation: r, To: to(key), Snippet: snippet}
	}
	tests := map[string]struct {
		entry catalog.Entry
		want  []catalog.Link
	}{
		"one link per target, with the body's first snippet": {
			catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a", Title: "About nsp 7",
				Body: "NSP-7 is\nfine.\n\nNSP-07 too, and NSP-8."}},
			[]catalog.Link{link(catalog.Mentions, "NSP-0007", "NSP-7 is fine."),
				link(catalog.Mentions, "NSP-0008", "NSP-07 too, and NSP-8.")},
		},
		"a title and a summary count": {
			catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a", Title: "About NSP-7",
				Summary: "Of NSP-8."}},
			[]catalog.Link{link(catalog.Mentions, "NSP-0007", "About NSP-7"),
				link(catalog.Mentions, "NSP-0008", "Of NSP-8.")},
		},
		"the connector's relation is kept and gets a snippet": {
			catalog.Entry{
				Record: catalog.Record{Kind: catalog.KindCIP, Key: "NSP-0009", Body: "Needs NSP-7 and NSP-8."},
				Links: []catalog.Link{link(catalog.Requires, "NSP-0007", ""),
					link(catalog.Cites, "NSP-0008", "its own")},
			},
			[]catalog.Link{link(catalog.Requires, "NSP-0007", "Needs NSP-7 and NSP-8."),
				link(catalog.Cites, "NSP-0008", "its own")},
		},
		"neither itself, nor its alias, nor its parent": {
			catalog.Entry{
				Record: catalog.Record{Kind: catalog.KindCIP, Key: "PR-3", Body: "NSP-7 NSP-8 NSP-9"},
				Parent: to("NSP-0007"), Aliases: []string{"NSP-0008"},
			},
			[]catalog.Link{link(catalog.Mentions, "NSP-0009", "NSP-7 NSP-8 NSP-9")},
		},
		"the proposal itself": {
			catalog.Entry{Record: catalog.Record{Kind: catalog.KindCIP, Key: "NSP-0007", Body: "NSP-7"}}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if left := m.add(&tt.entry, 100); left != 0 {
				t.Errorf("%d are left out", left)
			}
			if diff := cmp.Diff(tt.want, tt.entry.Links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLinksAreBounded: an entry has the links of its connector, and no more than it may.
func TestLinksAreBounded(t *testing.T) {
	given := catalog.Link{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindCIP, Key: "NSP-0002"}}
	e := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a", Container: "a/b",
		Body: "NSP-1 NSP-2 NSP-3 NSP-4 NSP-4 #5"}, Links: []catalog.Link{given}}
	proposals, references := AddProposals(of("NSP"), &e, 2), AddReferences(&e, 2)
	if proposals != 2 || references != 2 || len(e.Links) != 2 || e.Links[0].To != given.To ||
		e.Links[1].To.Key != "NSP-0001" {
		t.Errorf("%d and %d are left out of %+v", proposals, references, e.Links)
	}
}

func TestSnippetsAreCutBetweenWords(t *testing.T) {
	text := strings.Repeat("lorem ", 60) + "NSP-7" + strings.Repeat(" ipsum", 60)
	at := mentions{of("NSP")}.find(text)[0]
	got := snippet(text, at.start, at.end)
	if utf8.RuneCountInString(got) > catalog.MaxSnippet || !strings.HasPrefix(got, "…lorem ") ||
		!strings.HasSuffix(got, " ipsum…") || !strings.Contains(got, " NSP-7 ") {
		t.Errorf("snippet %q", got)
	}
	if len(got) < 150 {
		t.Errorf("snippet of %d bytes is too short: %q", len(got), got)
	}
}

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"CIP-56", "CIPs 1, 2 and 3", "```\ncip1\n```", "cip%20%2056", "CIP\xff1", "cip", "cips ",
		"CIPs 1,,, and", strings.Repeat("é", 300) + "cip1"} {
		f.Add(s)
	}
	m := mentions{of("CIP")}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, n := range Names(of("CIP"), "a/b", s) {
			if n.Start < last || n.End <= n.Start || n.End > len(s) || len(n.Refs) == 0 {
				t.Fatalf("%q: %+v after %d", s, n, last)
			}
			last = n.End
		}
		end := 0
		for _, at := range m.find(s) {
			if at.number < 0 || at.number > 9999 || at.start < 0 || at.end > len(s) || at.end <= end {
				t.Fatalf("%q: %+v after %d", s, at, end)
			}
			end = at.end
			if !strings.EqualFold(s[at.start:at.start+3], "cip") {
				t.Errorf("%q: %+v does not start at the prefix", s, at)
			}
			if n := utf8.RuneCountInString(snippet(s, at.start, at.end)); n == 0 || n > catalog.MaxSnippet {
				t.Errorf("a snippet of %d characters", n)
			}
		}
	})
}
