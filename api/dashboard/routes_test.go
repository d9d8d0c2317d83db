package dashboard

import (
	"strings"
	"testing"
)

// TestEveryFormHasItsPage holds that each address that takes a form names the page
// that is shown again if the form fails.
func TestEveryFormHasItsPage(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	pages := h.formPages()
	for pattern, answer := range h.routes() {
		own := pattern == "POST /lab" || pattern == "POST /tuning/edit" // they answer with the form itself
		if strings.HasPrefix(pattern, "POST ") && pages[pattern] == nil && !own || answer == nil {
			t.Errorf("%s has no page", pattern)
		}
	}
}
