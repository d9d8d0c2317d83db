package webpage

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestAPageThatTakesTooLong: between tags that are ignored each piece of a text is
// added to a copy of all before it.
func TestAPageThatTakesTooLong(t *testing.T) {
	page := "<p>" + strings.Repeat("tide</html>", 10_000)
	if _, err := parseUntil(page, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if _, err := parseUntil(page, time.Time{}); !errors.Is(err, ErrNoPage) || !strings.Contains(err.Error(), "more than 5s") {
		t.Error(err)
	}
}
