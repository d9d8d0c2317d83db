package proposals

import (
	"testing"

	"almanac/catalog/network"
	"almanac/ingest"
	source "almanac/ingest/options"
)

// TestWhichHostsTellWhatIsOpen: without that, a draft that is open would be taken
// for withdrawn.
func TestWhichHostsTellWhatIsOpen(t *testing.T) {
	env := ingest.Environment{WorkDir: t.TempDir()}
	for remote, want := range map[string]bool{
		"https://github.com/harbour/lips": true, "/srv/harbour/lips": true, "https://git.example.org/harbour/lips": true,
		"https://codeberg.org/harbour/lips": false, "https://forgejo.example.org/harbour/lips": false,
		"https://gitlab.com/harbour/lips": false,
	} {
		src := network.Source{Name: "test", Options: source.Of(map[string]any{"repository": remote})}
		o, err := readOptions(src, env)
		if err != nil || o.tells != want {
			t.Errorf("%s: %t, %v", remote, o.tells, err)
		}
	}
}
