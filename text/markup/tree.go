package markup

import (
	"regexp"
	"slices"
	"strings"
)

// Tree says what directories above pages are called that mean nothing for the
// content.
type Tree struct {
	trunk   []string       // directories that only contain the pages
	version *regexp.Regexp // of a name with a version, which is its group
}

var (
	// Files is a tree of files. A version may be the end of a name: "product-2.10".
	Files = Tree{
		[]string{"docs", "doc", "src", "source", "sphinx", "main", "content", "pages", "docs-main", "docs-open",
			"docs-internal"},
		regexp.MustCompile(`(?:^|[_-])v?(\d+\.\d+(?:\.\d+)?)$`),
	}
	// Addresses is a tree of addresses. A version is a whole name, as pages are
	// called "release-2.10".
	Addresses = Tree{
		[]string{"docs", "doc", "documentation", "latest", "stable", "current", "next", "en"},
		regexp.MustCompile(`^v?(\d+\.\d+(?:\.\d+)?)$`),
	}
)

// Section returns the section of the documentation that is in a directory: the
// first name of its path that is neither of the trunk nor a version, or "".
func (t Tree) Section(dir string) string {
	for name := range strings.SplitSeq(dir, "/") {
		if name != "" && name != "." && !slices.Contains(t.trunk, name) && !t.version.MatchString(name) {
			return name
		}
	}
	return ""
}

// Version returns the version of the product that the first name with one in a
// path has, or "".
func (t Tree) Version(path string) string {
	for name := range strings.SplitSeq(path, "/") {
		if m := t.version.FindStringSubmatch(name); m != nil {
			return m[1]
		}
	}
	return ""
}
