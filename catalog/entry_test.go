package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"almanac/catalog"
)

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "nul \x00", "\xff\xfe", "\xed\xa0\x80", "é文🦉"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := catalog.Clean(s)
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Fatalf("%q became %q", s, got)
		}
		if utf8.ValidString(s) && !strings.Contains(s, "\x00") && got != s {
			t.Fatalf("clean text %q became %q", s, got)
		}
		if catalog.Clean(got) != got {
			t.Fatalf("%q is not clean", got)
		}
		if order := catalog.KeyOrder(got); !utf8.ValidString(order) || len(order) > catalog.MaxKey {
			t.Fatalf("the order of %q is %q", got, order)
		}
	})
}

func TestNormalize(t *testing.T) {
	base := catalog.Record{Kind: catalog.KindDoc, Key: "k"}
	t.Run("is idempotent and hashes alike", rapid.MakeCheck(func(t *rapid.T) {
		text := rapid.StringN(0, 20, 40)
		e := catalog.Entry{
			Record: catalog.Record{
				Kind: catalog.KindDoc, Key: "k" + text.Draw(t, "key"), Title: text.Draw(t, "title"),
				Body: text.Draw(t, "body"),
				Tags: rapid.SliceOfN(text, 0, 5).Draw(t, "tags"), CreatedAt: time.Unix(rapid.Int64().Draw(t, "created"),
					1234),
				Data: []byte(` { "a" : [1, 2] } `),
			},
			Aliases: rapid.SliceOfN(text, 0, 5).Draw(t, "aliases"),
			Links: []catalog.Link{{From: 3, Relation: catalog.Cites,
				To: catalog.Ref{Kind: catalog.KindDoc, Key: text.Draw(t, "to")}, Snippet: text.Draw(t, "snippet")}},
			Votes: []catalog.Vote{{Voter: text.Draw(t, "b")}, {Voter: text.Draw(t, "a"), Record: 5}},
		}
		once, err := e.Normalize()
		if err != nil {
			t.Fatal(err)
		}
		twice, err := once.Normalize()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once, twice); d != "" {
			t.Fatalf("the second time changes:\n%s", d)
		}
		if once.ContentHash() != twice.ContentHash() || once.AdditionHash() != twice.AdditionHash() {
			t.Fatal("the hashes differ")
		}
	}))
	t.Run("leaves its argument as it is", func(t *testing.T) {
		e := catalog.Entry{Record: base, Aliases: []string{"b", "a"}, Votes: []catalog.Vote{{Voter: "b"}, {Voter: "a"}}}
		e.Record.Tags = []string{"z", "y"}
		if _, err := e.Normalize(); err != nil {
			t.Fatal(err)
		}
		if e.Aliases[0] != "b" || e.Record.Tags[0] != "z" || e.Votes[0].Voter != "b" {
			t.Fatalf("it became %+v", e)
		}
	})
	t.Run("refuses what no store can keep", func(t *testing.T) {
		broken := base
		broken.Data = []byte("{")
		for _, r := range []catalog.Record{{}, {Kind: "doc"}, {Key: "k"}, {Kind: "doc", Key: strings.Repeat("k", 2000)},
			broken} {
			if _, err := (catalog.Entry{Record: r}).Normalize(); !errors.Is(err, catalog.ErrBadEntry) {
				t.Errorf("%+v: error is %v", r, err)
			}
		}
	})
	t.Run("years that JSON cannot write are unknown", func(t *testing.T) {
		r := base
		r.CreatedAt, r.UpdatedAt = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)
		e, err := catalog.Entry{Record: r}.Normalize()
		if err != nil || !e.Record.CreatedAt.IsZero() || !e.Record.UpdatedAt.IsZero() {
			t.Fatalf("%v, %v, %v", e.Record.CreatedAt, e.Record.UpdatedAt, err)
		}
	})
}

func TestContentHashLeavesOutWhatTheStoreSets(t *testing.T) {
	a := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "k"}}
	b := a
	b.Record.ID, b.Record.Source, b.Record.Hash = 7, "docs", "h"
	b.Record.FirstSeenAt, b.Record.DeletedAt = time.Now(), time.Now()
	if a.ContentHash() != b.ContentHash() {
		t.Fatal("the hashes differ")
	}
}

func TestKeyOrder(t *testing.T) {
	want := []string{"", "2", "0010", "1000", "CIP-0009", "cip-0010", "PR-9", "PR-10", "v1.9.0", "v1.10.0", "é"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return strings.Compare(catalog.KeyOrder(a), catalog.KeyOrder(b)) })
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("order (-want +got):\n%s", d)
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{"": "", " A  B\n\tC ": "a b c", "ÉMILE": "émile", "bad\xff": "bad\uFFFD"} {
		if got := catalog.Fold(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
