package options_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"almanac/text/options"
)

type ship struct {
	Name  string            `yaml:"name" required:"true"`
	Flag  string            `yaml:"flag" enum:"Red|Green"`
	Home  string            `yaml:"home" format:"address"`
	Chart string            `yaml:"chart" format:"path"`
	Log   string            `yaml:"log" format:"file"`
	Key   string            `yaml:"key_env" format:"env"`
	Slug  string            `yaml:"slug" format:"slug"`
	Paths []string          `yaml:"paths" format:"glob"`
	Every time.Duration     `yaml:"every" min:"1m"`
	Crew  int               `yaml:"crew" min:"1"`
	Depth *float64          `yaml:"depth"`
	Lit   bool              `yaml:"lit"`
	Names map[string]string `yaml:"names"`
	Boats []boat            `yaml:"boats"`
	Piers map[string]boat   `yaml:"piers"`
	Even  even              `yaml:"even"`
	Evens map[even]even     `yaml:"evens"`
	Buoys []buoy            `yaml:"buoys" unique:"name"`
	Ports []string          `yaml:"ports" unique:"true" format:"base"`
	rig   `yaml:",inline"`
}

type rig struct {
	Masts int `yaml:"masts"`
}

type buoy struct {
	Name string `yaml:"name"`
}

type boat struct {
	Name string `yaml:"name"`
	Oars int    `yaml:"oars"`
}

// Check completes a boat: no tag can say that it has two oars a name.
func (b *boat) Check() error {
	if b.Name == "" {
		return errors.New("want a name")
	}
	if b.Oars%2 != 0 {
		return options.Errorf("oars", "%d is odd", b.Oars)
	}
	b.Name = strings.ToUpper(b.Name)
	return nil
}

// even is a text of an even number of bytes.
type even string

func (e *even) UnmarshalText(text []byte) error {
	if *e = even(text); len(text)%2 != 0 {
		return fmt.Errorf("%q is odd", text)
	}
	return nil
}

// file is a network file as far as these tests know it.
type file struct {
	Options options.Node `yaml:"options"`
}

// read reads options that begin in the second line of a file.
func read(t testing.TB, text string) (options.Node, error) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("options:\n"+text), &doc); err != nil {
		t.Skip(err)
	}
	var f file
	d := options.Decoder{Noun: "key"}
	d.Value(doc.Content[0], reflect.ValueOf(&f).Elem())
	if len(d.Problems) > 0 {
		return f.Options, errors.New(d.Problems[0].String())
	}
	return f.Options.At("sea.yaml", 1), nil
}

func TestDecodeReadsEveryForm(t *testing.T) {
	n, err := read(t, `
  name: 2.10
  flag: GREEN
  home: https://example.org/{id}
  chart: "${corpus}/chart"
  slug: a-b
  paths: [docs/**]
  every: 90m
  depth: 3
  lit: true
  names: {"a::b": A, "": none}
  boats: [{name: gull, oars: 2}]
  piers: {east: {name: pier}}
  even: xy
  evens: {ab: cd}
  buoys: [{name: bell}, {}, {}, {name: lamp}]
  ports: [https://example.org/api/, https://example.org]
  masts: 3
  crew:
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := options.Decode(n, ship{Crew: 7, Flag: "Red"})
	if err != nil {
		t.Fatal(err)
	}
	want := ship{Name: "2.10", Flag: "Green", Home: "https://example.org/{id}", Chart: "${corpus}/chart", Slug: "a-b",
		Paths: []string{"docs/**"}, Every: 90 * time.Minute, Crew: 7, Depth: new(3.0), Lit: true,
		Names: map[string]string{"a::b": "A", "": "none"}, Boats: []boat{{"GULL", 2}},
		Piers: map[string]boat{"east": {"PIER", 0}}, Even: "xy",
		Evens: map[even]even{"ab": "cd"}, Buoys: []buoy{{"bell"}, {}, {}, {"lamp"}},
		Ports: []string{"https://example.org/api", "https://example.org"}, rig: rig{3}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(ship{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProblemsHaveTheirLineAndTheNearestName(t *testing.T) {
	for text, want := range map[string]string{
		"  name: a\n  evry: 1h":                             `sea.yaml:3: unknown option "evry"; did you mean "every"?`,
		"  name: a\n  zzzzzzz: 1h":                          `sea.yaml:3: unknown option "zzzzzzz"; known are name, flag, home,`,
		"  name: a\n  boats:\n    - name: x\n      oas: 1":  `sea.yaml:5: boats[1]: unknown option "oas"; did you mean "oars"?`,
		"  name: a\n  boats:\n    - name: x\n      oars: 3": `sea.yaml:5: boats[1]: oars: 3 is odd`,
		"  name: a\n  boats:\n    - oars: 2":                "sea.yaml:4: boats[1]: want a name",
		"  name: a\n  piers: {e: {}}":                       "sea.yaml:3: piers.e: want a name",
		"  name: a\n  every: soon":                          `sea.yaml:3: every: "soon" is not a duration; write 15m, 24h or 1h30m`,
		"  name: a\n  every: 5s":                            "sea.yaml:3: every: 5s is shorter than 1m0s",
		"  name: a\n  crew: 0":                              "sea.yaml:3: crew: 0 is less than 1",
		"  name: a\n  crew: many":                           `sea.yaml:3: crew: "many" is not a whole number`,
		"  name: a\n  depth: .inf":                          `sea.yaml:3: depth: ".inf" is not a number`,
		"  name: a\n  flag: gren":                           `sea.yaml:3: flag: unknown value "gren"; did you mean "Green"?`,
		"  name: a\n  home: ftp://u:secret@x":               "sea.yaml:3: home: is not a web address: want one that begins with https://",
		"  name: a\n  paths: [\"\\xff\"]":                   "",
		"  name: a\n  paths: x":                             "sea.yaml:3: paths: want a list",
		"  name: a\n  names: [x]":                           "sea.yaml:3: names: want names with values",
		"  name: a\n  lit: yes":                             `sea.yaml:3: lit: "yes" is neither true nor false`,
		"  name: a\n  even: x":                              `sea.yaml:3: even: "x" is odd`,
		"  name: a\n  even: [x]":                            "sea.yaml:3: even: want one value",
		"  name: a\n  evens: {x: yy}":                       `sea.yaml:3: evens: "x" is odd`,
		"  name: a\n  buoys:\n    - name: b\n    - name: b": `sea.yaml:5: buoys[2]: name "b" appears twice`,
		"  name: a\n  ports: [https://x.y, https://x.y//]":  "sea.yaml:3: ports[2]: appears twice",
		"  name: a\n  ports: [https://u:secret@x.y, x]":     "sea.yaml:3: ports[2]: is not a web address",
		"  name: a\n  log: ../log":                          `sea.yaml:3: log: "../log" is not a path in the network's`,
		"  name: a\n  chart: ../chart\n  log: /var/log":     "",
		"  flag: Red":                                       "sea.yaml:2: the option name is missing",
		"  name: ''":                                        "sea.yaml:2: the option name is missing",
		"  name: &x a\n  slug: *x":                          "aliases (*x) are not supported",
		"  name: a\n  <<: {slug: b}":                        "merging (<<) is not supported",
		"  name: a\n  names: {a: b, a: c}":                  "options.names.a: is a duplicate",
		"  - a":                                             "options: want names with values",
	} {
		n, err := read(t, text)
		if err == nil {
			_, err = options.Decode(n, ship{})
		}
		switch {
		case want == "":
			if err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%s\n%v", text, err)
		}
	}
	_, err := options.Decode(options.Node{}.At("sea.yaml", 7), ship{})
	if err == nil || err.Error() != "sea.yaml:7: the option name is missing" {
		t.Errorf("no options: %v", err)
	}
	_, err = options.Decode(options.Of(map[string]any{"name": "a", "crew": 0, "lit": "x"}), ship{})
	if err == nil || err.Error() != "crew: 0 is less than 1\nlit: \"x\" is neither true nor false" {
		t.Errorf("without a file: %v", err)
	}
}

func TestMapKnowsTheFields(t *testing.T) {
	given := options.Of(map[string]any{
		"chart": "a", "name": "b", "key_env": "C", "masts": 3, "paths": []any{"d"}, "names": map[string]any{"x": "e"},
		"boats": []any{map[string]any{"name": "f"}}, "other": map[string]any{"deep": "g"},
	})
	var formats []string
	got, err := given.Map(reflect.TypeFor[ship](), func(at options.Field, text string) (string, error) {
		if at.Format != "" {
			formats = append(formats, at.Format+" "+text)
		}
		return text + "!", nil
	})
	want := map[string]any{
		"chart": "a!", "name": "b!", "key_env": "C!", "masts": 3, "paths": []any{"d!"}, "names": map[string]any{"x": "e!"},
		"boats": []any{map[string]any{"name": "f!"}}, "other": map[string]any{"deep": "g!"},
	}
	if diff := cmp.Diff(want, got.Values()); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"path a", "env C", "glob d"}, formats); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if given.Text("chart") != "a" {
		t.Error("the given options changed")
	}
	_, err = given.Map(nil, func(options.Field, string) (string, error) { return "", errors.New("no") })
	if err == nil || !strings.Contains(err.Error(), "chart: no") || !strings.Contains(err.Error(), "other: deep: no") {
		t.Error(err)
	}
}

func TestTheFingerprintLeavesOutVariables(t *testing.T) {
	print := func(s ship) string { return options.Fingerprint(s) }
	same := print(ship{Name: "a", Key: "TOKEN", Names: map[string]string{"b": "1", "a": "2"}})
	if same != print(ship{Name: "a", Key: "OTHER", Names: map[string]string{"a": "2", "b": "1"}}) {
		t.Error("it changes with the name of a variable or the order of names")
	}
	for _, other := range []ship{{Name: "b"}, {Name: "a", Depth: new(0.0)}, {Name: "a", Every: time.Hour},
		{Name: "a", rig: rig{1}}, {Name: "a", Boats: []boat{{}}}, {Name: "a", Even: "xy"}} {
		if print(other) == print(ship{Name: "a"}) {
			t.Errorf("it does not change with %+v", other)
		}
	}
}

// FuzzDecode: every problem has its line, and what is read survives an export.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"  name: a\n  crew: 3", "  name: [a]", "  ? [a]\n  : b", "  name: !!binary aGk=",
		"  <<: {}", "  name: |\n    a\n  boats: [{name: x, oars: 2}]", "  name: ~\n  depth: 0o17", "  lit: !!str true",
		"  name: 1.0 # of it\n  slug: \"01\"\n  names: {2031-05-06: yes}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := read(t, text)
		if err != nil {
			return
		}
		got, err := options.Decode(n, ship{})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "sea.yaml:") {
				t.Errorf("no place: %q", err)
			}
			return
		}
		raw, err := yaml.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if n, err = read(t, "  "+strings.ReplaceAll(string(raw), "\n", "\n  ")); err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		again, err := options.Decode(n, ship{})
		if err != nil || options.Fingerprint(again) != options.Fingerprint(got) {
			t.Errorf("%v: it became\n%s", err, raw)
		}
	})
}
