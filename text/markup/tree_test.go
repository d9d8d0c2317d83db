package markup_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"almanac/text/markup"
)

func TestTree(t *testing.T) {
	for _, tt := range []struct{ dir, section, version, page, pageVersion string }{
		{"docs/2.10/operate/install", "operate", "2.10", "operate", "2.10"},
		{"docs", "", "", "", ""}, {"", "", "", "", ""}, {".", "", "", "", ""},
		{"v1.2.3/a/b", "a", "1.2.3", "a", "1.2.3"}, {"/about/team/", "about", "", "about", ""},
		{"product-2.10/src/guide", "guide", "2.10", "product-2.10", ""},
		{"product_v3.4/guide", "guide", "3.4", "product_v3.4", ""},
		{"product-2.10-rc/x", "product-2.10-rc", "", "product-2.10-rc", ""},
		{"docs-main/latest/en/guide", "latest", "", "docs-main", ""}, {"latest/en/content", "latest", "", "content", ""},
		{"docs/2.10.4.1", "2.10.4.1", "", "2.10.4.1", ""}, {"a-1.2/b-3.4", "", "1.2", "a-1.2", ""},
	} {
		if s, v := markup.Files.Section(tt.dir), markup.Files.Version(tt.dir); s != tt.section || v != tt.version {
			t.Errorf("files in %q: %q, %q", tt.dir, s, v)
		}
		s, v := markup.Addresses.Section(tt.dir), markup.Addresses.Version(tt.dir)
		if s != tt.page || v != tt.pageVersion {
			t.Errorf("addresses in %q: %q, %q", tt.dir, s, v)
		}
	}
}

// whole finds the version in a path at once.
var whole = regexp.MustCompile(`(?:^|[/_-])v?(\d+\.\d+(?:\.\d+)?)(?:/|$)`)

func FuzzTree(f *testing.F) {
	for _, file := range []string{"docs/product-2.10/a.md", "v1.2/a-3.4/x", "a\n-1.2/b.md", "1.2-3.4/x", "//",
		"-v1.2.3.4/_1.0/x"} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		dir := path.Dir(file)
		want := ""
		if m := whole.FindStringSubmatch(dir); m != nil {
			want = m[1]
		}
		if got := markup.Files.Version(dir); got != want {
			t.Errorf("the version of %q is %q, want %q", dir, got, want)
		}
		for _, tree := range []markup.Tree{markup.Files, markup.Addresses} {
			if s := tree.Section(dir); s != "" && (tree.Version(s) != "" || !strings.Contains("/"+dir+"/", "/"+s+"/")) {
				t.Errorf("the section of %q is %q", dir, s)
			}
		}
	})
}
