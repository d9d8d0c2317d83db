package packages

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// version is a version as written in its registry.
type version struct {
	text  string
	canon string // with the v that package semver requires
}

// parseVersion reads a semantic version, with or without a v before it. Short
// forms (1.2, v1) are not versions: as tags they move.
func parseVersion(text string) (version, bool) {
	canon := text
	if !strings.HasPrefix(canon, "v") {
		canon = "v" + canon
	}
	full := semver.Canonical(canon)
	return version{text, canon}, full != "" && strings.HasPrefix(canon, full)
}

func (v version) prerelease() bool { return semver.Prerelease(v.canon) != "" }

// compare orders versions by precedence (Semantic Versioning 2.0.0, 11), and
// those of the same precedence by their text.
func compare(a, b version) int {
	return cmp.Or(semver.Compare(a.canon, b.canon), strings.Compare(a.text, b.text))
}

// newest returns the newest releases and prereleases and those that are always
// kept, newest first. The versions must be sorted.
func newest(versions []version, releases, prereleases int, always func(version) bool) []version {
	slices.SortFunc(versions, func(a, b version) int { return compare(b, a) })
	var kept []version
	for _, v := range versions {
		left := &releases
		if v.prerelease() {
			left = &prereleases
		}
		if *left > 0 || always(v) {
			kept = append(kept, v)
		}
		*left--
	}
	return kept
}
