package admin_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"almanac/api/admin"
	"almanac/api/limit"
	"almanac/api/server"
)

const token = "s3cret-of-the-tests"

// front writes the form as plain text.
type front struct{}

func (front) Login(_ *http.Request, f admin.Form) *server.Answer {
	return &server.Answer{Status: f.Status, Type: "text/plain", Body: fmt.Appendf(nil, "%+v", f)}
}

func (front) Refuse(r *http.Request, err error) *server.Answer {
	return &server.Answer{Status: server.Explain(r.Context(), err).Status, Type: "text/html",
		Body: fmt.Appendf(nil, "<h1>%s for %q", err, admin.User(r.Context()))}
}

func (front) Assets() server.Route {
	return server.Route{Method: "GET", Path: "/static/{name...}", Serve: func(*http.Request) (*server.Answer, error) {
		return &server.Answer{Type: "text/css", Body: []byte("styles")}, nil
	}}
}

// gated returns a listener whose every other page says who asks for it. failures
// is how many logins a client may fail; 0: any number.
func gated(t *testing.T, token string, failures int, log *slog.Logger) http.Handler {
	t.Helper()
	proxies, err := limit.ParseProxies([]string{"192.0.2.1"}) // httptest's
	if err != nil {
		t.Fatal(err)
	}
	h, err := admin.New(admin.Config{Token: token, Loopback: token == "", Front: front{}, Proxies: proxies, Log: log,
		Failures: limit.New(limit.Config{Name: "login", Calls: failures}),
		Routes: []server.Route{{Path: "/fails", Serve: func(*http.Request) (*server.Answer, error) {
			return nil, errors.New("it fails")
		}}, {Serve: func(r *http.Request) (*server.Answer, error) {
			return &server.Answer{Type: "text/plain",
				Body: fmt.Appendf(nil, "%s %s for %q", r.Method, r.URL.Path, admin.User(r.Context()))}, nil
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request to a listener; headers come in pairs.
func ask(h http.Handler, method, path string, form url.Values, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// text returns the body of an answer.
func text(t *testing.T, res *http.Response) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func basic(name, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(name, password)
	return r.Header.Get("Authorization")
}

func TestProgramsSendTheToken(t *testing.T) {
	h := gated(t, token, 0, nil)
	for _, tt := range []struct {
		name, header string
		status       int
		want         string
	}{
		{"nothing", "", 401, `{"error":"send the admin token`},
		{"bearer", "Bearer " + token, 200, `"operator"`},
		{"bearer in any case", "bearer " + token, 200, `"operator"`},
		{"half of it", "Bearer " + token[:7], 401, ""},
		{"an empty one", "Bearer ", 401, ""},
		{"without a scheme", token, 401, ""},
		{"basic with a name", basic("ada", token), 200, `"ada"`},
		{"basic without a name", basic("", token), 200, `"operator"`},
		{"basic with another password", basic("ada", "guess"), 401, ""},
		{"basic the other way round", basic(token, "ada"), 401, ""},
		{"basic that cannot be read", "Basic " + token, 401, ""},
		{"a name is one line that can be read", basic("ada\n\x1b[31m\u202e "+strings.Repeat("b", 99), token), 200,
			`"ada [31m ` + strings.Repeat("b", 31) + `"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := ask(h, "GET", "/x", nil, "Authorization", tt.header, "Accept", "application/json")
			if body := text(t, res); res.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %d %s", res.StatusCode, body)
			}
			offered := strings.Join(res.Header.Values("WWW-Authenticate"), "; ")
			if res.StatusCode == 401 && !(strings.Contains(offered, "Bearer ") && strings.Contains(offered, "Basic ")) {
				t.Errorf("it offers %q", offered)
			}
		})
	}
}

// session logs in by the form and returns the cookie.
func session(t *testing.T, h http.Handler, name string) string {
	t.Helper()
	res := ask(h, "POST", "/login", url.Values{"name": {name}, "token": {token}, "next": {"/lab?q=a"}})
	if res.StatusCode != 303 || res.Header.Get("Location") != "/lab?q=a" || len(res.Cookies()) != 1 {
		t.Fatalf("the login says %d %v", res.StatusCode, res.Header)
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 12*3600 || c.Path != "/" {
		t.Errorf("the cookie is %s", c)
	}
	return c.Name + "=" + c.Value
}

func TestBrowsersLogInByAForm(t *testing.T) {
	h := gated(t, token, 0, nil)
	html := "text/html,application/xhtml+xml,*/*;q=0.8"
	res := ask(h, "GET", "/lab?q=a&b=c", nil, "Accept", html)
	if to := res.Header.Get("Location"); res.StatusCode != 303 || to != "/login?next=%2Flab%3Fq%3Da%26b%3Dc" {
		t.Fatalf("a browser is sent to %d %s", res.StatusCode, to)
	}
	if res := ask(h, "POST", "/jobs", url.Values{}, "Accept", html); res.Header.Get("Location") != "/login?next=%2F" {
		t.Errorf("a form without a login is sent to %s", res.Header.Get("Location"))
	}
	if body := text(t, ask(h, "GET", "/login?next=/lab", nil)); !strings.Contains(body, "Next:/lab") ||
		!strings.Contains(body, "Token:true Known:false") {
		t.Errorf("the form is %s", body)
	}
	if body := text(t, ask(h, "GET", "/static/look.css", nil)); body != "styles" {
		t.Errorf("the form has the styles %q", body)
	}
	cookie := session(t, h, "ada")
	if body := text(t, ask(h, "GET", "/lab", nil, "Cookie", cookie)); body != `GET /lab for "ada"` {
		t.Errorf("after the login: %s", body)
	}
	if body := text(t, ask(h, "GET", "/fails", nil, "Cookie", cookie)); body != `<h1>it fails for "ada"` {
		t.Errorf("a page that fails says %s", body)
	}
	if body := text(t, ask(h, "GET", "/login", nil, "Cookie", cookie)); !strings.Contains(body, "Known:true") ||
		!strings.Contains(body, "Name:ada") {
		t.Errorf("the form is %s", body)
	}
	if res := ask(h, "POST", "/logout", url.Values{}, "Cookie", cookie); res.StatusCode != 303 ||
		len(res.Cookies()) != 1 || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("the logout says %d %v", res.StatusCode, res.Header)
	}
	restarted := gated(t, token, 0, nil)
	if body := text(t, ask(restarted, "GET", "/lab", nil, "Cookie", cookie)); !strings.Contains(body, "ada") {
		t.Errorf("after a restart: %s", body)
	}
	if res := ask(gated(t, "another", 0, nil), "GET", "/lab", nil, "Cookie", cookie); res.StatusCode != 401 {
		t.Errorf("after the token was changed: %d", res.StatusCode)
	}
	for _, forged := range []string{cookie + "A", cookie[:len(cookie)-1], strings.Replace(cookie, "YWRh", "YWRi", 1),
		strings.Replace(cookie, ".1", ".9", 1), "almanac_session=", "almanac_session=..", "almanac_session=YWRh"} {
		if res := ask(h, "GET", "/lab", nil, "Cookie", forged); res.StatusCode != 401 {
			t.Errorf("%s: %d", forged, res.StatusCode)
		}
	}
	res = ask(h, "POST", "/login", url.Values{"token": {token}}, "X-Forwarded-Proto", "https")
	if len(res.Cookies()) != 1 || !res.Cookies()[0].Secure {
		t.Errorf("behind a proxy that speaks https the cookie is %v", res.Cookies())
	}
}

func TestALoginLeadsToPagesOfThisListenerAlone(t *testing.T) {
	h := gated(t, token, 0, nil)
	for next, want := range map[string]string{"/lab?q=x#top": "/lab?q=x#top", "": "/", "//evil.example": "/",
		"https://evil.example/": "/", "/\\evil.example": "/", "\\\\evil.example": "/", "javascript:alert(1)": "/",
		"lab": "/", "/\t/evil.example": "/", "/%": "/", "http:/lab": "/"} {
		res := ask(h, "POST", "/login", url.Values{"token": {token}, "next": {next}})
		if got := res.Header.Get("Location"); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}

// TestGuessesAreLimited holds that a client that failed too often is refused
// whatever it sends, by any way in, while others and sessions go on.
func TestGuessesAreLimited(t *testing.T) {
	var log bytes.Buffer
	h := gated(t, token, 3, slog.New(slog.NewTextHandler(&log, nil)))
	cookie := session(t, h, "ada")
	for i, header := range []string{"Bearer guess-1", basic("ada", "guess-2")} {
		if res := ask(h, "GET", "/", nil, "Authorization", header); res.StatusCode != 401 {
			t.Fatalf("guess %d: %d", i, res.StatusCode)
		}
	}
	res := ask(h, "POST", "/login", url.Values{"token": {"guess-3"}, "name": {"eve"}})
	if body := text(t, res); res.StatusCode != 403 || !strings.Contains(body, "not the admin token") ||
		!strings.Contains(body, "Name:eve") || len(res.Cookies()) != 0 {
		t.Fatalf("guess 3: %d %s", res.StatusCode, body)
	}
	for way, res := range map[string]*http.Response{
		"bearer": ask(h, "GET", "/", nil, "Authorization", "Bearer "+token),
		"basic":  ask(h, "GET", "/", nil, "Authorization", basic("ada", token)),
		"form":   ask(h, "POST", "/login", url.Values{"token": {token}}),
	} {
		if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" || len(res.Cookies()) != 0 {
			t.Errorf("%s after too many guesses: %d", way, res.StatusCode)
		}
	}
	if res := ask(h, "GET", "/", nil, "Cookie", cookie); res.StatusCode != 200 {
		t.Errorf("a session is refused, too: %d", res.StatusCode)
	}
	if said := log.String(); strings.Contains(said, "guess") || strings.Contains(said, token) ||
		strings.Count(said, "failed") != 3 {
		t.Errorf("the log says\n%s", said)
	}
}

// TestALinkOfAForeignPageIsNoGuess: browsers send what an address says of user and
// password, and who followed it would be locked out.
func TestALinkOfAForeignPageIsNoGuess(t *testing.T) {
	h := gated(t, token, 1, slog.New(slog.DiscardHandler))
	for range 3 {
		res := ask(h, "GET", "/", nil, "Authorization", basic("x", "y"), "Sec-Fetch-Site", "cross-site")
		if res.StatusCode == 200 || res.StatusCode == 429 {
			t.Fatalf("the link: %d", res.StatusCode)
		}
	}
	if res := ask(h, "GET", "/", nil, "Authorization", "Bearer "+token); res.StatusCode != 200 {
		t.Errorf("the operator afterwards: %d", res.StatusCode)
	}
}

// TestPagesOfOthersChangeNothing holds that a session is no use to a foreign page,
// whichever of the two headers the browser sends.
func TestPagesOfOthersChangeNothing(t *testing.T) {
	h := gated(t, token, 0, nil)
	cookie := session(t, h, "ada")
	for _, tt := range []struct {
		header, value string
		status        int
	}{
		{"Origin", "https://evil.example", 403}, {"Origin", "null", 403}, {"Origin", "http://localhost:9", 403},
		{"Sec-Fetch-Site", "cross-site", 403}, {"Sec-Fetch-Site", "same-site", 403},
		{"Sec-Fetch-Site", "same-origin", 200}, {"Origin", "http://localhost", 200},
	} {
		for _, auth := range [][2]string{{"Cookie", cookie}, {"Authorization", basic("ada", token)}} {
			res := ask(h, "POST", "/jobs", url.Values{}, auth[0], auth[1], tt.header, tt.value)
			if res.StatusCode != tt.status {
				t.Errorf("%s with %s: %s: %d, want %d", auth[0], tt.header, tt.value, res.StatusCode, tt.status)
			}
		}
		res := ask(h, "POST", "/login", url.Values{"token": {token}}, tt.header, tt.value)
		if refused := res.StatusCode == 403; refused != (tt.status == 403) {
			t.Errorf("a login with %s: %s: %d", tt.header, tt.value, res.StatusCode)
		}
	}
}

func TestOnLoopbackPeopleSayTheirName(t *testing.T) {
	h := gated(t, "", 0, nil)
	if body := text(t, ask(h, "GET", "/lab", nil, "Accept", "text/html")); body != `GET /lab for "operator"` {
		t.Errorf("without a name: %s", body)
	}
	res := ask(h, "POST", "/login", url.Values{"name": {" ada "}})
	if res.StatusCode != 303 || len(res.Cookies()) != 1 {
		t.Fatalf("the form says %d %v", res.StatusCode, res.Header)
	}
	cookie := "almanac_session=" + res.Cookies()[0].Value
	if body := text(t, ask(h, "GET", "/lab", nil, "Cookie", cookie)); body != `GET /lab for "ada"` {
		t.Errorf("with a name: %s", body)
	}
	restarted := gated(t, "", 0, nil)
	if body := text(t, ask(restarted, "GET", "/lab", nil, "Cookie", cookie)); body != `GET /lab for "operator"` {
		t.Errorf("a name that another process signed: %s", body)
	}
}
