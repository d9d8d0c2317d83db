package keywordtest

import (
	"math/rand/v2"
	"strings"
	"time"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// The records of the library that tests name. Stemming does not change their
// words, so that an engine with its own analysis agrees.
const (
	titled       = 1001 + iota // "falcon" in the title
	rare                       // the only "quartz"
	both                       // "amber" and "harbor"
	onlyAmber                  // often
	onlyHarbor                 // often
	inOrder                    // "silver comet orbit"
	outOfOrder                 // "comet silver orbit"
	acrossFields               // "silver" ends the title, "comet" begins the body
	zenith
	zephyr
	european
	japanese
	headed  // "walrus" in a heading
	pathed  // "marmot" in the path
	apart   // "tundra" in its first passage, "fjord" in its last
	filler0 // the first of the fillers
)

const fillers = 40

// day returns the date of a record in tests of dates.
func day(n int) time.Time { return time.Date(2025, 3, n, 12, 0, 0, 0, time.UTC) }

// record makes a record of one passage.
func record(id int64, title, body string) keyword.Record {
	return keyword.Record{ID: id, Title: words(title),
		Passages:   []keyword.Passage{{ID: passage.NewID(id, 0), Body: words(body)}},
		Attributes: passage.Attributes{Kind: "note", Source: "desk", State: "open"}}
}

// library is the corpus of the suite: every record has the word "ledger".
func library() []keyword.Record {
	records := []keyword.Record{
		record(titled, "falcon", "a ledger of birds"),
		record(rare, "minerals", "quartz in the ledger"),
		record(both, "trade", "amber from the harbor in one ledger"),
		record(onlyAmber, "stones", "amber amber ledger"),
		record(onlyHarbor, "ships", "harbor harbor ledger"),
		record(inOrder, "sky", "the silver comet orbit in a ledger"),
		record(outOfOrder, "night", "the comet silver orbit in a ledger"),
		record(acrossFields, "seen in silver", "comet and orbit in a ledger"),
		record(zenith, "up", "zenith zenit ledger"),
		record(zephyr, "wind", "zephyr ledger"),
		record(european, "Zürich", "Œuvre naïve Ελλάδα Москва ledger"),
		record(japanese, "東京都", "日本語の文書 ledger"),
		record(headed, "animals", "a ledger of the shore"),
		record(pathed, "burrow", "a ledger of the hills"),
		record(apart, "north", "tundra ledger"),
	}
	for i := range records {
		r := &records[i]
		switch r.ID {
		case headed:
			r.Passages[0].Heading = words("walrus")
		case pathed:
			r.Path = words("marmot")
		case apart:
			r.Passages = append(r.Passages,
				keyword.Passage{ID: passage.NewID(apart, 1), Body: words("ledger without news")},
				keyword.Passage{ID: passage.NewID(apart, 2), Body: words("fjord ledger")})
		case both:
			r.Attributes = passage.Attributes{Kind: "Topic", Source: "forum", Container: "Trade", State: "closed",
				Date: day(5)}
		case onlyAmber:
			r.Attributes = passage.Attributes{Kind: "topic", Source: "forum", Container: "Stones", State: "open",
				Date: day(10)}
		case onlyHarbor:
			r.Attributes = passage.Attributes{Kind: "doc", Source: "docs", State: "open", Date: day(15)}
		}
	}
	return append(records, fillerRecords()...)
}

// fillerRecords have one to six passages of common words each.
func fillerRecords() []keyword.Record {
	rng := rand.New(rand.NewPCG(20250301, 1))
	common := strings.Fields("report node token vote round market signal garden window paper stream anchor pilot " +
		"winter lantern")
	records := make([]keyword.Record, fillers)
	for i := range records {
		id := int64(filler0 + i)
		r := record(id, "filler", "")
		r.Passages = nil
		for p := range 1 + rng.IntN(6) {
			text := []string{"ledger"}
			for range 5 + rng.IntN(25) {
				text = append(text, common[rng.IntN(len(common))])
			}
			r.Passages = append(r.Passages,
				keyword.Passage{ID: passage.NewID(id, p), Body: words(strings.Join(text, " "))})
		}
		r.Attributes = passage.Attributes{Kind: "filler", Source: "desk", State: "open", Date: day(20)}
		records[i] = r
	}
	return records
}
