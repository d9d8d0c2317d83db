package dashboard_test

import (
	"net/http"
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

// TestOldAddressesLead holds that what people kept of a page that moved leads to where it
// is now, with its question.
func TestOldAddressesLead(t *testing.T) {
	h, _ := tuned(t)
	for from, to := range map[string]string{
		"/analytics":                 "/searches",
		"/analytics?order=zero":      "/searches?order=zero",
		"/analytics/audit":           "/changes",
		"/analytics/synonyms?name=a": "/rules?name=a",
		"/analytics/pins":            "/rules/pins",
		"/analytics/pins/edit?q=a+b": "/rules/pins/edit?q=a+b",
		"/judging":                   "/cases",
		"/judging/":                  "/cases",
		"/judging/pool?q=fees":       "/cases/pool?q=fees",
		"/judging/1/judge?query=q1":  "/cases/1/judge?query=q1",
		"/tuning":                    "/profiles",
		"/tuning/diff?a=x&b=y":       "/profiles/diff?a=x&b=y",
		"/tuning/fit/3":              "/profiles/fit/3",
	} {
		w := get(h, from)
		if got := w.Header().Get("Location"); w.Code != http.StatusMovedPermanently || got != to {
			t.Errorf("%s is %d %q, want %q", from, w.Code, got, to)
		}
	}
	if w := get(h, "/analytics/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("what never was is %d", w.Code)
	}
}
