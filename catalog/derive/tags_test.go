package derive_test

import (
	"slices"
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
