package derive_test

import (
	"testing"

	"almanac/catalog/derive"
)

func TestVersionsAreOrdered(t *testing.T) {
	ascending := []string{
		"0.9", "v0.10.0-alpha", "0.10.0-alpha.1", "0.10.0-alpha.beta", "0.10.0-beta", "0.10.0-beta.2", "0.10.0-beta.11",
		"0.10.0-rc.1", "v0.10", "1.0.0-snapshot.20300102.7.0.vabc", "1.0.0", "1.0.0.1", "1.2", "2.0.0rc1",
		"2.0.0+build.5", "10.0.0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			v, okV := derive.ParseVersion(a)
			w, okW := derive.ParseVersion(b)
			if !okV || !okW {
				t.Fatalf("%q or %q is not a version", a, b)
			}
			got, want := v.Compare(w), 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got != want {
				t.Errorf("%s against %s: %d, want %d", a, b, got, want)
			}
		}
	}
	for text, prerelease := range map[string]bool{"1.2.3": false, "1.2.3-rc1": true, "1.2.3+dirty": false,
		"2.0-dev": true} {
		if v, ok := derive.ParseVersion(text); !ok || v.Prerelease() != prerelease {
			t.Errorf("%s: prerelease %v", text, v.Prerelease())
		}
	}
	for _, text := range []string{"", "v", "latest", "1.2.x", "1..2", "release-1.2.3", "1.2.3 4", "99999999999.1"} {
		if _, ok := derive.ParseVersion(text); ok {
			t.Errorf("%q was taken for a version", text)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"1.2.3", "v0.10-rc.1", "1.2.3.4-5", "", "1.", "-", "\xff", "1.2.3-..",
		"999999999.999999999.999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := derive.ParseVersion(s); ok && v.Compare(v) != 0 {
			t.Errorf("%q differs from itself", s)
		}
	})
}
