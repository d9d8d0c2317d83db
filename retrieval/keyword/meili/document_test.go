package meili

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

func text(raw string) keyword.Text { return keyword.Text{Raw: raw, Tokens: analysis.Analyze(raw)} }

func TestStreamsHaveOneTermForEachPosition(t *testing.T) {
	for _, c := range []struct{ text, want, names string }{
		{"", "", ""},
		{"Ledgers and nodes", "ledger and node", ""},
		{"traffic top-up", "traffic top up", "topup topzmup"},
		{"CIP-0056 names", "cip 56 name", "cipzm56"},
		{"see v0.5.9", "see 0zp5zp9", "0zp5"},
		{"the createContracts call", "the createcontract call", "createcontracts creat contract"},
		{"a::b.c x", "a b c x", "azczcbzpc bzpc"},
		{"東京都", "zx6771zx4eac zx4eaczx90fd", ""},
	} {
		s := newStream(analysis.Analyze(c.text))
		if s.text != c.want || strings.Join(s.names, " ") != c.names {
			t.Errorf("%q: %q and %q, want %q and %q", c.text, s.text, s.names, c.want, c.names)
		}
	}
}

func TestStreamsKeepEveryTerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := analysis.Analyze(rapid.OneOf(rapid.String(),
			rapid.StringMatching(`([a-zA-Z0-9]{1,4}[ ./:_@#-]){0,8}`)).Draw(t, "text"))
		s := newStream(tokens)
		positions := map[int]bool{}
		left := map[string]int{}
		for _, token := range tokens {
			positions[token.Position] = true
			left[spell(token.Term)]++
		}
		words := strings.Fields(s.text)
		if len(words) != len(positions) {
			t.Fatalf("%q has %d words for %d positions", s.text, len(words), len(positions))
		}
		for _, w := range append(words, s.names...) {
			left[w]--
		}
		for w, n := range left {
			if n != 0 {
				t.Fatalf("%q: %+d", w, n)
			}
		}
	})
}

func TestDocuments(t *testing.T) {
	r := keyword.Record{ID: 7, Title: text("Ledger"), Path: text("docs/ledger.md"),
		Attributes: passage.Attributes{Kind: "Doc", Source: `a"b\c%`, State: "open\x1f",
			Date: time.Date(2025, 3, 1, 12, 0, 0, 5, time.UTC)},
		Passages: []keyword.Passage{
			{ID: passage.NewID(7, 0), Body: text("new nodes")},
			{ID: passage.NewID(7, 1), Heading: text("Keys"), Body: text("hidden")}}}
	got, err := json.MarshalIndent(documentsOf(r), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `[
 {
  "id": "458752",
  "record": 7,
  "ordinal": 0,
  "title": "ledger",
  "body": "new node",
  "path": "doc ledger md",
  "names": "docszsledgerzpmd ledgerzpmd ledgerzq newzq nodezq",
  "kind": "doc",
  "source": "a%22b%5cc%25",
  "state": "open\u001f",
  "date": 1740830400,
  "card": "7\u001fDoc\u001fa\"b\\c%\u001f\u001fopen "
 },
 {
  "id": "458753",
  "record": 7,
  "ordinal": 1,
  "title": "ledger",
  "heading": "key",
  "body": "hidden",
  "path": "doc ledger md",
  "names": "docszsledgerzpmd hiddenzq keyzq ledgerzpmd ledgerzq",
  "kind": "doc",
  "source": "a%22b%5cc%25",
  "state": "open\u001f",
  "date": 1740830400,
  "card": "7\u001fDoc\u001fa\"b\\c%\u001f\u001fopen "
 }
]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFrequentTermsStandOut(t *testing.T) {
	body := "node node node"
	for i := range 40 {
		body += fmt.Sprintf(" w%d", i)
	}
	got := outstanding(analysis.Analyze("ledger"), nil, analysis.Analyze(body))
	slices.Sort(got)
	if want := []string{"ledgerzq", "nodezq"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFilters(t *testing.T) {
	at := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		filter passage.Filter
		want   string
	}{
		{passage.Filter{}, ""},
		{passage.Filter{Kinds: []string{"Doc", "topic"}, States: []string{`a"\b%`}},
			`kind IN ["doc", "topic"] AND state IN ["a%22%5cb%25"]`},
		{passage.Filter{Sources: []string{"x"}, Containers: []string{`" OR record = 1`}},
			`source IN ["x"] AND container IN ["%22 or record = 1"]`},
		{passage.Filter{Containers: []string{"Ελλάς", "ΕΛΛΆΣ"}}, `container IN ["ελλάσ", "ελλάσ"]`},
		{passage.Filter{Since: at, Until: at.Add(time.Nanosecond)}, "date >= 1740787200 AND date < 1740787201"},
		{passage.Filter{Records: []int64{3, 1}}, "record IN [3, 1]"},
	} {
		if got := filterOf(c.filter); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
}

func TestOutdated(t *testing.T) {
	passages := func(id int64, n int) keyword.Record {
		return keyword.Record{ID: id, Passages: make([]keyword.Passage, n)}
	}
	for _, c := range []struct {
		batch keyword.Batch
		want  string
	}{
		{keyword.Batch{}, ""},
		{keyword.Batch{Delete: []int64{4, 5}}, "record IN [4, 5]"},
		{keyword.Batch{Delete: []int64{4}, Records: []keyword.Record{passages(1, 2), passages(2, 0), passages(3, 2)}},
			"record IN [4, 2] OR (ordinal >= 2 AND record IN [1, 3])"},
	} {
		if got := outdated(c.batch); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
