package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontMatterIsCutOff(t *testing.T) {
	long := "x: [1" + strings.Repeat(",1", MaxFront/2) + "]\n"
	for _, c := range []struct {
		name, text, block, body string
		closed, ok              bool
	}{
		{"YAML", "---\na: b\n---\nc", "a: b\n", "c", true, true},
		{"YAML that dots close", "\n \n--- \na: b\n...\nc", "a: b\n", "c", true, true},
		{"TOML", "+++\na = 1\n...\n+++\nc", "a = 1\n...\n", "c", true, true},
		{"nothing in it", "---\n---\nc", "", "c", true, true},
		{"the whole text", "---\na: b\n---", "a: b\n", "", true, true},
		{"remarks", "---\n# of the site\na: b\n\n# more\n# c\nd: e\n---\nf", "# of the site\na: b\n\n# more\n# c\nd: e\n", "f",
			true, true},
		{"a list", "---\n- a: b\n---\nc", "- a: b\n", "c", true, true},
		{"nothing closes it", "---\na: b\nc: d\n\n# e\n", "a: b\nc: d\n", "\n# e\n", false, true},
		{"none", "a: b\n---\n", "", "a: b\n---\n", false, false},
		{"a rule", "---\n\n# a\n\n---\nb", "", "---\n\n# a\n\n---\nb", false, false},
		{"a text between rules", "---\na b\n---\nc", "", "---\na b\n---\nc", false, false},
		{"code below a rule", "---\n```\na: b\n```\n---\nc", "", "---\n```\na: b\n```\n---\nc", false, false},
		{"TOML that nothing closes", "+++\na = 1\n", "", "+++\na = 1\n", false, false},
		{"too large", "---\n" + long + "---\na", long, "---\n" + long + "---\na", false, false},
	} {
		f, body, ok := CutFront(c.text)
		if f.Block != c.block || body != c.body || f.Closed != c.closed || ok != c.ok {
			t.Errorf("%s: %+v, %q, %v", c.name, f, body, ok)
		}
	}
}

func TestFieldsOfFrontMatter(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Field
	}{
		{"---\nb: x\na: [1, y, [z]]\nc: |\n  d\n  e\nf:\ng: {h: i}\n---\n",
			[]Field{{"b", []string{"x"}}, {"a", []string{"1", "y"}}, {"c", []string{"d", "e", ""}}, {Key: "f"}}},
		{"+++\nb = \"x\"\na = [1, \"y\"]\nd = 2031-05-04\n[g]\nh = 1\n+++\n",
			[]Field{{"a", []string{"1", "y"}}, {"b", []string{"x"}}, {"d", []string{"2031-05-04"}}}},
		{"---\na: [{name: Ana Gull, github: anagull}, {github: hal}, {handle: \"@ida\"}, {x: y}, Bo]\n---\n",
			[]Field{{"a", []string{"Ana Gull", "@hal", "@ida", "Bo"}}}},
		{"+++\n[[a]]\nname = \"Ana Gull\"\n[[a]]\ngithub = \"hal\"\n+++\n", []Field{{"a", []string{"Ana Gull", "@hal"}}}},
		{"---\n- a: b\n---\n", nil},
	} {
		f, _, _ := CutFront(c.text)
		got, err := f.Fields()
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", c.text, err, diff)
		}
	}
	for _, text := range []string{"---\na: [\n---\n", "+++\na = [\n+++\n"} {
		f, _, _ := CutFront(text)
		if _, err := f.Fields(); err == nil {
			t.Errorf("%q has fields", text)
		}
	}
}

func TestTextOfFrontMatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: b\n---\n": "b", "---\na: 3.10\n---\n": "3.10", "---\nx: [\na: \"b\"\n---\n": "b",
		"---\nx:\n  a: b\n---\n": "", "+++\na = 'b'\n+++\n": "b", "+++\nx = [\na = \"b\"\n+++\n": "b",
		"+++\n[x]\na = \"b\"\n+++\n": "",
	} {
		f, _, _ := CutFront(text)
		if got := f.Text("a"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzFrontMatter holds that nothing of a text is lost, and that what is cut off
// is bounded and can be read.
func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{"", "---\na: b\n---\nc", "+++\na = \"b\"\n[c]\n+++\n", "---\na: &a [*a,*a]\n---\n", "---\n? a\n: b\n...",
		"---\n# a\nb: c\n---", "+++\na = [[[[\n+++", "---\na: b\n\nc", "---\n1: 2\n---\n", "+++\r\na = 1\r\n+++"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		front, body, ok := CutFront(text)
		switch {
		case !ok && body != text:
			t.Fatalf("%q lost all but %q", text, body)
		case ok && (!strings.HasSuffix(text, body) || !strings.Contains(text[:len(text)-len(body)], front.Block)):
			t.Fatalf("%q became %+v and %q", text, front, body)
		case ok && len(front.Block) > MaxFront:
			t.Fatalf("%d bytes", len(front.Block))
		case ok:
			fields, err := front.Fields()
			if _, readable := front.Values(); err != nil && readable == nil && len(fields) > 0 {
				t.Fatalf("%q: %v", text, err)
			}
			front.Text("a")
		}
	})
}
