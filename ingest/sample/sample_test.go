package sample_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/sample"
	"almanac/text/options"
	"almanac/text/pdf"
)

// anchor is a day in the middle of a month, and not midnight.
var anchor = time.Date(2031, 6, 17, 15, 4, 5, 0, time.UTC)

// texts renders the sample and returns its files.
func texts(t testing.TB, at time.Time) map[string]string {
	t.Helper()
	fsys, err := sample.FS(at)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		files[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	isoDay   = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}`)
	longDay  = regexp.MustCompile(`\b[A-Z][a-z]+ \d{1,2}, \d{4}\b`)
	mailDay  = regexp.MustCompile(`\b\d{2} [A-Z][a-z]{2} \d{4}\b`)
	anyMonth = regexp.MustCompile(
		`\b(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b`)
)

// dates finds the days a text names, in order.
func dates(t testing.TB, text string) (found []time.Time) {
	t.Helper()
	for layout, pattern := range map[string]*regexp.Regexp{time.DateOnly: isoDay, "January 2, 2006": longDay,
		"02 Jan 2006": mailDay} {
		for _, s := range pattern.FindAllString(text, -1) {
			d, err := time.Parse(layout, s)
			if err != nil {
				t.Errorf("%q is no date", s)
			}
			found = append(found, d)
		}
	}
	return found
}

func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

func TestEveryDateMovesWithTheAnchor(t *testing.T) {
	patterns := map[string]*regexp.Regexp{time.DateOnly: isoDay, "January 2, 2006": longDay, "02 Jan 2006": mailDay}
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

// TestNoDateLiesAfterTheAnchor reads every date but those of sentences that
// say they speak of a plan.
func TestNoDateLiesAfterTheAnchor(t *testing.T) {
	plans := 0
	planned := regexp.MustCompile(`(?i)planned|would be|until|published for comment|\bBayNet on\b`)
	for name, text := range texts(t, anchor) {
		if strings.HasSuffix(name, "/v0/dso.json") { // schedules, without words
			continue
		}
		for _, paragraph := range strings.Split(text, "\n\n") {
			for _, d := range dates(t, paragraph) {
				switch {
				case d.Before(dayOf(anchor)):
				case planned.MatchString(paragraph):
					plans++
				default:
					t.Errorf("%s: %s lies after the anchor and is not called planned: %q", name,
						d.Format(time.DateOnly), paragraph)
				}
			}
		}
		for _, s := range anyMonth.FindAllString(text, -1) {
			if m, err := time.Parse("January 2006", s); err != nil || m.After(anchor) {
				t.Errorf("%s: %s lies after the anchor", name, s)
			}
		}
	}
	if plans < 8 {
		t.Errorf("%d planned dates; want the sample to show some", plans)
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

// TestThePDFSaysItsText holds the text beside the PDF against what a reader
// finds in it.
func TestThePDFSaysItsText(t *testing.T) {
	files := texts(t, anchor)
	text, pages, err := pdf.Text([]byte(files["cips/attachments/fee-model.pdf"]), 0)
	if err != nil || pages != 1 {
		t.Fatalf("%d pages, %v", pages, err)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if got, want := words(text), words(files["cips/attachments/fee-model.txt"]); got != want {
		t.Errorf("the PDF says\n%s\nthe text beside it\n%s", got, want)
	}
}

func TestTheDirectoryIsNoOption(t *testing.T) {
	src := network.Source{Name: "docs", Kind: "sample",
		Options: options.Of(map[string]any{"dir": "/tmp", "content_types": map[string]any{"doc_page": "doc"}})}
	if _, err := sample.Connector(anchor, nil)(src, ingest.Environment{}); err == nil ||
		!strings.Contains(err.Error(), "option dir") {
		t.Errorf("error %v", err)
	}
}

// TestThePeopleAreCalledFictional holds the page about the sample against the
// authors of everything.
func TestThePeopleAreCalledFictional(t *testing.T) {
	files := texts(t, anchor)
	readme := files["docs/handbook/README.md"]
	if !strings.Contains(readme, "The people are fictional") || !strings.Contains(readme, "network is fictional") &&
		!strings.Contains(readme, "Network is fictional") {
		t.Fatal("the page about the sample does not say that it is fictional")
	}
	for _, c := range synced(t).records {
		for author := range strings.SplitSeq(c.Author, ", ") {
			name, _, _ := strings.Cut(author, " (")
			if name != "" && !strings.Contains(readme, "| "+name+" |") {
				t.Errorf("%s: the page about the sample does not name %q", c.Ref(), name)
			}
		}
	}
}
