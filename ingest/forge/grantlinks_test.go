package forge

import (
	"slices"
	"testing"
)

// TestGrantLinks holds how texts refer to grants: in any repository by name,
// address and in words, in the grants' own by number alone.
func TestGrantLinks(t *testing.T) {
	for text, want := range map[string][2][]string{ // elsewhere, in the grants' own repository
		"Grant 103, milestone 1: parity":                       {{"103"}, {"103"}},
		"Funded by grant 103. See grant #104":                  {{"103", "104"}, {"103", "104"}},
		"The grant proposal 57 (grant 103 as well)":            {{"57", "103"}, {"57", "103"}},
		"reef/grants#7 and grant\n12":                          {{"7", "12"}, {"7", "12"}},
		"#31, PR 32":                                           {nil, {"31", "32"}},
		"grant 3 users access, grants 94, migrant 12, grant12": {nil, nil},
		"grant 103 and again grant 103":                        {{"103"}, {"103"}},
	} {
		for i, name := range []string{"reef/node", "reef/grants"} {
			r := &run{opts: settings{Grants: "reef/grants"}, name: name}
			var got []string
			for _, l := range r.grantLinks(text) {
				got = append(got, l.To.Key)
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("%s: %q refers to %v, want %v", name, text, got, want[i])
			}
		}
	}
	if r := (&run{name: "reef/node"}); r.grantLinks("grant 103") != nil {
		t.Error("a network without grants has links to them")
	}
}
