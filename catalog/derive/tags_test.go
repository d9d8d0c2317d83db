package derive_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
)

func TestReleaseTags(t *testing.T) {
	for _, c := range []struct {
		release catalog.Release
		notes   string
		want    []string
	}{
		{catalog.Release{Version: "2.1.0"}, "Faster.", []string{"version:2.1.0", "stable"}},
		{catalog.Release{Version: "2.1.0-RC1", Prerelease: true}, "Dispatches are faster.",
			[]string{"version:2.1.0-rc1"}},
		{catalog.Release{}, "All versions.", nil},
		{catalog.Release{Version: "2.1.1"}, "Fixes CVE-2031-0007.", []string{"version:2.1.1", "stable", "security"}},
		{catalog.Release{}, "Patched a Vulnerability", []string{"security"}},
		{catalog.Release{}, "## Security\n", []string{"security"}},
	} {
		if got := derive.ReleaseTags(c.release, c.notes); !slices.Equal(got, c.want) {
			t.Errorf("%+v, %q: tags %q, want %q", c.release, c.notes, got, c.want)
		}
	}
}

func TestSecurityStatement(t *testing.T) {
	for notes, want := range map[string]string{
		"Faster tides. A **patch** of the gate closes CVE-2031-7. More.":                           "A patch of the gate closes CVE-2031-7.",
		"## Security\n\n### Gate (medium)\n\nThe gate stayed open. Close it.\n\n## Other\n\nText.": "Security: The gate stayed open.",
		"## Patches\n\nBoats sail on.\n\n## Locks\n\nA vulnerability of locks is gone.":            "A vulnerability of locks is gone.",
		"- Adds boats.\n- Fixes a vulnerability of locks.":                                         "Fixes a vulnerability of locks.",
		"Boats.\n\n## *Security*\n\n## Other\n\nNothing is said here.":                             "Security",
		"```\nfaster\nsecurity of code\n```":                                                       "security of code",
		"Boats.\n\n[Notes](https://tide.example/cve/7)":                                            "[Notes](https://tide.example/cve/7)",
		strings.Repeat("boats and ", 90) + "security of locks":                                     "… " + strings.Repeat("boats and ", 8) + "security of locks",
		"Faster tides.": "",
	} {
		if got := derive.SecurityStatement(notes); got != want {
			t.Errorf("%q: %q, want %q", notes, got, want)
		}
	}
}
