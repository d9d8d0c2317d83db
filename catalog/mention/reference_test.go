package mention

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

func TestReferencesToIssuesAndPulls(t *testing.T) {
	tests := map[string]struct {
		container, text string
		want            []string
	}{
		"an issue's address": {"", "see https://forge.example/causeway/node/issues/12.",
			[]string{"issue causeway/node#12"}},
		"a pull's address, in depth": {"", "(https://forge.example/causeway/node/pull/7/files#diff)",
			[]string{"pull causeway/node#7"}},
		"a linked address": {"", "[this](https://forge.example/causeway/node/pull/7)",
			[]string{"pull causeway/node#7"}},
		"a repository's number": {"", "fixed by causeway/node#12, not #9",
			[]string{"issue causeway/node#12", "pull causeway/node#12"}},
		"a number in a repository": {"causeway/node", "Closes #12 and (#13)",
			[]string{"issue causeway/node#12", "pull causeway/node#12", "issue causeway/node#13",
				"pull causeway/node#13"}},
		"the same twice": {"causeway/node", "#12 and causeway/node#12",
			[]string{"issue causeway/node#12", "pull causeway/node#12"}},
		"not itself": {"causeway/node", "this is #1", nil},
		"not in fenced code": {"causeway/node", "```\n#12 https://forge.example/causeway/node/pull/7\n```\n",
			nil},
		"not a heading or a colour": {"causeway/node", "# 12\n#ffeedd and a#12 and /#12", nil},
		"not a discussion":          {"", "https://forge.example/causeway/node/discussions/3", nil},
		"not a number of a channel": {"general", "#12", nil},
		"not a long number":         {"causeway/node", "#123456789 #0", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := catalog.Entry{Record: catalog.Record{Kind: catalog.KindPull, Key: "causeway/node#1",
				Container: tt.container, Body: tt.text}}
			if name == "not itself" {
				e.Parent = catalog.Ref{Kind: catalog.KindIssue, Key: "causeway/node#1"}
			}
			AddReferences(&e, 100)
			var got []string
			for _, l := range e.Links {
				if l.Relation != catalog.References || l.Snippet == "" {
					t.Errorf("link %+v", l)
				}
				got = append(got, l.To.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q (-want +got)\n%s", tt.text, diff)
			}
		})
	}
}

func TestNumbersLinkedByTheConnectorAreSkipped(t *testing.T) {
	given := []catalog.Link{
		{Relation: catalog.References, To: catalog.Ref{Kind: catalog.KindGrant, Key: "2"}},
		{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindCIP, Key: "PR-3"}},
	}
	e := catalog.Entry{Record: catalog.Record{Body: "causeway/grants#2, https://forge.example/causeway/cips/pull/3"},
		Links: given}
	if AddReferences(&e, 100); len(e.Links) != len(given) {
		t.Errorf("links %+v", e.Links)
	}
}

func TestReferencesAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "#%d ", i+1)
	}
	given := catalog.Link{Relation: catalog.Cites, To: catalog.Ref{Kind: catalog.KindPull, Key: "causeway/node#2"}}
	e := catalog.Entry{Record: catalog.Record{Container: "causeway/node", Body: text.String()},
		Links: []catalog.Link{given}}
	AddReferences(&e, 100)
	if len(e.Links) != 1+maxReferences || e.Links[0] != given {
		t.Errorf("%d links, first %+v", len(e.Links), e.Links[0])
	}
}

func FuzzReferences(f *testing.F) {
	for _, seed := range []string{"#1", "a/b#2\xff", "https://x/a/b/pull/3", "```\n#4", "(#5)\u2028#6",
		"[#7](https://x/a/b/issues/7)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := catalog.Entry{Record: catalog.Record{Container: "a/b", Body: text}}
		AddReferences(&e, 100)
		for _, l := range e.Links {
			if utf8.ValidString(text) && !utf8.ValidString(l.Snippet) ||
				utf8.RuneCountInString(l.Snippet) > catalog.MaxSnippet {
				t.Errorf("snippet %q", l.Snippet)
			}
		}
	})
}
