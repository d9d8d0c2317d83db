package table_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"almanac/text/table"
)

func TestFind(t *testing.T) {
	const data = `{"a": {"b": [{"n": "x", "v": 1}, {"n": "y.z", "v": [2, 3]}], "": 7, "c.d": 8, "e=f": 9, "0": 10,
		"g\\": 11}, "n": null, "t": true}`
	for text, want := range map[string]string{
		"": data, "a.b.0.v": "1", "a.b.1.v.1": "3", "a.b.2": "", "a.b.-1": "", "a.b.x": "", "a.x.y": "", "n": "",
		"n.x": "", "t.x": "",
		`a.c\.d`: "8", `a.e\=f`: "9", `a.g\\`: "11", "a.0": "10", "a.b.n=x.v": "1", `a.b.n=y\.z.v.0`: "2",
		"a.b.v=1.n": `"x"`, "a.b.n=q.v": "", "a.n=x": "", "t": "true", "a.b.0.n": `"x"`,
		"a.c.d": "8", "a.e=f": "9", // the last name may have what is escaped elsewhere
	} {
		if got := table.Path(text).Find(json.RawMessage(data)); string(got) != want {
			t.Errorf("%q leads to %s, want %s", text, got, want)
		}
	}
}

// TestOption: a path that cannot lead anywhere is refused where it is written.
func TestOption(t *testing.T) {
	for _, text := range []string{"''", "a", "a.b.0.c", "0", `a\.b`, "n=x", "n="} {
		var p table.Path
		if err := yaml.Unmarshal([]byte(text), &p); err != nil || string(p) != strings.Trim(text, "'") {
			t.Errorf("%s is %q, %v", text, p, err)
		}
	}
	for text, want := range map[string]string{".": "no name", "a.": "no name", ".a": "no name", "a..b": `path "a..b"`,
		`a\`: "backslash", "'=x'": "no name", "'a.=x'": "no name", "[a]": "cannot unmarshal"} {
		var p table.Path
		if err := yaml.Unmarshal([]byte(text), &p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %q, %v; want %s", text, p, err, want)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, text := range []string{"", "a.b.0.c", `a\.b`, "a=b=c.d", "..", `\`, "0", "-1", "99999999999999999999",
		"a.n=x.v", "\xff.\x00"} {
		f.Add(text, `{"a": {"b": [{"c": 1}]}, "0": [null, "x", -5, 1e400]}`)
	}
	f.Add("a.0.b", `{"a": [`)
	f.Fuzz(func(t *testing.T, text, data string) {
		if !json.Valid([]byte(data)) {
			return
		}
		if found := table.Path(text).Find(json.RawMessage(data)); found != nil && !json.Valid(found) {
			t.Errorf("%q leads to %q", text, found)
		}
	})
}
