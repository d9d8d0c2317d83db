package migrations

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// contracts is what a program of the schema before may trip over.
var contracts = regexp.MustCompile(`(?i)\b(DROP|RENAME|ALTER\s+COLUMN|SET\s+NOT\s+NULL|ADD\s+CONSTRAINT)\b`)

// TestMigrationsExpandFirst holds that a migration on PostgreSQL which takes something away
// says which programs can go on.
func TestMigrationsExpandFirst(t *testing.T) {
	files, err := fs.Glob(PostgreSQL(), "*.sql")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files[1:] {
		text, err := fs.ReadFile(PostgreSQL(), name)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for line := range strings.Lines(up) {
			adds := strings.Contains(line, "ADD COLUMN") && strings.Contains(line, "NOT NULL")
			if said := strings.Contains(up, "'schema.oldest'"); !said &&
				(contracts.MatchString(line) || adds && !strings.Contains(line, "DEFAULT")) {
				t.Errorf("%s: %s\nadd first, remove in a later release, and set schema.oldest there", name, line)
			}
		}
	}
}
