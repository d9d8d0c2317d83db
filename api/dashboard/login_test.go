package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"almanac/api/admin"
)

// TestPeopleLogInOverPlainHTTP holds that forms work where browsers say nothing of
// a request but Origin: over plain HTTP, beyond loopback. Which Origin they send
// with a form goes by the policy of its page (Fetch, 3.2).
func TestPeopleLogInOverPlainHTTP(t *testing.T) {
	d, _ := tuned(t)
	h, err := admin.New(admin.Config{Token: "ebb and flow", Routes: d.(served).pages.Routes(), Front: d.(served).pages})
	if err != nil {
		t.Fatal(err)
	}
	const own = "http://quay.example:8081"
	send := func(
		method, path, origin, accept string, form url.Values, cookies ...*http.Cookie,
	) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, own+path, strings.NewReader(form.Encode()))
		r.Header.Set("Accept", accept)
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", origin)
		}
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	originOf := func(page *httptest.ResponseRecorder) string {
		if page.Header().Get("Referrer-Policy") == "no-referrer" {
			return "null"
		}
		return own
	}
	login := url.Values{"name": {"ada"}, "token": {"ebb and flow"}, "next": {"/cases"}}
	page := send("GET", "/login", "", "text/html", nil)
	w := send("POST", "/login", originOf(page), "text/html", login)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/cases" {
		t.Fatalf("the form is answered %d %s", w.Code, w.Body)
	}
	cookies := w.Result().Cookies()
	page = send("GET", "/cases", "", "text/html", nil, cookies...)
	w = send("POST", "/cases", originOf(page), "text/html", url.Values{"name": {"Tides"}}, cookies...)
	if w.Code != http.StatusSeeOther {
		t.Errorf("a form behind the login is answered %d %s", w.Code, w.Body)
	}
	for _, origin := range []string{"null", "http://reef.example:8081", "http://quay.example"} {
		w := send("POST", "/cases", origin, "text/html,*/*;q=0.8", url.Values{"name": {"Reefs"}}, cookies...)
		if w.Code != http.StatusForbidden || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
			!strings.Contains(w.Body.String(), "<h1>This was refused</h1>") || strings.Contains(w.Body.String(), "live since") {
			t.Errorf("a form from %s is answered %d %s", origin, w.Code, w.Body)
		}
		w = send("POST", "/cases", origin, "application/json", url.Values{"name": {"Reefs"}}, cookies...)
		if w.Code != http.StatusForbidden || !strings.HasPrefix(w.Body.String(), `{"error":"pages of another origin`) {
			t.Errorf("a program at %s is answered %d %s", origin, w.Code, w.Body)
		}
	}
	if list := send("GET", "/cases", "", "text/html", nil, cookies...).Body.String(); strings.Contains(list, "Reefs") {
		t.Error("a foreign page made a case")
	}
}
