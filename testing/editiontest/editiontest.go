// Package editiontest holds ingest.Edition against what readers make of fixed inputs.
package editiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/ingest"
)

var update = flag.Bool("update-edition", false, "write testdata/edition")

const file = "testdata/edition"

// Check fails if a reader makes something else of fixed inputs than when that was
// recorded, under the same Edition: without another one, connectors would go on with
// what they have. testdata/edition has the Edition and a digest of the output.
func Check(t *testing.T, output ...string) {
	t.Helper()
	sum := sha256.Sum256([]byte(strings.Join(output, "\x00")))
	digest := hex.EncodeToString(sum[:16])
	now := fmt.Sprintf("%d %s\n", ingest.Edition, digest)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	then, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch recorded, same, _ := strings.Cut(strings.TrimSpace(string(then)), " "); {
	case same == digest:
	case recorded == fmt.Sprint(ingest.Edition):
		t.Errorf("the text changed and ingest.Edition did not: raise it, then go test -run %s -update-edition writes %s",
			t.Name(), file)
	default:
		t.Errorf("the text changed with ingest.Edition: go test -run %s -update-edition writes %s", t.Name(), file)
	}
}
