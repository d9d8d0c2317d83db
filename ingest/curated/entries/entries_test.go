package entries_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/ingest/curated/entries"
)

type buoy struct {
	Name   string   `json:"name" jsonschema:"what it is called"`
	Slug   string   `json:"slug,omitempty" format:"slug"`
	Colour string   `json:"colour,omitempty" enum:"Red|Green|Sui/Move"`
	Depth  int      `json:"depth,omitempty"`
	Lit    bool     `json:"lit,omitempty"`
	Sure   *bool    `json:"sure,omitempty"`
	Laid   string   `json:"laid,omitempty" format:"date"`
	URL    string   `json:"url,omitempty"`
	Tags   []string `json:"tags"`
	Repos  []string `json:"repos" format:"repository"`
	Marks  []mark   `json:"marks"`
}

type mark struct {
	Title string   `json:"title"`
	URL   string   `json:"url"`
	Notes []string `json:"notes"`
}

// outcome returns the names of the entries that Read finds, and the problems.
func outcome(t *testing.T, name, text string) (names, problems []string) {
	t.Helper()
	list, err := entries.Read[buoy](name, []byte(text))
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, e := range list {
		if line, err := e.Err(); err != nil {
			problems = append(problems, fmt.Sprintf("%d: %s", line, err))
		} else {
			names = append(names, e.Value.Name)
		}
	}
	return names, problems
}

func TestYAML(t *testing.T) {
	list, err := entries.Read[buoy]("b.yaml",
		[]byte("\ufeff# a comment\n- name: Tide\n  colour: red\n  depth: 12\n  lit: true\n  sure: false\n  laid: "+
			"2031-06-17\n"+
			"  url: https://example.org/tide\n  tags: [a, b]\n  repos: [causeway/node]\n  marks:\n    - {title: X, "+
			"url: \"https://example.org/x\"}\n- name: Ebb\n"))
	if err != nil {
		t.Fatal(err)
	}
	no := false
	want := []entries.Entry[buoy]{
		{Line: 2, Value: buoy{
			Name: "Tide", Colour: "Red", Depth: 12, Lit: true, Sure: &no, Laid: "2031-06-17",
			URL: "https://example.org/tide", Tags: []string{"a", "b"},
			Repos: []string{"causeway/node"}, Marks: []mark{{"X", "https://example.org/x", []string{}}},
		}},
		{Line: 13, Value: buoy{Name: "Ebb", Tags: []string{}, Repos: []string{}, Marks: []mark{}}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCSV(t *testing.T) {
	for name, text := range map[string]string{
		"commas": "\ufeffname,colour,depth,lit,tags,laid\r\nTide,red,12,yes,\"a; " +
			"b;\",2031-06-17\r\n,,,,,\r\n\"Ebb, the \"\"low\"\"\nof all\",,,,,\r\n",
		"semicolons": "Name;Colour;Depth;Lit;Tags;Laid\nTide;red;12;TRUE;\"a;b\";2031-06-17\n\"Ebb, the " +
			"\"\"low\"\"\nof all\"\n",
	} {
		list, err := entries.Read[buoy]("b.csv", []byte(text))
		if err != nil || len(list) != 2 {
			t.Fatalf("%s: %d entries, %v", name, len(list), err)
		}
		want := buoy{Name: "Tide", Colour: "Red", Depth: 12, Lit: true, Laid: "2031-06-17", Tags: []string{"a", "b"},
			Repos: []string{}, Marks: []mark{}}
		if diff := cmp.Diff(want, list[0].Value); diff != "" || len(list[0].Problems) > 0 {
			t.Errorf("%s: %v (-want +got)\n%s", name, list[0].Problems, diff)
		}
		if list[1].Value.Name != "Ebb, the \"low\"\nof all" ||
			list[1].Line != map[string]int{"commas": 4, "semicolons": 3}[name] {
			t.Errorf("%s: %+v", name, list[1])
		}
	}
}

func TestBadEntries(t *testing.T) {
	tests := map[string]struct{ file, text, want string }{
		"unknown field": {"b.yaml", "- name: A\n- name: B\n  colur: red\n",
			`3: unknown field "colur"; did you mean "colour"?`},
		"far field": {"b.yaml", "- name: B\n  zzzzzzzzzz: red\n",
			`2: unknown field "zzzzzzzzzz"; known are name, slug, colour, depth, lit, sure, laid, url, tags, repos, marks`},
		"required": {"b.yaml", "- slug: b\n", "1: the field name is missing"},
		"enum": {"b.yaml", "- name: B\n  colour: gren\n",
			`2: colour: unknown value "gren"; did you mean "Green"?`},
		"number":  {"b.yaml", "- name: 2.10\n", "1: name: 2.10 is not text; write it in quotes"},
		"truth":   {"b.yaml", "- name: true\n", "1: name: true is not text; write it in quotes"},
		"nothing": {"b.yaml", "- name: B\n  slug:\n", "2: slug: has no value; leave it out if there is none"},
		"empty":   {"b.yaml", "- name: ''\n", "1: name: is empty; leave it out if there is none"},
		"slug": {"b.yaml", "- name: B\n  slug: No Slug\n",
			`2: slug: "No Slug" is not a slug: want lower-case letters, digits and hyphens`},
		"date": {"b.yaml", "- name: B\n  laid: 17.6.2031\n",
			`2: laid: "17.6.2031" is not a date: want one such as 2031-06-17`},
		"no such day": {"b.yaml", "- name: B\n  laid: 2031-02-30\n",
			`2: laid: "2031-02-30" is not a date: want one such as 2031-06-17`},
		"url": {"b.yaml", "- name: B\n  url: javascript:alert(1)\n",
			`2: url: is not a web address: want one that begins with https:// and has no user`},
		"nested": {"b.yaml", "- name: B\n  marks:\n    - title: X\n      url: ftp://example.org\n",
			`4: marks[1].url: is not a web address: want one that begins with https:// and has no user`},
		"nested required": {"b.yaml", "- name: B\n  marks:\n    - title: X\n", "3: marks[1]: the field url is missing"},
		"integer":         {"b.yaml", "- name: B\n  depth: deep\n", `2: depth: "deep" is not a whole number`},
		"fraction":        {"b.yaml", "- name: B\n  depth: 1.5\n", `2: depth: "1.5" is not a whole number`},
		"yes":             {"b.yaml", "- name: B\n  lit: yes\n", `2: lit: "yes" is neither true nor false`},
		"no list":         {"b.yaml", "- name: B\n  tags: red\n", "2: tags: want a list"},
		"no value":        {"b.yaml", "- name: [B]\n", "1: name: want one value, not a list or fields"},
		"repository": {"b.yaml", "- name: B\n  repos: [node]\n",
			`2: repos[1]: "node" is not a repository: want owner/name`},
		"alias":      {"b.yaml", "- &a {name: B}\n- *a\n", "2: aliases (*a) are not supported; write the value out"},
		"no mapping": {"b.yaml", "- name: A\n- just text\n", "2: want fields with values"},
		"twice":      {"b.yaml", "- name: B\n  slug: a\n  slug: b\n", "3: slug: is a duplicate"},
		"several": {"b.yaml", "- name: B\n  lit: 3\n\n  depht: 3\n",
			`2: lit: "3" is neither true nor false; line 4: unknown field "depht"; did you mean "depth"?`},
		"cell": {"b.csv", "name,colour\nA,red\nB,blue\n",
			`3: colour: unknown value "blue"; known are Red, Green, Sui/Move`},
		"no cell": {"b.csv", "name,colour\n,red\n", "2: the field name is missing"},
		"many cells": {"b.csv", "name,colour\nB,red,3\n",
			`2: unknown field "cell 3"; known are name, slug, colour, depth, lit, sure, laid, url, tags, repos, marks`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			names, problems := outcome(t, tt.file, tt.text)
			if len(problems) != 1 || problems[0] != tt.want {
				t.Errorf("problems %q\nwant %q", problems, tt.want)
			}
			if strings.Contains(tt.text, "A") && (len(names) != 1 || names[0] != "A") {
				t.Errorf("the good entries are %q", names)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	tests := map[string]struct{ file, text, want string }{
		"empty":   {"b.yaml", "", "b.yaml:1: the file is empty; write [] for no entries"},
		"comment": {"b.yaml", "# none\n", "b.yaml:1: the file is empty; write [] for no entries"},
		"mapping": {"b.yaml", "\nname: B\n", "b.yaml:2: want a list of entries, each beginning with a hyphen"},
		"two documents": {"b.yaml", "- name: B\n---\n- name: C\n",
			"b.yaml:2: a second document begins; a file is one list of entries"},
		"tab": {"b.yaml", "- name: B\n\tslug: b\n",
			"b.yaml:2: found a tab character that violates indentation"},
		"latin": {"b.yaml", "- name: B\n- name: \xe4\n",
			"b.yaml:2: this is not UTF-8 text; save the file in that encoding"},
		"no rows":        {"b.csv", "", "b.csv:1: the file is empty; its first row must name the fields"},
		"unknown column": {"b.csv", "name,colur\nB,red\n", `b.csv:1: unknown column "colur"; did you mean "colour"?`},
		"nested column": {"b.csv", "name,marks\nB,x\n",
			`b.csv:1: column "marks": its values have fields, which only a YAML file can hold`},
		"column twice": {"b.csv", "name,Name\nB,x\n", `b.csv:1: column "name" is a duplicate`},
		"quote":        {"b.csv", "name\n\"B\nC\n", `b.csv:3: extraneous or missing " in quoted-field`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, problems := outcome(t, tt.file, tt.text); len(problems) != 1 || problems[0] != tt.want {
				t.Errorf("problems %q\nwant %q", problems, tt.want)
			}
		})
	}
	if names, problems := outcome(t, "b.yaml", "[]"); names != nil || problems != nil {
		t.Errorf("an empty list: %v, %v", names, problems)
	}
	huge := strings.Repeat("- name: B\n", 1<<20)
	if _, problems := outcome(t, "b.yaml", huge); len(problems) != 1 || !strings.Contains(problems[0], "limit") {
		t.Errorf("a huge file: %.200v", problems)
	}
}

// TestSchema compares the schema with the results of Read.
func TestSchema(t *testing.T) {
	raw, err := entries.Schema[buoy]("buoys")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := s.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		"- {name: A, colour: Red, depth: 3, lit: true, sure: true, laid: '2031-06-17', tags: [a], repos: [a/b], " +
			"marks: [{title: X, url: 'https://example.org'}]}": true,
		"- {name: A}": true, "[]": true, "- {}": false, "- {name: A, colur: Red}": false,
		"- {name: A, colour: Blue}": false, "- {name: 3}": false,
		"- {name: A, repos: [a]}": false, "- {name: A, marks: [{title: X}]}": false, "- {name: A, slug: A B}": false,
		"name: A":              false,
		"- {name: A, tags: x}": false, "- {name: A, url: 'mailto:x'}": false, "- {name: A, depth: 1.5}": false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); (err == nil) != good {
			t.Errorf("schema of %s: %v", text, err)
		}
		if _, problems := outcome(t, "b.yaml", text); (problems == nil) != good {
			t.Errorf("Read of %s: %v", text, problems)
		}
	}
	if !strings.Contains(string(raw), "what it is called") {
		t.Error("the schema describes nothing")
	}
}

func FuzzYAML(f *testing.F) {
	for _, s := range []string{
		"- name: Tide\n  marks: [{title: X, url: https://example.org}]\n", "- &a {name: [*a]}",
		"- !!binary aGk=\n- <<: {}\n", "- name: |\n    two\n    lines\n  ? [a]\n  : b\n",
		"[[[[[[[[", "- {name: !!int x}", "%YAML 9.9\n--- []\n...", "- name: \"\\x00\"\n", "\xff\xfe-\x00",
		"- name: ~\n  depth: 0o17\n  lit: !!str true",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, "b.yaml", text) })
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"name,colour\nTide,red\n", "name;tags\nA;\"x;y\"\n", "\ufeffname\r\n\"a\nb\"\r\n", "name\n\"", "name,\n,\n",
		",", "name\n\n\n", "name,name\n", "name\rA\r", "depth,name\n9999999999999999999,B",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, "b.csv", text) })
}

// check requires of every file: entries have lines of it, and good ones obey
// the rules.
func check(t *testing.T, name, text string) {
	list, err := entries.Read[buoy](name, []byte(text))
	if err != nil {
		if !strings.HasPrefix(err.Error(), name+":") {
			t.Errorf("%q does not name the place", err)
		}
		return
	}
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text,
		"\u2028") + strings.Count(text, "\u2029") + 1
	for _, e := range list {
		if line, err := e.Err(); line < 1 || line > lines {
			t.Errorf("line %d of %d: %v", line, lines, err)
		}
		if e.Value.Tags == nil || e.Value.Repos == nil || e.Value.Marks == nil {
			t.Errorf("a list is nil: %+v", e)
		}
		if len(e.Problems) == 0 && (e.Value.Name == "" ||
			e.Value.Colour != "" && !strings.Contains("Red|Green|Sui/Move", e.Value.Colour)) {
			t.Errorf("wrongly good: %+v", e)
		}
	}
}
