package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"almanac/catalog/sqlite"
)

func TestCheckFindsDamage(t *testing.T) {
	path := filled(t)
	if err := sqlite.Check(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for page := 1; page < len(data)/4096; page++ { // the header of each page but the first
		for i := range 16 {
			data[page*4096+i] = byte(random.Uint32())
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), "is damaged") ||
		!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// TestCheckWantsACatalog holds that a missing file is not made, and that one without
// a catalog in it is refused.
func TestCheckWantsACatalog(t *testing.T) {
	path := file(t)
	if err := sqlite.Check(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, content := range map[string][]byte{"is empty": nil, "is not a SQLite database": make([]byte, 8192)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
