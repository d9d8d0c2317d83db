package snapshot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

func TestPagesOfManyReleases(t *testing.T) {
	long := "## 0.9.0\n\n- Nine.\n\n```md\n## 0.0.1\n```\n\n````\n```\n## 0.0.2\n````\n\n## 0.8.0 " +
		"(2031-04-05)\n\n### From 0.7.0 to 0.8.0\n\n- Eight.\n\n## 0.9.0 again\n\n- Nine, too.\n"
	for name, tt := range map[string]struct {
		path, text string
		want       []string // key, title, day, body without line ends
	}{
		"each_release_is_a_record": {"tug/release-notes/pilot-boat.mdx",
			"---\ntitle: Pilot Boat\ndescription: Notes on the boat.\n---\n" + long, []string{
				"|Pilot Boat release notes|0001-01-01|Notes on the boat.",
				"#0.9.0|Pilot Boat 0.9.0|0001-01-01|## 0.9.0 - Nine. ```md ## 0.0.1 ``` ```` ``` ## 0.0.2 ```` ## " +
					"0.9.0 again - Nine, too.",
				"#0.8.0|Pilot Boat 0.8.0|2031-04-05|## 0.8.0 (2031-04-05) ### From 0.7.0 to 0.8.0 - Eight.",
			}},
		"without_an_introduction_there_is_none": {"tug/CHANGELOG.md", "# Tug changelog\n\n" +
			long[strings.Index(long, "## 0.8.0"):], []string{
			"|Tug changelog|0001-01-01|# Tug changelog",
			"#0.8.0|Tug 0.8.0|2031-04-05|## 0.8.0 (2031-04-05) ### From 0.7.0 to 0.8.0 - Eight.",
			"#0.9.0|Tug 0.9.0|0001-01-01|## 0.9.0 again - Nine, too.",
		}},
		"code_shows_versions_that_are_none": {"tug/notes.md", "## 2.0\n\n~~~\n## 1.9\n~~~\n\n```tug up```" +
			"\n\n## 1.0\n\nb\n\n```\n## 0.9\n`````\n\n## 0.8\n\nc\n", []string{
			"#2.0|Tug 2.0|0001-01-01|## 2.0 ``` ## 1.9 ``` ```tug up```",
			"#1.0|Tug 1.0|0001-01-01|## 1.0 b ``` ## 0.9 ```", "#0.8|Tug 0.8|0001-01-01|## 0.8 c"}},
		"nothing_above_the_first_is_no_record": {"tug/notes.md", "## 2.0\n\na\n\n## 1.0\n\nb\n",
			[]string{"#2.0|Tug 2.0|0001-01-01|## 2.0 a", "#1.0|Tug 1.0|0001-01-01|## 1.0 b"}},
		"a_file_called_after_a_version_is_one": {"tug/3-4-5.mdx", "---\ntitle: 3.4.5\n---\n" + long,
			[]string{"|Tug 3.4.5|0001-01-01|" + strings.Join(strings.Fields(long), " ")}},
		"a_title_that_says_more_stays": {"tug/1.0.md",
			"# Tug 1.0: the boat that pulls by itself in fog\n\ntext",
			[]string{"|Tug 1.0: the boat that pulls by itself in fog|0001-01-01|# Tug 1.0: the boat that pulls by " +
				"itself in fog text"}},
		"a_candidate_is_called_by_its_product": {"x/1.0.0-rc6.md", "# Release Candidate of Tug 1.0.0-rc6\n\ntext",
			[]string{"|Tug 1.0.0-rc6|0001-01-01|# Release Candidate of Tug 1.0.0-rc6 text"}},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := fmt.Sprintf(`{"path": %q, "source_repo": "a/b", "source_path": "x", "content_type": "note"}`,
				tt.path)
			c := within(t, small(manifest, map[string]string{tt.path: tt.text}),
				map[string]any{"split_releases": true})
			out := newRecorder()
			if _, o, err := c.Sync(context.Background(), nil, out); err != nil || !o.Complete {
				t.Fatalf("%+v, %v", o, err)
			}
			var got []string
			for _, e := range out.entries {
				got = append(got, strings.Join([]string{strings.TrimPrefix(e.Record.Key, tt.path), e.Record.Title,
					e.Record.CreatedAt.Format("2006-01-02"),
					strings.Join(strings.Fields(e.Record.Body), " ")}, "|"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a_damaged_page_leaves_the_listing_open", func(t *testing.T) {
		row := `{"path": %q, "source_repo": "a/b", "source_path": "x", "content_type": "note", "sha256": "00"}`
		for file, complete := range map[string]bool{"notes.md": false, "1.0.md": true} {
			c := within(t, small(fmt.Sprintf(row, file), map[string]string{file: "x"}),
				map[string]any{"split_releases": true})
			if _, o, err := c.Sync(context.Background(), nil, newRecorder()); err != nil || o.Complete != complete {
				t.Errorf("%s: %+v, %v; want complete %v: its releases are unknown", file, o, err, complete)
			}
		}
	})
}

// TestWhatTellsOfARepositoryIsNoRelease, unless it lists releases.
func TestWhatTellsOfARepositoryIsNoRelease(t *testing.T) {
	const notes = "# Lamps\n\n## 1.2.0\n\nBrighter.\n\n## 1.1.0\n\nDimmer."
	for _, c := range []struct {
		path, text string
		want       catalog.Kind
	}{
		{"notes/lamps/CONTRIBUTING.md", "# Contributing to the lamps\n\nSign your commits.", catalog.KindDoc},
		{"notes/lamps/README.md", "# Lamps\n\nThe keeper lights them.", catalog.KindDoc},
		{"notes/lamps/contributing/breaking-changes.md", "# Breaking changes\n\nSay so.", catalog.KindDoc},
		{"notes/lamps/README.md", notes, catalog.KindRelease},
		{"notes/lamps/CHANGELOG.md", "# Lamps\n\nNothing yet.", catalog.KindRelease},
		{"notes/lamps/1.2.0.md", "Brighter.", catalog.KindRelease},
	} {
		manifest := fmt.Sprintf(`{"path": %q, "source_repo": "a/b", "source_path": %q, "content_type": "note"}`,
			c.path, c.path)
		out := newRecorder()
		if _, _, err := within(t, small(manifest, map[string]string{c.path: c.text}), nil).Sync(t.Context(), nil, out); err !=
			nil || len(out.entries) == 0 {
			t.Fatalf("%s: %d records, %v", c.path, len(out.entries), err)
		}
		if got := out.entries[0].Record.Kind; got != c.want {
			t.Errorf("%s is a %s, want a %s", c.path, got, c.want)
		}
	}
}
