package ranking

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"almanac/catalog"
)

// Names of what can be searched with besides saved revisions and the built-in
// profiles.
const (
	Live        = "live"         // what searches use
	Configured  = "configured"   // what would be if nothing were published
	KeywordOnly = "keyword-only" // the keyword lists of what is live
	VectorOnly  = "vector-only"  // its vector lists
)

// Name names a saved revision of a profile: NAME@NUMBER. The zero one names none.
type Name struct {
	Profile string
	Number  int
}

// NameOf returns the name of a profile's revision.
func NameOf(r catalog.Revision) Name { return Name{r.Name, r.Number} }

// ParseName reads NAME@NUMBER.
func ParseName(s string) (n Name, ok bool) {
	name, after, _ := strings.Cut(s, "@")
	number, err := strconv.Atoi(after)
	if err != nil || number <= 0 || !ValidName(name) {
		return Name{}, false
	}
	return Name{name, number}, true
}

// String writes NAME@NUMBER, "" for none.
func (n Name) String() string {
	if n == (Name{}) {
		return ""
	}
	return fmt.Sprintf("%s@%d", n.Profile, n.Number)
}

// MarshalText implements encoding.TextMarshaler.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Name) UnmarshalText(text []byte) error {
	var ok bool
	if *n, ok = ParseName(string(text)); !ok && len(text) > 0 {
		return fmt.Errorf("%q names no revision: name it as default@3", text)
	}
	return nil
}

// profileName is what profiles may be called: nothing that reads like a path or a
// revision.
var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// ValidName reports whether profiles may be called so.
func ValidName(name string) bool { return profileName.MatchString(name) }
