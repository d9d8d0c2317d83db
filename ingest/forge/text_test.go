package forge

import (
	"strings"
	"testing"

	"almanac/ingest"
)

// TestATextIsCutBeforeItIsParsed: a comment of the form at its end is never read.
func TestATextIsCutBeforeItIsParsed(t *testing.T) {
	long := strings.Repeat("é ", ingest.MaxText/3) + "more"
	got := text(long)
	if len(got) > ingest.MaxText || len(got) < ingest.MaxText-10 || strings.Contains(got, "more") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes of %d", len(got), len(long))
	}
}
