// Package rulestest holds the versions of readers against what they read.
package rulestest

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update-rules", false, "write testdata/rules")

const file = "testdata/rules"

// Check fails if a reader makes something else of fixed inputs than when its rules
// were recorded, under the same rules: without new ones, connectors would go on with
// what they have. testdata/rules has the rules and a digest of the output.
func Check(t *testing.T, rules string, output ...string) {
	t.Helper()
	sum := sha256.Sum256([]byte(strings.Join(output, "\x00")))
	now := fmt.Sprintf("%s %s\n", strings.TrimSpace(rules), hex.EncodeToString(sum[:16]))
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
	switch {
	case string(then) == now:
	case strings.HasPrefix(string(then), strings.TrimSpace(rules)+" "):
		t.Errorf("the text changed and Rules did not: raise Rules, then go test -run %s -update-rules writes %s",
			t.Name(), file)
	default:
		t.Errorf("Rules changed: go test -run %s -update-rules writes %s", t.Name(), file)
	}
}
