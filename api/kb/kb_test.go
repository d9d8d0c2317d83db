package kb_test

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
)

var base = kb.Base{PublicURL: "https://kb.example",
	Network: network.Network{Proposals: network.Proposals{Prefix: "CIP"}}}

// lip is a network with another prefix and padding.
var lip = kb.Base{Network: network.Network{Proposals: network.Proposals{Prefix: "LIP", Digits: 3}}}

func TestCIPRef(t *testing.T) {
	for id, want := range map[string]string{
		"56": "CIP-0056", "0056": "CIP-0056", "CIP-56": "CIP-0056", "cip-0056": "CIP-0056", "CIP#56": "CIP-0056",
		" 56\n": "CIP-0056", "cip 56": "CIP-0056", "9999": "CIP-9999", "0": "CIP-0000", "PR-203": "PR-203",
		"pr 0203": "PR-203", "PR#7": "PR-7", "PR-0": "PR-0", "PR-99999999999999999999": "PR-99999999999999999999",
	} {
		if ref, err := base.CIPRef(arg.CIPID(id)); err != nil || ref.Key != want || ref.Kind != catalog.KindCIP {
			t.Errorf("%q: %v %v, want %s", id, ref, err, want)
		}
	}
	for id, want := range map[string]string{"12": "LIP-012", "LIP-12": "LIP-012", "lip 012": "LIP-012",
		"CIP-12": "LIP-012", "20000": "LIP-20000", "46-1": "LIP-046-01", "LIP-46-01": "LIP-046-01"} {
		if ref, err := lip.CIPRef(arg.CIPID(id)); err != nil || ref.Key != want {
			t.Errorf("%q: %v %v, want %s", id, ref, err, want)
		}
	}
	if _, err := base.CIPRef("PR-"); !errors.Is(err, op.ErrInvalid) {
		t.Errorf("no number: %v", err)
	}
}

// FuzzCIPRef holds that every spelling a tool accepts names a key whose id
// names that key again, in the form that REST takes.
func FuzzCIPRef(f *testing.F) {
	for _, s := range []string{"56", "CIP-0056", "pr#203", " cip 7 ", "PR-00", "lip-12", "LIP 20000", "lip 46-1", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, b := range []kb.Base{base, lip} {
			prefix := b.Network.Proposals.Prefix
			if !regexp.MustCompile(arg.ToolIDPattern(prefix)).MatchString(s) {
				continue
			}
			ref, err := b.CIPRef(arg.CIPID(s))
			if err != nil {
				t.Fatal(err)
			}
			id := b.ID(catalog.Record{Kind: catalog.KindCIP, Key: ref.Key})
			again, err := b.CIPRef(arg.CIPID(id))
			if err != nil || again != ref || !regexp.MustCompile(arg.IDPattern(prefix)).MatchString(id) {
				t.Errorf("%q is %v, its id %q is %v %v", s, ref, id, again, err)
			}
		}
	})
}

func TestItems(t *testing.T) {
	for _, tt := range []struct {
		record   catalog.Record
		id, page string
	}{
		{catalog.Record{ID: 1_000_001, Kind: catalog.KindCIP, Key: "CIP-0056"}, "0056", "/cips/0056"},
		{catalog.Record{ID: 1_000_002, Kind: catalog.KindCIP, Key: "PR-203"}, "PR-203", "/cips/PR-203"},
		{catalog.Record{ID: 1_000_003, Kind: catalog.KindDoc, Key: "docs/a.md"}, "1000003", "/docs/docs/a.md"},
		{catalog.Record{ID: 1_000_004, Kind: catalog.KindTopic, Key: "1234"}, "1000004", "/discussions/1234"},
		{catalog.Record{ID: 1_000_005, Kind: catalog.KindIssue, Key: "a/b#7"}, "1000005", "/issues/a/b/7"},
		{catalog.Record{ID: 1_000_006, Kind: catalog.KindTopic, Key: "1000007"}, "1000006", "/discussions/1000006"},
		{catalog.Record{ID: 1_000_007, Kind: catalog.KindDoc, Key: "a/../b"}, "1000007", "/docs/1000007"},
		{catalog.Record{ID: 1_000_008, Kind: catalog.KindFAQ, Key: "why?"}, "1000008", "/faq/1000008"},
	} {
		i := base.Item(tt.record)
		if i.ID != tt.id || i.Page != base.PublicURL+tt.page || i.URL != i.Page {
			t.Errorf("%s: %+v", tt.record.Ref(), i)
		}
		raw, err := op.EncodeTool(i)
		if err != nil || strings.Contains(string(raw), `"page"`) || strings.Contains(string(raw), `"record_id"`) {
			t.Errorf("%s as a tool says it: %s %v", tt.record.Ref(), raw, err)
		}
	}
}

func TestScore(t *testing.T) {
	for x, want := range map[float64]float64{0.123456: 0.1235, 1: 1, 0: 0, 0.00012345678: 0.0001235, math.NaN(): 0} {
		if got := kb.Score(x); got != want {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}

func TestBriefIsLean(t *testing.T) {
	b := kb.Brief{Item: kb.Item{ID: "1", Title: "t", URL: "u", Key: "k", Path: "p", Container: "c", Author: "a",
		Page: "x"}}
	b.Lean()
	if want := (kb.Item{ID: "1", Title: "t", URL: "u"}); b.Item != want {
		t.Errorf("%+v", b.Item)
	}
}
