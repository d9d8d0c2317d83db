package onboarding

import (
	"fmt"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

func TestPickLessons(t *testing.T) {
	n := int64(0)
	rec := func(kind catalog.Kind, state string, tags ...string) catalog.Record {
		n++
		return catalog.Record{ID: n, Kind: kind, Title: fmt.Sprint(n), State: state, Tags: tags}
	}
	doc := func(title, version string) catalog.Record {
		n++
		return recordtest.With(catalog.Record{ID: n, Kind: catalog.KindDoc, Title: title}, catalog.Doc{Version: version})
	}
	got := pickLessons([]catalog.Record{
		// 1 2 3
		rec(catalog.KindCIP, "Rejected"), rec(catalog.KindCIP, "Final"), rec(catalog.KindDoc, "", catalog.TagStub),
		doc("Upgrade", "2.4"), doc("Upgrade", "2.5"), doc("Upgrade", ""), doc("Only old", "2.4"), // 4 5 6 7
		rec(catalog.KindVideo, ""), rec(catalog.KindVideo, ""), rec(catalog.KindBlog, ""), // 8 9 10
		rec(catalog.KindTopic, "open"), rec(catalog.KindTopic, "open"), rec(catalog.KindTopic, "open"), // 11 12 13
		// 14 … 18
		rec(catalog.KindWhitepaper, ""), rec(catalog.KindDoc, ""), rec(catalog.KindDoc, ""),
		rec(catalog.KindCIP, "Draft"), rec(catalog.KindCIP, "Review"),
	})
	if want := "14 6 7 15 2 17 11 12 8"; recordtest.IDs(got) != want {
		t.Errorf("%s, want %s", recordtest.IDs(got), want)
	}
}

func TestLessons(t *testing.T) {
	words := func(n int) string { return strings.Repeat("word ", n) }
	day := func(n int) catalog.Record { return catalog.Record{CreatedAt: recordtest.Noon.AddDate(0, 0, n)} }
	rec := func(id int64, kind catalog.Kind, path string, created, length int) catalog.Record {
		return catalog.Record{ID: id, Kind: kind, Path: path, CreatedAt: day(created).CreatedAt, Body: words(length)}
	}
	video := func(id int64, seconds *int, cues []catalog.Cue, length int) catalog.Record {
		return recordtest.With(catalog.Record{ID: id, Kind: catalog.KindVideo, Body: words(length),
			CreatedAt: day(int(id)).CreatedAt},
			catalog.Video{Seconds: seconds, Cues: cues})
	}
	got := inOrder([]catalog.Record{
		video(1, new(605), []catalog.Cue{{Seconds: 3}}, 9),
		video(2, nil, []catalog.Cue{{Seconds: 3}, {Seconds: 121}}, 9), video(3, nil, nil, 400),
		rec(4, catalog.KindCIP, "a/b/c/d.md", 2, 200), rec(5, catalog.KindCIP, "a.md", 1, 210),
		rec(6, catalog.KindDoc, "docs/a/b.md", 0, 1), rec(7, catalog.KindDoc, "docs/b.md", 9, 900),
		rec(8, catalog.KindDoc, "docs/c.md", 9, 899),
		rec(9, catalog.KindTopic, "", 0, 0), rec(10, catalog.KindWhitepaper, "", 99, 4000),
	})
	var line []string
	for _, l := range got {
		if l.Why == "" {
			t.Errorf("%d: no reason", l.Record.ID)
		}
		line = append(line, fmt.Sprintf("%d:%d", l.Record.ID, l.Minutes))
	}
	if want := "10:20 8:5 7:5 6:1 5:2 4:1 9:1 1:11 2:3 3:2"; strings.Join(line, " ") != want {
		t.Errorf("%s, want %s", strings.Join(line, " "), want)
	}
}
