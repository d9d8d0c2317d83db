package proposal

import (
	"testing"

	"almanac/ingest"
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
		c, err := open(settings{Repository: remote}, env)
		if err != nil || c.(*connector).tells != want {
			t.Errorf("%s: %+v, %v", remote, c, err)
		}
	}
}
