package glob_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/text/glob"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		fold, exact   bool
	}{
		{"docs/**", "docs/a/b.md", true, true}, {"docs/**", "docs/", true, true}, {"docs/**", "docs", false, false},
		{"docs/*", "docs/a/b.md", false, false},
		{"**/b.md", "b.md", true, true}, {"**/b.md", "a/c/b.md", true, true}, {"**/b.md", "ab.md", false, false},
		{"docs/**/x.md", "docs/x.md", true, true}, {"/docs/**/x", "/docs/a/b/x", true, true},
		{"/**/**/x", "/x", true, true}, {"**/**/**/x", "a/x", true, true},
		{"docs**/x", "docsx", false, false}, {"docs**/x", "docs/x", true, true}, {"docs**/x", "docs-1/a/x", true, true},
		{"***", "a/b", true, true}, {"a?.md", "ab.md", true, true}, {"a?.md", "a/.md", false, false},
		{"a?.md", "aé.md", true, true},
		{"[x].md", "x.md", false, false}, {"[x].md", "[x].md", true, true}, {"(?i)a", "A", false, false},
		{"DOCS/*", "docs/a", true, false}, {"docs/É", "docs/é", true, false},
		{"*.md", "a\nb.md", true, true}, {"**.md", "a\n/b.md", true, true},
		{"a", "a\n", false, false}, {"a", "b\na", false, false}, {"", "a", false, false}, {"", "", true, true},
	} {
		if got := fold(t, tt.pattern).Match(tt.path); got != tt.fold {
			t.Errorf("%q, %q without case: %v", tt.pattern, tt.path, got)
		}
		if got := exact(t, tt.pattern).Match(tt.path); got != tt.exact {
			t.Errorf("%q, %q: %v", tt.pattern, tt.path, got)
		}
	}
	if glob.Set(nil).Match("") || !fold(t, "a", "b").Match("b") {
		t.Error("a set is not one of its patterns")
	}
}

func TestABadPatternIsNamed(t *testing.T) {
	for _, compile := range []func([]string) (glob.Set, error){glob.Exact, glob.Fold} {
		if _, err := compile([]string{"docs/**", "a\xff*"}); err == nil || !strings.Contains(err.Error(), `"a\xff*"`) {
			t.Errorf("the error is %v", err)
		}
	}
}

func fold(t *testing.T, patterns ...string) glob.Set { return must(t)(glob.Fold(patterns)) }

func exact(t *testing.T, patterns ...string) glob.Set { return must(t)(glob.Exact(patterns)) }

func must(t *testing.T) func(glob.Set, error) glob.Set {
	return func(s glob.Set, err error) glob.Set {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// matches is the meaning of a pattern, said by trying.
func matches(pattern, path string, begins bool) bool {
	if pattern == "" {
		return path == ""
	}
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok && begins {
		for i := range path {
			if path[i] == '/' && matches(rest, path[i+1:], true) {
				return true
			}
		}
		return matches(rest, path, true)
	}
	_, size := utf8.DecodeRuneInString(path)
	rest, many := strings.CutPrefix(pattern, "**")
	switch {
	case many:
		return matches(rest, path, false) || path != "" && matches(pattern, path[size:], false)
	case pattern[0] == '*':
		return matches(pattern[1:], path, false) ||
			path != "" && path[0] != '/' && matches(pattern, path[size:], false)
	case pattern[0] == '?':
		return path != "" && path[0] != '/' && matches(pattern[1:], path[size:], false)
	}
	_, size = utf8.DecodeRuneInString(pattern)
	rest, same := strings.CutPrefix(path, pattern[:size])
	return same && matches(pattern[size:], rest, pattern[0] == '/')
}

// inName finds **/ where no name begins: there it is any characters and a slash.
var inName = regexp.MustCompile(`[^/]\*\*/`)

// plain reads a pattern in which that does not occur, by replacing alone.
func plain(pattern string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).
		Replace(regexp.QuoteMeta(pattern))
	return regexp.MustCompile(`(?is)^` + quoted + `$`)
}

func FuzzMatch(f *testing.F) {
	for _, p := range []string{"docs/**", "**/**/x", "***", "***/b.md", "a**/b", "[a-z", "\\", "\xff?", "(?i)", "é*",
		"", "?/*/b.md", "DOCS/**/b.md", strings.Repeat("**/", 50)} {
		f.Add(p, "docs/a/b.md")
	}
	f.Add("a*", "a\xff\nb")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		folded, err := glob.Fold([]string{pattern})
		exact, alike := glob.Exact([]string{pattern})
		if valid := utf8.ValidString(pattern); (err == nil) != valid || (alike == nil) != valid {
			t.Fatalf("%q: %v, %v", pattern, err, alike)
		}
		if err != nil {
			return
		}
		if exact.Match(path) && !folded.Match(path) {
			t.Errorf("%q, %q: only with case", pattern, path)
		}
		if utf8.ValidString(path) && strings.Count(pattern, "*") < 5 && len(path) < 20 {
			if got, want := exact.Match(path), matches(pattern, path, true); got != want {
				t.Errorf("%q, %q: %v, want %v", pattern, path, got, want)
			}
		}
		if !inName.MatchString(pattern) {
			if got, want := folded.Match(path), plain(pattern).MatchString(path); got != want {
				t.Errorf("%q, %q without case: %v, replaced %v", pattern, path, got, want)
			}
		}
		if !strings.ContainsAny(pattern, "*?") && !exact.Match(pattern) {
			t.Errorf("%q is not itself", pattern)
		}
	})
}
