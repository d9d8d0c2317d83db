package limit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"
)

// TestTheStoreIsBounded sends calls from more addresses than there is room for,
// as the owner of a large network could.
func TestTheStoreIsBounded(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	rate := limiter.Rate{Period: time.Minute, Limit: 2}
	m := newMemory(100, func() time.Time { return now })
	take := func(key string) limiter.Context {
		c, err := m.Get(t.Context(), key, rate)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for i := range 10_000 {
		take(fmt.Sprint("web:", i))
		if i == 9_950 {
			take("web:known")
			take("web:known")
		}
	}
	if m.buckets["web"].Len() != 100 {
		t.Errorf("it keeps %d counts", m.buckets["web"].Len())
	}
	if c := take("web:known"); !c.Reached || c.Remaining != 0 {
		t.Errorf("a recent client is forgotten: %+v", c)
	}
	now = now.Add(time.Minute)
	if c := take("web:known"); c.Reached || c.Remaining != 1 {
		t.Errorf("after the period: %+v", c)
	}
}

// TestASiteDoesNotFillTheStore: its own count would be the first that is forgotten.
func TestASiteDoesNotFillTheStore(t *testing.T) {
	m := newMemory(100, time.Now)
	b := New(Config{Name: "rest", Calls: 2, Store: m})
	passed := 0
	for i := range 10_000 {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = fmt.Sprintf("[2001:db8:1:%x::1]:1", i)
		if refusal, _ := b.Take(http.Header{}, r); refusal == "" {
			passed++
		}
	}
	if passed != 32 || m.buckets["rest"].Len() != 33 {
		t.Errorf("%d calls of a site passed, and it fills %d places", passed, m.buckets["rest"].Len())
	}
}

// TestAFloodForgetsNoFailedLogin: one store has the counts of all buckets.
func TestAFloodForgetsNoFailedLogin(t *testing.T) {
	store := newMemory(100, time.Now)
	logins, pages := New(Config{Name: "login", Calls: 1, Store: store}), New(Config{Name: "web", Calls: 1, Store: store})
	from := func(address string) *http.Request {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address + ":1"
		return r
	}
	logins.Take(http.Header{}, from("198.51.100.1"))
	for i := range 1000 {
		pages.Take(http.Header{}, from(fmt.Sprintf("203.0.%d.%d", i/250, i%250)))
	}
	if logins.Left(from("198.51.100.1")) {
		t.Error("the failed login is forgotten")
	}
}
