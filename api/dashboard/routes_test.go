package dashboard_test

import (
	"strings"
	"testing"

	"almanac/api/dashboard"
	"almanac/api/dashboard/desk"
)

// TestEveryFormHasItsPage holds that each address that takes a form names the page
// that is shown again if the form fails.
func TestEveryFormHasItsPage(t *testing.T) {
	d, err := dashboard.New(desk.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range d.Sections() {
		for pattern, route := range section.Routes {
			own := pattern == "POST /lab" || pattern == "POST /profiles/edit" // they answer with the form itself
			if strings.HasPrefix(pattern, "POST ") && !route.Again() && !own {
				t.Errorf("%s has no page", pattern)
			}
		}
	}
}
