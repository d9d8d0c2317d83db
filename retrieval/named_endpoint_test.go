package retrieval

import (
	"testing"
)

func TestEndpointsAreNamed(t *testing.T) {
	for _, c := range []struct {
		query, described string
		want             int
	}{
		{"GET /v2/berths", "GET /v2/berths", exactly},
		{"get /v2/berths/", "GET /v2/berths", exactly},
		{"`/v2/berths/{berth}`", "DELETE /v2/berths/{berth}", exactly},
		{"/v2/berths?free=true#now", "GET /v2/berths", exactly},
		{"POST /v2/berths", "GET /v2/berths", notNamed},
		{"/v2/berths", "GET /v2/berths/{berth}", notNamed},
		{"/v2/berths/17/lights", "PUT /v2/berths/{berth}/lights", byExample},
		{"/api/harbour/v2/berths", "GET /v2/berths", belowABase},
		{"/api/v2/berths/17", "GET /v2/berths/{berth}", byExample},
		{"/v2/berths/17", "GET /berths/{berth}", notNamed},
		{"/var/lib/berths", "GET /berths", notNamed},
		{"/17/lights", "GET /{berth}/{light}", notNamed},
		{"/", "GET /v2", notNamed},
		{"/17", "GET /17", notNamed},
		{"how do I call /v2/berths", "GET /v2/berths", notNamed},
		{"fetch /v2/berths", "GET /v2/berths", notNamed},
		{"v2/berths", "GET /v2/berths", notNamed},
	} {
		got := notNamed
		if asked, ok := readEndpoint(c.query); ok {
			described, _ := readEndpoint(c.described)
			got = asked.Names(described)
		}
		if got != c.want {
			t.Errorf("%q names %q: %d, want %d", c.query, c.described, got, c.want)
		}
	}
}
