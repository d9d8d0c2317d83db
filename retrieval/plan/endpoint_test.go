package plan_test

import (
	"testing"

	"almanac/retrieval/plan"
)

func TestEndpointsAreNamed(t *testing.T) {
	for _, c := range []struct {
		query, described string
		want             int
	}{
		{"GET /v2/berths", "GET /v2/berths", plan.Exactly},
		{"get /v2/berths/", "GET /v2/berths", plan.Exactly},
		{"`/v2/berths/{berth}`", "DELETE /v2/berths/{berth}", plan.Exactly},
		{"/v2/berths?free=true#now", "GET /v2/berths", plan.Exactly},
		{"POST /v2/berths", "GET /v2/berths", plan.NotNamed},
		{"/v2/berths", "GET /v2/berths/{berth}", plan.NotNamed},
		{"/v2/berths/17/lights", "PUT /v2/berths/{berth}/lights", plan.ByExample},
		{"/api/harbour/v2/berths", "GET /v2/berths", plan.BelowABase},
		{"/api/v2/berths/17", "GET /v2/berths/{berth}", plan.ByExample},
		{"/v2/berths/17", "GET /berths/{berth}", plan.NotNamed},
		{"/var/lib/berths", "GET /berths", plan.NotNamed},
		{"/17/lights", "GET /{berth}/{light}", plan.NotNamed},
		{"/", "GET /v2", plan.NotNamed},
		{"/17", "GET /17", plan.NotNamed},
		{"how do I call /v2/berths", "GET /v2/berths", plan.NotNamed},
		{"fetch /v2/berths", "GET /v2/berths", plan.NotNamed},
		{"v2/berths", "GET /v2/berths", plan.NotNamed},
	} {
		got := plan.NotNamed
		if asked, ok := plan.ReadEndpoint(c.query); ok {
			described, _ := plan.ReadEndpoint(c.described)
			got = asked.Names(described)
		}
		if got != c.want {
			t.Errorf("%q names %q: %d, want %d", c.query, c.described, got, c.want)
		}
	}
}
