package gitrepo

import (
	"strings"
	"testing"
)

func FuzzParseReferences(f *testing.F) {
	hash := strings.Repeat("0a", 20)
	f.Add("ref: refs/heads/main\tHEAD\n" + hash + "\tHEAD\n" + hash + "\trefs/heads/main\n")
	f.Add("ref: refs/heads/\tHEAD\nref: \tHEAD\n\tHEAD")
	f.Add(hash + "\trefs/heads/--upload-pack=x\n" + hash + "\trefs/heads/a b\n")
	f.Fuzz(func(t *testing.T, out string) {
		r := parseReferences(out)
		for _, name := range r.names() {
			if !IsBranch(name) || len(r.branches[name]) < 40 {
				t.Errorf("%q at %q", name, r.branches[name])
			}
		}
		some(r.names())
	})
}
