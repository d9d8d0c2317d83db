package evidence_test

import (
	"strings"
	"testing"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/catalog"
	"almanac/retrieval"
)

func TestEvidenceOfProofs(t *testing.T) {
	got := evidence.Of(kb.Base{}, []evidence.Proof{
		{Record: catalog.Record{ID: 1}, Weight: 0.25}, {Record: catalog.Record{ID: 2}, Weight: 1, Why: "said so"},
		{Record: catalog.Record{ID: 3}, Weight: 0.25, Snippet: strings.Repeat("é", 301)},
	})
	if len(got) != 3 || got[0].ID != "2" || got[0].Why != "said so" || got[1].ID != "1" ||
		got[2].Snippet != strings.Repeat("é", 300) {
		t.Errorf("%+v", got)
	}
}

func TestEvidenceOfMatches(t *testing.T) {
	match := func(id int64, score float64) find.Match {
		return find.Match{Record: catalog.Record{ID: id}, Result: retrieval.Result{Score: score, Snippet: "s"}}
	}
	got := evidence.Found(kb.Base{}, []find.Match{match(1, 0.6), match(2, 0.2)}, "why")
	if len(got) != 2 || got[0].Weight != 0.75 || got[1].Weight != 0.25 || got[1].Why != "why" || got[1].Snippet != "s" {
		t.Errorf("%+v", got)
	}
}
