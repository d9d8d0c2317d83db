package sample_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/sample"
	"almanac/text/options"
)

// anchor is a day in the middle of a month, and not midnight.
var anchor = time.Date(2031, 6, 17, 15, 4, 5, 0, time.UTC)

// texts renders the sample's files.
func texts(t testing.TB, at time.Time) map[string]string {
	t.Helper()
	files, err := sample.Texts(at)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	isoDay  = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}`)
	longDay = regexp.MustCompile(`\b[A-Z][a-z]+ \d{1,2}, \d{4}\b`)
)

func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

func TestEveryDateMovesWithTheAnchor(t *testing.T) {
	patterns := map[string]*regexp.Regexp{time.DateOnly: isoDay, "January 2, 2006": longDay}
	type place struct{ file, layout string }
	find := func(at time.Time) (found map[place][]string, total int) {
		found = map[place][]string{}
		for name, text := range texts(t, at) {
			for layout, pattern := range patterns {
				found[place{name, layout}] = pattern.FindAllString(text, -1)
				total += len(found[place{name, layout}])
			}
		}
		return found, total
	}
	base, total := find(anchor)
	if total < 1000 {
		t.Fatalf("the sample names %d dates", total)
	}
	for _, shift := range []int{-366, 20, 1461} {
		moved, _ := find(anchor.AddDate(0, 0, shift))
		for at, before := range base {
			after := moved[at]
			if len(before) != len(after) {
				t.Fatalf("%s names %d dates, moved %d", at.file, len(before), len(after))
			}
			for i := range before {
				b, errB := time.Parse(at.layout, before[i])
				a, errA := time.Parse(at.layout, after[i])
				if errB != nil || errA != nil || !b.AddDate(0, 0, shift).Equal(a) {
					t.Fatalf("%s: %s became %s, %d days later", at.file, before[i], after[i], shift)
				}
			}
		}
	}
}

func TestTheSameDayRendersTheSame(t *testing.T) {
	midnight, late := texts(t, dayOf(anchor)), texts(t, dayOf(anchor).Add(23*time.Hour+59*time.Minute))
	for name, text := range midnight {
		if late[name] != text {
			t.Errorf("%s differs within a day", name)
		}
	}
}

func TestNothingOfATemplateIsLeft(t *testing.T) {
	leftover := regexp.MustCompile(`\{\{|\}\}|\bTODO\b|\bFIXME\b|(?i)lorem ipsum`)
	for name, text := range texts(t, anchor) {
		if path.Ext(name) == ".jsonl" || path.Ext(name) == ".json" {
			text = strings.ReplaceAll(text, "}}", "") // nested objects end so
		}
		if at := leftover.FindStringIndex(text); at != nil {
			t.Errorf("%s: %.60q", name, text[at[0]:])
		}
	}
}

// TestThePeopleAreCalledFictional holds the page about the sample against the
// authors of everything.
func TestThePeopleAreCalledFictional(t *testing.T) {
	c := synced(t)
	readme := c.byRef[catalog.Ref{Kind: catalog.KindDoc, Key: "docs/handbook/README.md"}].Body
	if !strings.Contains(readme, "The people are fictional") || !strings.Contains(readme, "network is fictional") &&
		!strings.Contains(readme, "Network is fictional") {
		t.Fatal("the page about the sample does not say that it is fictional")
	}
	for _, c := range c.records {
		for author := range strings.SplitSeq(c.Author, ", ") {
			name, _, _ := strings.Cut(author, " (")
			if name != "" && !strings.Contains(readme, "| "+name+" |") {
				t.Errorf("%s: the page about the sample does not name %q", c.Ref(), name)
			}
		}
	}
}

func TestConnectorErrors(t *testing.T) {
	for _, c := range []struct {
		name, source, want string
		options            map[string]any
	}{
		{"an unknown connector", "operations", `did you mean "calendar"`, map[string]any{"connector": "calender"}},
		{"an option of what is captured", "forum", "url", map[string]any{"url": "https://example.org/"}},
		{"a source that is not captured", "forun", `did you mean "forum"`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := network.Source{Name: c.source, Kind: connectors.Sample, Options: options.Of(c.options)}
			_, err := connectors.All(anchor).Connector(src, ingest.Environment{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}
