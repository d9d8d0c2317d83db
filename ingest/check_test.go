package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/ingest"
)

func TestBadItemsAreReportedAndSkipped(t *testing.T) {
	entry := func(change func(*catalog.Entry)) catalog.Entry {
		e := page("bad")
		change(&e)
		return e
	}
	tests := map[string]struct {
		entry catalog.Entry
		want  string
	}{
		"unknown kind":     {entry(func(e *catalog.Entry) { e.Record.Kind = "poem" }), `has an unknown kind "poem"`},
		"no kind":          {entry(func(e *catalog.Entry) { e.Record.Kind = "" }), `has an unknown kind ""`},
		"no key":           {entry(func(e *catalog.Entry) { e.Record.Key = "" }), "has no key"},
		"space around key": {entry(func(e *catalog.Entry) { e.Record.Key = " bad" }), "surrounding space"},
		"newline in key":   {entry(func(e *catalog.Entry) { e.Record.Key = "b\nd" }), "control characters"},
		"key not UTF-8":    {entry(func(e *catalog.Entry) { e.Record.Key = "b\xffd" }), "control characters"},
		"endless key": {entry(func(e *catalog.Entry) { e.Record.Key = strings.Repeat("k", 2000) }),
			"its key has 2000 bytes"},
		"data is not JSON": {entry(func(e *catalog.Entry) { e.Record.Data = []byte("{") }), "its data is not a Doc"},
		"data of wrong type": {entry(func(e *catalog.Entry) { e.Record.Data = []byte(`{"format":1}`) }),
			"its data is not a Doc"},
		"endless data": {entry(func(e *catalog.Entry) { e.Record.Data = make([]byte, 5<<20) }),
			"its data has 5242880 bytes"},
		"facts of wrong type": {entry(func(e *catalog.Entry) { e.Facts = &catalog.Facts{Data: []byte(`{"format":1}`)} }),
			"its facts: its data is not a Doc"},
		"facts are no object": {entry(func(e *catalog.Entry) { e.Facts = &catalog.Facts{Data: []byte(`null`)} }),
			"data of facts: not a JSON object"},
		"twice": {page("good"), "the source has doc good twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			report := f.run("first", listing(page("good"), tt.entry, page("next")))
			if got := f.keys("first"); !slices.Equal(got, []string{"good", "next"}) {
				t.Errorf("records %q", got)
			}
			if report.Skipped != 1 || len(report.Problems) != 1 {
				t.Fatalf("report %+v", report)
			}
			p := report.Problems[0]
			if !strings.Contains(p.Message, tt.want) || p.Locator != tt.entry.Record.Path || !p.Skipped {
				t.Errorf("problem %+v", p)
			}
			if s := f.state("first"); s.Skipped != 1 || s.Error != "" {
				t.Errorf("state %+v", s)
			}
		})
	}
}

func TestOddItemsAreRepairedWithAWarning(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 1, 2, 3, 4, 5, 0, time.UTC) }
	tests := map[string]struct {
		change func(*catalog.Entry)
		want   string
		check  func(catalog.Record) bool
	}{
		"a date before any network existed": {
			func(e *catalog.Entry) { e.Record.CreatedAt = time.Unix(0, 0) },
			"created_at 1970-01-01T00:00:00Z is impossible",
			func(r catalog.Record) bool { return r.CreatedAt.IsZero() },
		},
		"a date in the future": {
			func(e *catalog.Entry) { e.Record.UpdatedAt = year(2032) }, "updated_at 2032-01-02T03:04:05Z is impossible",
			func(r catalog.Record) bool { return r.UpdatedAt.IsZero() },
		},
		"an end before the start": {
			func(e *catalog.Entry) { e.Record.StartsAt, e.Record.EndsAt = year(2033), year(2032) },
			"ends before it starts",
			func(r catalog.Record) bool { return r.StartsAt.Equal(year(2033)) && r.EndsAt.IsZero() },
		},
		"a plan for another century": {
			func(e *catalog.Entry) { e.Record.StartsAt = year(2299) }, "starts_at 2299-",
			func(r catalog.Record) bool { return r.StartsAt.IsZero() },
		},
		"text that is not UTF-8": {
			func(e *catalog.Entry) { e.Record.Body = "a\xffb\x00c" }, "body is not valid UTF-8",
			func(r catalog.Record) bool { return r.Body == "a\uFFFDb\uFFFDc" },
		},
		"an endless title": {
			func(e *catalog.Entry) { e.Record.Title = strings.Repeat("é", 400) },
			"title has 800 bytes and was cut to 500",
			func(r catalog.Record) bool { return r.Title == strings.Repeat("é", 250) },
		},
		"an endless body": {
			func(e *catalog.Entry) { e.Record.Body = strings.Repeat("x", ingest.MaxText+1) },
			"body has 2097153 bytes and was cut",
			func(r catalog.Record) bool { return len(r.Body) == ingest.MaxText },
		},
		"a script as address": {
			func(e *catalog.Entry) { e.Record.URL = "javascript:alert(1)" }, "url is not a web address",
			func(r catalog.Record) bool { return r.URL == "" },
		},
		"a password in an address": {
			func(e *catalog.Entry) { e.Record.URL = "https://ada:hush@docs.example.org/" }, "url is not a web address",
			func(r catalog.Record) bool { return r.URL == "" },
		},
		"a parent that is not in the catalog": {
			func(e *catalog.Entry) { e.Parent = catalog.Ref{Kind: catalog.KindRepo, Key: "none"} },
			"its parent repo none is not in the catalog",
			func(r catalog.Record) bool { return r.Parent == 0 },
		},
		"endless tags": {
			func(e *catalog.Entry) {
				for i := range 5001 {
					e.Record.Tags = append(e.Record.Tags, fmt.Sprintf("tag-%04d", i))
				}
			},
			"has 5001 tags; the first 5000 are kept",
			func(r catalog.Record) bool { return len(r.Tags) == 5000 && !slices.Contains(r.Tags, "tag-5000") },
		},
		"neither title nor text": {
			func(e *catalog.Entry) { e.Record.Title, e.Record.Body = " ", "" }, "neither title nor text",
			func(r catalog.Record) bool { return r.Title == "" },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			e := page("odd")
			tt.change(&e)
			report := f.run("first", listing(e))
			if report.Skipped != 0 || report.Warned != 1 || !strings.Contains(report.Problems[0].Message, tt.want) {
				t.Errorf("report %+v", report)
			}
			if r := f.get(catalog.KindDoc, "odd"); !tt.check(r) {
				t.Errorf("record %.200v", r)
			}
		})
	}
}

// TestEndlessLinksAreCut: those of the connector come first, then those of the text.
func TestEndlessLinksAreCut(t *testing.T) {
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, "NSP-%d ", i+1)
	}
	for given, want := range map[int]string{0: "has 6000 links", 4000: "has 10000 links", 7000: "has 13000 links"} {
		f := setup(t)
		e := page("odd")
		e.Record.Body = text.String()
		for i := range given {
			e.Links = append(e.Links, catalog.Link{Relation: catalog.References,
				To: catalog.Ref{Kind: catalog.KindDoc, Key: fmt.Sprintf("%04d", i)}})
		}
		report := f.run("first", listing(e))
		if want += "; the first 5000 are kept"; report.Warned != 1 || report.Problems[0].Message != want {
			t.Errorf("report %+v, want %q", report, want)
		}
		docs := 0
		links := f.linksFrom(f.get(catalog.KindDoc, "odd"))
		for _, to := range links {
			if to.Kind == catalog.KindDoc {
				docs++
			}
		}
		if len(links) != 5000 || docs != min(given, 5000) {
			t.Errorf("%d links, %d of them of the connector", len(links), docs)
		}
	}
}
