package retrieval

import (
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
)

// words makes one token per word.
func words(text string) []analysis.Token {
	var out []analysis.Token
	for i, w := range strings.Fields(strings.ToLower(text)) {
		out = append(out, analysis.Token{Term: w, Position: i})
	}
	return out
}

// corpusOf indexes titled documents of one passage each, or of several where
// the body has a "|". A passage that begins with # has its first word as heading.
func corpusOf(t *testing.T, docs [][2]string) (*corpus.Corpus, []*corpus.Document) {
	t.Helper()
	var all []*corpus.Document
	for i, d := range docs {
		var passages []analysis.Packed
		var heads []corpus.Mark
		for body := range strings.SplitSeq(d[1], "|") {
			terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
				analysis.Title: words(d[0]), analysis.Body: words(strings.TrimPrefix(body, "#"))}))
			if err != nil {
				t.Fatal(err)
			}
			if heading, ok := strings.CutPrefix(strings.Fields(body)[0], "#"); ok {
				heads = append(heads, corpus.Mark{Term: analysis.IDOf(heading), Passage: len(passages)})
			}
			passages = append(passages, terms)
		}
		all = append(all, corpus.NewDocument(catalog.Record{ID: int64(i + 1), Kind: catalog.KindDoc, Title: d[0],
			CreatedAt: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)}, passages, heads...))
	}
	return corpus.New(all...), all
}

// scorerOf prepares the scoring by a query, of which some words are stop words.
func scorerOf(c *corpus.Corpus, text, stops string) *scorer {
	var terms []query.Term
	var ids []analysis.TermID
	for i, w := range strings.Fields(strings.ToLower(text)) {
		term := query.Term{ID: analysis.IDOf(w), Position: i, Weight: 1, Identifier: strings.Contains(w, "-"),
			Coined: strings.Contains(w, "-")}
		if strings.Contains(" "+stops+" ", " "+w+" ") {
			term.Weight = 0
		}
		terms, ids = append(terms, term), append(ids, term.ID)
	}
	return newScorer(text, terms, ranking.Rules{NamedInTitle: 0.3}, c.Statistics(ids))
}

func signals(t *testing.T, query string, stops string, docs [][2]string) []*candidate {
	t.Helper()
	table, documents := corpusOf(t, docs)
	candidates := make([]*candidate, len(documents))
	for i, d := range documents {
		candidates[i] = &candidate{Document: d}
		for o := range d.Len() {
			candidates[i].Passages = append(candidates[i].Passages, o)
		}
	}
	scorerOf(table, query, stops).signals(candidates)
	return candidates
}

// TestIdentifierCountsAsMuchAsItIsOfTheQuery: who types nothing but a name wants
// what is called so; in a sentence it is named next to what is sought.
func TestIdentifierCountsAsMuchAsItIsOfTheQuery(t *testing.T) {
	docs := [][2]string{{"cip-56 tokens", "alpha"}, {"other", "alpha beta gamma"}, {"more", "beta"}}
	alone := signals(t, "cip-56", "", docs)[0].Features[ranking.Identifier]
	beside := signals(t, "alpha beta gamma beside cip-56", "", docs)[0].Features[ranking.Identifier]
	if beside <= 0 || beside > alone/2 {
		t.Errorf("identifier = %.3f in a sentence, %.3f alone", beside, alone)
	}
}

// TestSignalPrefers holds, for every lexical signal, a pair of documents of
// which the first must score higher.
func TestSignalPrefers(t *testing.T) {
	tests := []struct {
		name          string
		feature       ranking.Feature
		query, stops  string
		better, worse [2]string
	}{
		{"the document with more of the words", ranking.DocumentBM25, "ledger fees", "",
			[2]string{"a", "ledger fees are paid"}, [2]string{"b", "the ledger only here"}},
		{"the passage that has the words together", ranking.PassageBM25, "ledger fees", "",
			[2]string{"a", "ledger fees|other text here"}, [2]string{"b", "ledger alone|fees alone"}},
		{"the title that has the word", ranking.TitleBM25, "traffic", "", [2]string{"traffic guide", "x"},
			[2]string{"guide", "traffic"}},
		{"the document that covers the query", ranking.Coverage, "alpha beta", "", [2]string{"a", "alpha|beta"},
			[2]string{"b", "alpha alpha"}},
		{"the passage that covers the query", ranking.PassageCoverage, "alpha beta", "", [2]string{"a", "alpha beta"},
			[2]string{"b", "alpha|beta"}},
		{"a title with a typo in the query", ranking.TitleTrigrams, "validtor onboarding", "",
			[2]string{"validator onboarding", "x"}, [2]string{"wallet settings", "x"}},
		{"neighbours that stay neighbours", ranking.Bigrams, "key rotation", "", [2]string{"a", "do key rotation now"},
			[2]string{"b", "rotation of a very old key"}},
		{"words near each other", ranking.Window, "party migration", "", [2]string{"a", "party data migration"},
			[2]string{"b", "party 1 2 3 4 5 6 7 8 9 migration"}},
		{"the title that is the query", ranking.TitlePhrase, "token standard", "", [2]string{"token standard", "x"},
			[2]string{"token bridge and standard things", "x"}},
		{"the identifier in the title", ranking.Identifier, "cip-56", "", [2]string{"cip-56 tokens", "x"},
			[2]string{"other", "see cip-56"}},
		{"the section that is called so", ranking.HeadingExact, "gap-7 after restart", "after",
			[2]string{"a", "other text|#gap-7 stop it"}, [2]string{"b", "see gap-7 and gap-7 in the log"}},
		{"the newer document", ranking.Recency, "x", "", [2]string{"b", "x"}, [2]string{"a", "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.feature.String()+"/"+tt.name, func(t *testing.T) {
			// The worse comes first, so that a tie cannot pass, and the second is
			// the newer. Others give the statistics something to weigh.
			got := signals(t, tt.query, tt.stops, [][2]string{tt.worse, tt.better, {"noise", "some other words"},
				{"more", "and more of them"}})
			if b, w := got[1].Features[tt.feature], got[0].Features[tt.feature]; b <= w {
				t.Errorf("%s = %v for %q, %v for %q", tt.feature, b, tt.better, w, tt.worse)
			}
		})
	}
}

// TestThePassageBelowItsHeadingIsBest, however often others name it.
func TestThePassageBelowItsHeadingIsBest(t *testing.T) {
	got := signals(t, "gap-7", "", [][2]string{{"a", "gap-7 gap-7 gap-7|#gap-7 stop it and then do something else|gap-7"},
		{"b", "nothing"}, {"c", "nothing"}})
	if got[0].Best != 1 {
		t.Errorf("best passage is %d, want 1", got[0].Best)
	}
}

// TestANameOfARecordIsNoHeading: a section on CIP-56 does not come before CIP-56.
func TestANameOfARecordIsNoHeading(t *testing.T) {
	table, documents := corpusOf(t, [][2]string{{"list", "#cip-56 and its state"}, {"other", "words"}})
	score := func(documents ...*corpus.Document) float64 {
		var all []*candidate
		for _, d := range documents {
			all = append(all, &candidate{Document: d, Passages: []int{0}})
		}
		scorerOf(table, "cip-56", "").signals(all)
		return all[0].Features[ranking.HeadingExact]
	}
	named := corpus.NewDocument(catalog.Record{ID: 9, Key: "cip-56"}, nil)
	if alone, beside := score(documents[0]), score(documents[0], named); alone != 1 || beside != 0 {
		t.Errorf("the heading counts %v alone, %v beside what is called so", alone, beside)
	}
}

func TestBestPassageHasTheRun(t *testing.T) {
	got := signals(t, "failed to fetch topology state", "to", [][2]string{
		{"a", "topology state|fetch the state and failed topology words|warn failed to fetch topology state again"},
		{"b", "nothing"}})
	if got[0].Best != 2 {
		t.Errorf("best passage is %d, want 2", got[0].Best)
	}
	if !got[0].Lexical || got[1].Lexical {
		t.Errorf("lexical = %v, %v: want true, false", got[0].Lexical, got[1].Lexical)
	}
}

func TestNormalise(t *testing.T) {
	scored := []*candidate{{}, {}, {}}
	for i, c := range scored {
		c.Features[ranking.Dense] = float64(i)
		c.Features[ranking.Recency] = 0.5
	}
	normalise(scored)
	if z := scored[0].Z[ranking.Dense]; z >= 0 || scored[1].Z[ranking.Dense] != 0 || scored[2].Z[ranking.Dense] != -z {
		t.Errorf("z-scores of 0, 1, 2 are %v, %v, %v", z, scored[1].Z[ranking.Dense], scored[2].Z[ranking.Dense])
	}
	for _, c := range scored {
		if c.Z[ranking.Recency] != 0 {
			t.Errorf("a feature that all share must not count, got %v", c.Z[ranking.Recency])
		}
	}
}

func TestStopWordsDoNotCrowdOutOthers(t *testing.T) {
	query := strings.Repeat("the ", 80) + "ledger"
	got := signals(t, query, "the", [][2]string{{"a", "ledger"}, {"b", "the the"}})
	if got[0].Features[ranking.DocumentBM25] <= 0 {
		t.Error("the only word that counts was left out")
	}
}

func TestLongQueriesAreBounded(t *testing.T) {
	query := strings.Repeat("word ", 500)
	got := signals(t, query, "", [][2]string{{"a", strings.Repeat("word ", 300)}, {"b", "x"}})
	if got[0].Features[ranking.DocumentBM25] <= 0 {
		t.Error("a repeated word must still count")
	}
}
