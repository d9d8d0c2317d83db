package derive

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Version is a version number: up to four numbers and a suffix.
type Version struct {
	numbers    [4]int
	stated     int      // how many numbers were written
	prerelease []string // identifiers; none for a release
}

var versionForm = regexp.MustCompile(`(?i)^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-.]?((?:rc|` +
	`alpha|beta|snapshot|dev|pre)[\w.-]*)|-([\w.-]+))?(?:\+[\w.-]+)?$`)

// ParseVersion reads a version such as 1.2.3, v0.10, 3.4.0-rc.1 or
// 2.0.0-snapshot.20260102+build. Missing numbers are 0; build metadata is
// dropped. It reports whether the text is a version.
func ParseVersion(s string) (v Version, ok bool) {
	m := versionForm.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return v, false
	}
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(m[i+1]) // at most nine digits, or none
		if m[i+1] != "" {
			v.stated++
		}
	}
	if pre := m[5] + m[6]; pre != "" {
		v.prerelease = strings.FieldsFunc(strings.ToLower(pre), func(r rune) bool { return r == '.' || r == '-' })
	}
	return v, true
}

// Prerelease reports whether the version is not a release.
func (v Version) Prerelease() bool { return v.prerelease != nil }

// Compare orders versions as Semantic Versioning 2.0.0 (section 11) does: a
// prerelease comes before its release.
func (v Version) Compare(w Version) int {
	if i := v.Apart(w); i < len(v.numbers) {
		return cmp.Compare(v.numbers[i], w.numbers[i])
	}
	switch {
	case v.prerelease == nil && w.prerelease == nil:
		return 0
	case v.prerelease == nil:
		return 1
	case w.prerelease == nil:
		return -1
	}
	for i := range min(len(v.prerelease), len(w.prerelease)) {
		if c := compareIdentifier(v.prerelease[i], w.prerelease[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.prerelease), len(w.prerelease))
}

// Apart returns the first of the numbers in which two versions differ, from 0;
// 4 if they differ in none.
func (v Version) Apart(w Version) int {
	for i := range v.numbers {
		if v.numbers[i] != w.numbers[i] {
			return i
		}
	}
	return len(v.numbers)
}

// Includes reports whether a version is the other, or leaves out its last
// numbers: 3.4 includes every 3.4.x.
func (v Version) Includes(w Version) bool {
	return v.Compare(w) == 0 || !v.Prerelease() && v.stated < w.stated && v.Apart(w) >= v.stated
}

// compareIdentifier orders numbers by value, before words.
func compareIdentifier(a, b string) int {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// namedVersion finds versions in prose: three numbers, or two after a v.
var namedVersion = regexp.MustCompile(`(?i)(?:^|[^\w.])(v?\d+\.\d+\.\d+(?:\.\d+)?(?:-[0-9a-z][\w.-]*[0-9a-z]|` +
	`-[0-9a-z])?|v\d+\.\d+)(?:[^\w.-]|[.-]?(?:\s|$))`)

// VersionsIn returns the versions in a text, without a leading v.
func VersionsIn(text string) []string {
	var out []string
	for at := 0; ; {
		m := namedVersion.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return out
		}
		out = append(out, strings.TrimLeft(text[at+m[2]:at+m[3]], "vV"))
		at += m[3]
	}
}
