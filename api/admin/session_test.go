package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestASessionEnds(t *testing.T) {
	now := time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)
	s, err := newSessions("t", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: s.begin("ada")})
	now = now.Add(sessionLength - time.Second)
	if name, ok := s.of(r); name != "ada" || !ok {
		t.Errorf("before its end it is %q, %v", name, ok)
	}
	now = now.Add(time.Second)
	if name, ok := s.of(r); name != "" || ok {
		t.Errorf("at its end it is %q, %v", name, ok)
	}
}

// FuzzSession holds that no cookie that was not made here is anybody's, and none
// makes the reader fail.
func FuzzSession(f *testing.F) {
	for _, s := range []string{"", ".", "..", "YWRh.99999999999.AAAA", "YWRh.1.", "a.b.c.d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		s, err := newSessions("", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Header: http.Header{"Cookie": {sessionCookie + "=" + value}}}
		if name, ok := s.of(r); ok || name != "" {
			t.Errorf("%q is %q", value, name)
		}
	})
}
