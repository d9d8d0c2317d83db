package docs

import (
	"strings"
	"testing"

	"almanac/text/webaddress"
)

func TestFront(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want front
	}{
		"none":   {"# Lamps\n\n---\nslug: x\n---\n", front{}},
		"a slug": {"---\nslug: lamps\n---\n", front{Slug: "lamps"}},
		"lines of CRLF": {"\ufeff---\r\nslug: /lamps\r\ndraft: true\r\n---\r\n",
			front{Slug: "/lamps", Hidden: true}},
		"a number":             {"---\nslug: 12\nid: 3\n---\n", front{}},
		"an address":           {"---\nslug: https://example.org/x\nid: lamps\n---\n", front{Slug: "lamps"}},
		"an id with a path":    {"---\nid: a/b\n---\n", front{}},
		"a relative permalink": {"---\npermalink: x\n---\n", front{}},
		"a long slug":          {"---\nslug: " + strings.Repeat("x", maxSlug+1) + "\n---\n", front{}},
		"quoted words":         {"---\nhidden: \"true\"\n---\n", front{Hidden: true}},
		"shown":                {"---\ndraft: false\nhidden: no\npublished: true\n---\n", front{}},
		"not published":        {"---\npublished: false\n---\n", front{Hidden: true}},
		"unlisted":             {"---\nunlisted: true\n---\n", front{Hidden: true}},
		"never closed":         {"---\ndraft: true\n", front{}},
		"no YAML":              {"---\ndraft: [true\n---\n", front{}},
		"empty":                {"---\n---\n", front{}},
		"TOML":                 {"+++\ndraft = true\nslug = \"/lamps\"\ndate = 2031-05-04\n+++\n", front{"/lamps", true}},
		"TOML, not published":  {"\n+++  \npublished = false\n+++\n", front{Hidden: true}},
		"TOML, of a table":     {"+++\n[menu]\ndraft = true\n+++\n", front{}},
		"TOML, never closed":   {"+++\ndraft = true\n", front{}},
		"no TOML":              {"+++\ndraft = [true\n+++\n", front{}},
		"a list":               {"---\n- draft: true\n---\n", front{}},
	} {
		if got := readFront(tt.text); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func FuzzFront(f *testing.F) {
	for _, text := range []string{
		"---\nslug: ../../x\n---\n", "---\nslug: //x//\n---\n", "---\na: &a [*a,*a]\nslug: *a\n---\n",
		"---\n? slug\n: x\n---", "---\r\nslug: \xff\r\n---\r\n",
		"---\nslug: " + strings.Repeat("[", 2000) + "\n---\n", "---\nslug: .\n---\n", "---\nslug: /\n---\n", "", "---",
		"+++\nslug = \"//x//\"\n+++\n", "+++\nslug = '''\na'''\n+++\n", "+++\na = [[[[\n+++\n",
		"---\n1: 2\nslug: é\n---\n", "---\nslug: |\n a\n b\n---\n",
	} {
		f.Add(text, "guide/lamps.md")
	}
	f.Fuzz(func(t *testing.T, text, below string) {
		m := readFront(text)
		if len(m.Slug) > maxSlug {
			t.Errorf("a slug of %d bytes", len(m.Slug))
		}
		if !published(below) {
			return
		}
		p := page{file: below, below: below}
		address := webaddress.Fill("https://docs.example.org/{page}", map[string]string{"{page}": p.address(m)}, "{page}")
		if !strings.HasPrefix(address, "https://docs.example.org/") ||
			strings.ContainsAny(address[len("https://"):], " \n?#\\<>\"") {
			t.Errorf("%q of slug %q has the address %q", below, m.Slug, address)
		}
	})
}
