package networks_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/catalog/network"
	"almanac/ingest/networks"
)

const lagoon = `# The lagoon.
name: lagoon            # of the data directory
title: Lagoon Network
authority: {docs: 0.8,  forum: 0.5}

sources:
  # What keepers read.
  - name: docs          # with a comment
    kind: docs
    options:
      folder: docs

      # in it
      url: |
        # no comment

  # Where they talk.
  - kind: forum
    name: "forum"
    options: {url: "https://forum.example.org"}
    # the end of it

  #- name: blog
  #  kind: feed
  - name: notes
    kind: docs

# The end.
`

func entry(t *testing.T, name, kind string, options ...string) (e networks.Entry) {
	t.Helper()
	e.Name, e.Kind = name, kind
	for _, o := range options {
		key, value, _ := strings.Cut(o, "=")
		if err := e.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// TestEditsKeepAllOtherLines compares whole files.
func TestEditsKeepAllOtherLines(t *testing.T) {
	added := entry(t, "site", "site", "url=https://www.example.org/", "exclude=[a, b]", "depth=3")
	for _, tt := range []struct {
		name     string
		edit     func(string) ([]byte, error)
		old, new string // of the text
	}{
		{"add", func(s string) ([]byte, error) { return networks.Add("f", []byte(s), added) },
			"  - name: notes\n    kind: docs\n", "  - name: notes\n    kind: docs\n\n  - name: site\n    kind: site\n" +
				"    options:\n      url: https://www.example.org/\n      exclude: [a, b]\n      depth: 3\n"},
		{"rename", func(s string) ([]byte, error) { return networks.Rename("f", []byte(s), "notes", "logs") },
			"- name: notes", "- name: logs"},
		{"remove", func(s string) ([]byte, error) { return networks.Remove("f", []byte(s), "forum") },
			lagoon[strings.Index(lagoon, "  # Where"):strings.Index(lagoon, "  #- name")], ""},
		{"remove the first", func(s string) ([]byte, error) { return networks.Remove("f", []byte(s), "docs") },
			lagoon[strings.Index(lagoon, "  # What"):strings.Index(lagoon, "\n  # Where")], ""},
		{"remove below one that is commented out",
			func(s string) ([]byte, error) { return networks.Remove("f", []byte(s), "notes") },
			"  - name: notes\n    kind: docs\n", ""},
	} {
		for _, newline := range []string{"\n", "\r\n"} {
			ends := strings.NewReplacer("\n", newline)
			got, err := tt.edit(ends.Replace(lagoon))
			if want := ends.Replace(strings.Replace(lagoon, tt.old, tt.new, 1)); err != nil || string(got) != want {
				t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, want)
			}
		}
	}
}

// TestARenamedSourceKeepsItsAuthority: it is set by name.
func TestARenamedSourceKeepsItsAuthority(t *testing.T) {
	for from, to := range map[string]string{"docs": "a-longer-name", "forum": "f"} {
		got, err := networks.Rename("f", []byte(lagoon), from, to)
		if err != nil {
			t.Fatal(err)
		}
		n, err := network.Parse("f", got)
		if _, old := n.Authority[from]; err != nil || old || n.Authority[to] == 0 || len(n.Authority) != 2 {
			t.Errorf("%v, %v", n.Authority, err)
		}
	}
}

func TestWhatIsNotEdited(t *testing.T) {
	for name, tt := range map[string]struct {
		edit func([]byte) ([]byte, error)
		text string
		want string
	}{
		"no such source": {func(b []byte) ([]byte, error) { return networks.Remove("f", b, "note") }, lagoon,
			`f has no source "note"; did you mean "notes"?`},
		"a name that is taken": {func(b []byte) ([]byte, error) { return networks.Rename("f", b, "notes", "docs") }, lagoon,
			"a source docs already"},
		"an added name that is taken": {func(b []byte) ([]byte, error) {
			return networks.Add("f", b, networks.Entry{Name: "docs", Kind: "docs"})
		}, lagoon, `source "docs" is already defined`},
		"no name": {func(b []byte) ([]byte, error) { return networks.Rename("f", b, "notes", "My notes") }, lagoon,
			"lower-case letters"},
		"the only source": {func(b []byte) ([]byte, error) { return networks.Remove("f", b, "docs") },
			"name: a\ntitle: A\nsources:\n- name: docs\n  kind: docs\n", "its only source"},
		"a list in one line": {func(b []byte) ([]byte, error) { return networks.Rename("f", b, "docs", "notes") },
			"name: a\ntitle: A\nsources: [{name: docs, kind: docs}]\n", "`- name: …` for each"},
		"an invalid file": {func(b []byte) ([]byte, error) { return networks.Rename("f", b, "docs", "notes") },
			"name: a\nsources: []\n", "f:"},
		"an invalid file to remove from": {func(b []byte) ([]byte, error) { return networks.Remove("f", b, "docs") },
			"name: a\nsources: []\n", "f:"},
		"a name like none of them": {func(b []byte) ([]byte, error) {
			return networks.Rename("f", b, "zzzzzzzz", "logs")
		}, lagoon, `f has no source "zzzzzzzz"; it has docs, forum, notes`},
		"a name that is written otherwise": {func(b []byte) ([]byte, error) {
			return networks.Rename("f", b, "docs", "logs")
		}, strings.Replace(lagoon, "name: docs ", `name: "\u0064ocs" `, 1), "change it by hand"},
	} {
		if got, err := tt.edit([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// TestNoBlankLineStaysAtTheEnd: it stood between the last source and the one before.
func TestNoBlankLineStaysAtTheEnd(t *testing.T) {
	const rest = "name: a\ntitle: A\nsources:\n- name: docs\n  kind: docs\n"
	got, err := networks.Remove("f", []byte(rest+"\n# Where they talk.\n- name: forum\n  kind: forum\n"), "forum")
	if err != nil || string(got) != rest {
		t.Errorf("%v\n%q\nwant\n%q", err, got, rest)
	}
}

// TestAnOptionIsOneValueOfYAML: what is none would break the file that it is written to.
func TestAnOptionIsOneValueOfYAML(t *testing.T) {
	for _, value := range []string{"", "[a, b", `"open`, "a: b: c"} {
		var e networks.Entry
		err := e.Set("url", value)
		if err == nil || !strings.Contains(err.Error(), "option url: ") || e.Options != nil {
			t.Errorf("%q: %v, options %v", value, err, e.Options)
		}
	}
}

// FuzzEdit adds to, renames in and removes from any file: each edit gives a valid file
// with just those sources, whose other lines are those that were there.
func FuzzEdit(f *testing.F) {
	f.Add(lagoon)
	f.Add("name: a\ntitle: A\nsources:\n- name: docs\n  kind: docs")
	f.Add("name: a\ntitle: A\nsources:\n-   name: 'docs'\n    kind: docs\n# x\n\n\n-\n  name: b\n  kind: feed\n")
	f.Fuzz(func(t *testing.T, text string) {
		added, err := networks.Add("f", []byte(text), networks.Entry{Name: "an-added-one", Kind: "docs"})
		if err != nil {
			return
		}
		renamed, err := networks.Rename("f", added, "an-added-one", "another")
		if err != nil {
			t.Fatalf("%v\n%s", err, added)
		}
		if n, err := network.Parse("f", renamed); err != nil || n.Sources[len(n.Sources)-1].Name != "another" {
			t.Fatalf("%v\n%s", err, renamed)
		}
		removed, err := networks.Remove("f", renamed, "another")
		if err != nil || !slices.Equal(said(string(removed)), said(text)) {
			t.Fatalf("%v\n%q\n%q", err, removed, text)
		}
	})
}

// said are the lines that say something.
func said(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
}
