package limit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"almanac/api/limit"
)

func newStore() limiter.Store { return memory.NewStoreWithOptions(limiter.StoreOptions{}) } // no cleaner: no goroutine

func get(b *limit.Bucket, remote string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = remote
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	w.Code = http.StatusNoContent
	if refusal, _ := b.Take(w.Header(), r); refusal != "" {
		w.Code = http.StatusTooManyRequests
		w.Body.WriteString(refusal)
	}
	return w
}

func TestACallBeyondTheShareIsRefusedUntilThePeriodIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := limit.New(limit.Config{Name: "mcp", Calls: 3, Store: newStore()})
		for i := range 3 {
			w := get(b, "192.0.2.1:1")
			if w.Code != 204 || w.Header().Get("RateLimit-Limit") != "3" ||
				w.Header().Get("RateLimit-Remaining") != strconv.Itoa(2-i) {
				t.Fatalf("call %d: %d %v", i, w.Code, w.Header())
			}
		}
		time.Sleep(14 * time.Minute)
		w := get(b, "192.0.2.1:2")
		wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
		if w.Code != 429 || err != nil || wait < 60 || wait > 61 ||
			w.Header().Get("RateLimit-Reset") != strconv.Itoa(wait) {
			t.Fatalf("fourth call: %d %v", w.Code, w.Header())
		}
		if want := fmt.Sprintf("the limit of 3 calls in 15 minutes is used up; try again in %d s",
			wait); w.Body.String() != want {
			t.Errorf("got %s", w.Body)
		}
		if w := get(b, "192.0.2.2:1"); w.Code != 204 {
			t.Errorf("another client: %d", w.Code)
		}
		time.Sleep(time.Duration(wait) * time.Second)
		if w := get(b, "192.0.2.1:3"); w.Code != 204 || w.Header().Get("RateLimit-Remaining") != "2" {
			t.Errorf("after the wait: %d %v", w.Code, w.Header())
		}
	})
}

func TestBucketsAreApartInOneStore(t *testing.T) {
	store := newStore()
	rest, mcp := limit.New(limit.Config{Name: "rest", Calls: 1, Store: store}),
		limit.New(limit.Config{Name: "mcp", Calls: 1, Store: store})
	get(rest, "192.0.2.1:1")
	if w := get(mcp, "192.0.2.1:1"); w.Code != 204 {
		t.Errorf("got %d", w.Code)
	}
	if w := get(rest, "192.0.2.1:1"); w.Code != 429 {
		t.Errorf("got %d", w.Code)
	}
}

// TestASiteIsBounded: who has an IPv6 /48 is 65,536 clients, and gets the calls of
// 16.
func TestASiteIsBounded(t *testing.T) {
	now := time.Now()
	b := limit.New(limit.Config{Name: "rest", Calls: 3, Now: func() time.Time { return now }})
	from := func(site, subnet, host int) *httptest.ResponseRecorder {
		return get(b, fmt.Sprintf("[2001:db8:%x:%x::%x]:1", site, subnet, host))
	}
	for i := range 10 { // what is refused to one client costs the site nothing
		if w := from(1, 0, i); (w.Code == 204) != (i < 3) {
			t.Fatalf("call %d of a client: %d", i, w.Code)
		}
	}
	passed := 3
	for subnet := 1; subnet < 1000; subnet++ {
		w := from(1, subnet, 1)
		if w.Code == 204 {
			passed++
		} else if !strings.Contains(w.Body.String(), "limit of 48 calls in 15 minutes for 2001:db8:1::/48 is used up") ||
			w.Header().Get("Retry-After") == "" || w.Header().Get("RateLimit-Limit") != "48" {
			t.Fatalf("%v %s", w.Header(), w.Body)
		}
	}
	if passed != 48 {
		t.Errorf("%d calls of a site passed, want 48", passed)
	}
	if w := from(2, 1, 1); w.Code != 204 || w.Header().Get("RateLimit-Remaining") != "2" {
		t.Errorf("another site: %d %v", w.Code, w.Header())
	}
	for i := range 100 { // IPv4 addresses have no site
		if w := get(b, fmt.Sprintf("192.0.2.%d:1", i)); w.Code != 204 {
			t.Fatalf("192.0.2.%d: %d", i, w.Code)
		}
	}
}

func TestZeroIsNoLimit(t *testing.T) {
	b := limit.New(limit.Config{Name: "rest"})
	for range 100 {
		if w := get(b, "192.0.2.1:1"); w.Code != 204 || w.Header().Get("RateLimit-Limit") != "" {
			t.Fatalf("got %d %v", w.Code, w.Header())
		}
	}
}

// broken is a store that is down.
type broken struct{ limiter.Store }

func (broken) Get(context.Context, string, limiter.Rate) (limiter.Context, error) {
	return limiter.Context{}, errors.New("connection refused")
}

func TestAStoreThatIsDownLetsCallsThrough(t *testing.T) {
	if w := get(limit.New(limit.Config{Name: "rest", Calls: 1, Store: broken{}}), "192.0.2.1:1"); w.Code != 204 {
		t.Errorf("got %d", w.Code)
	}
}

func TestKey(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1",
		"::ffff:192.0.2.1":     "192.0.2.1",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::1":      "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		if got := limit.Key(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Key(%s) = %s, want %s", addr, got, want)
		}
	}
	if got := limit.Key(netip.Addr{}); got != "unknown" {
		t.Errorf("no address: %s", got)
	}
}

func TestSite(t *testing.T) {
	for address, want := range map[string]string{"198.51.100.7": "198.51.100.0/24", "::ffff:198.51.100.7": "198.51.100.0/24",
		"2001:db8:1:2::3": "2001:db8:1::/48"} {
		if got := limit.Site(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is of %s, want %s", address, got, want)
		}
	}
	if got := limit.Site(netip.Addr{}); got != "unknown" {
		t.Errorf("nobody is of %s", got)
	}
}

func TestClient(t *testing.T) {
	trusted := []string{"10.0.0.0/8", "::1", "203.0.113.7"}
	tests := []struct {
		name, remote string
		forwarded    []string
		trusted      []string
		want         string
	}{
		{"the peer is the client", "192.0.2.1:5", nil, nil, "192.0.2.1"},
		{"without trust nothing is believed", "192.0.2.1:5", []string{"198.51.100.1"}, nil, "192.0.2.1"},
		{"a stranger's header is not believed", "192.0.2.1:5", []string{"198.51.100.1"}, trusted, "192.0.2.1"},
		{"a proxy's header is", "10.0.0.1:5", []string{"198.51.100.1"}, trusted, "198.51.100.1"},
		{"what the client wrote is not", "10.0.0.1:5", []string{"1.1.1.1, 198.51.100.1, 10.2.3.4"}, trusted,
			"198.51.100.1"},
		{"headers are joined", "10.0.0.1:5", []string{"198.51.100.1", "203.0.113.7"}, trusted, "198.51.100.1"},
		{"ports and brackets go", "[::1]:5", []string{"[2001:db8::1]:443"}, trusted, "2001:db8::1"},
		{"a mapped address is IPv4", "[::ffff:10.0.0.1]:5", []string{"::ffff:198.51.100.1"}, trusted, "198.51.100.1"},
		{"a mapped network is IPv4's", "172.16.0.9:5", []string{"198.51.100.1"}, []string{"::ffff:172.16.0.0/108"},
			"198.51.100.1"},
		{"rubbish ends the walk", "10.0.0.1:5", []string{"198.51.100.1, unknown, 10.0.0.2"}, trusted, "10.0.0.2"},
		{"a missing header leaves the proxy", "10.0.0.1:5", nil, trusted, "10.0.0.1"},
		{"proxies alone leave the first", "10.0.0.1:5", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := limit.ParseProxies(tt.trusted)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = tt.remote
			r.Header["X-Forwarded-For"] = tt.forwarded
			if got := p.Client(r).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if got := (limit.Proxies)(nil).Client(&http.Request{RemoteAddr: "@"}); got.IsValid() {
		t.Errorf("a unix socket has address %s", got)
	}
	if _, err := limit.ParseProxies([]string{"example.org"}); err == nil {
		t.Error("a name is taken for a proxy")
	}
}

func FuzzClient(f *testing.F) {
	f.Add("10.0.0.1:5", "1.1.1.1, [::1]:3, x,,")
	p, err := limit.ParseProxies([]string{"0.0.0.0/0", "::/0"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		if key := limit.Key(p.Client(r)); key == "" || strings.ContainsAny(key, " ,[]") {
			t.Errorf("key %q", key)
		}
	})
}
