package admin

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"almanac/api/edge"
)

// Form is what the page with the form to log in shows.
type Form struct {
	Status  int
	Name    string // "" = not known
	Next    string // path of the page to go to
	Failure string // why the last attempt was refused; "" = there was none
	Token   bool   // the listener has a token
	Known   bool   // the visitor has a session, which can be ended
}

// gate lets in those who know the token, and says who they are. Programs send it as a
// bearer token, or as the password of basic authentication with a name as the user;
// browsers have a session, which a form begins. Without a token, on loopback,
// everybody is let in, and the session only holds a name.
type gate struct {
	cfg      Config
	sessions sessions

	mu sync.Mutex // locked while the failures of a client are read and one is added
}

// routes are those that are before the gate.
func (g *gate) routes() []edge.Route {
	if g.cfg.Front == nil {
		return nil
	}
	return []edge.Route{
		{Method: http.MethodGet, Path: "/login", Serve: func(r *http.Request) (*edge.Answer, error) {
			return g.form(r, Form{Status: http.StatusOK, Next: local(r.FormValue("next"))}), nil
		}},
		{Method: http.MethodPost, Path: "/login", Serve: g.begin, MaxBody: maxLogin},
		{Method: http.MethodPost, Path: "/logout", Serve: g.end},
		g.cfg.Front.Assets(),
	}
}

// gate tells the routes who makes a request, or keeps it out.
func (g *gate) gate(r *http.Request) *edge.Answer {
	user, out := g.pass(r)
	*r = *r.WithContext(WithUser(r.Context(), user))
	return out
}

// pass returns who makes a request, or the answer that refuses it.
func (g *gate) pass(r *http.Request) (user string, out *edge.Answer) {
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		r.Header.Del("Authorization") // a foreign page's link with a name and a password is no attempt of who follows it
	}
	user, known := g.sessions.of(r)
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case g.cfg.Token == "":
		return user, nil
	case credentials == "" && known:
		return user, nil
	case credentials == "" && g.cfg.Front != nil && asksForPage(r):
		next := "/"
		if r.Method == http.MethodGet {
			next = r.URL.RequestURI()
		}
		return "", &edge.Answer{Status: http.StatusSeeOther, Goto: "/login?" + url.Values{"next": {next}}.Encode()}
	}
	token := ""
	if name, password, basic := r.BasicAuth(); basic {
		user, token = named(name), password
	} else if user = ""; strings.EqualFold(scheme, "Bearer") {
		token = credentials
	}
	h := http.Header{}
	f := &edge.Refusal{Status: http.StatusTooManyRequests, Message: tooMany}
	switch g.try(h, r, token) {
	case "":
		return user, nil
	case wrong:
		h["Www-Authenticate"] = []string{`Bearer realm="almanac admin"`, `Basic realm="almanac admin", charset="UTF-8"`}
		f.Status = http.StatusUnauthorized
		f.Message = "send the admin token: Authorization: Bearer …, or as the password of basic authentication"
	}
	out = f.JSON()
	out.Header = h
	return "", out
}

// Why an attempt to log in is refused.
const (
	wrong   = "This is not the admin token."
	tooMany = "Too many attempts to log in failed; try again later."
)

// try compares a token and returns why it is refused, "" if it is not. A request
// without a token does not count as an attempt. A client that failed too often is
// refused whatever it sends. h are the headers of the answer.
func (g *gate) try(h http.Header, r *http.Request, token string) string {
	if token == "" {
		return wrong
	}
	// Digests are compared, so that the time taken reveals nothing about the token, not
	// even its length.
	want, got := sha256.Sum256([]byte(g.cfg.Token)), sha256.Sum256([]byte(token))
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.cfg.Failures.Left(r) {
		g.cfg.Failures.Take(h, r) // counts, and says when it may try again
		return tooMany
	}
	if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return ""
	}
	g.cfg.Failures.Take(h, r)
	g.cfg.Log.WarnContext(r.Context(), "a login to the admin listener failed",
		"client", g.cfg.Proxies.Client(r).String())
	return wrong
}

// maxLogin bounds the form, in bytes.
const maxLogin = 64 << 10

// begin begins a session.
func (g *gate) begin(r *http.Request) (*edge.Answer, error) {
	name, next := named(r.PostFormValue("name")), local(r.PostFormValue("next"))
	if g.cfg.Token != "" {
		f, h := Form{Status: http.StatusForbidden, Name: name, Next: next}, http.Header{}
		if f.Failure = g.try(h, r, r.PostFormValue("token")); f.Failure == tooMany {
			f.Status = http.StatusTooManyRequests
		}
		if f.Failure != "" {
			a := g.form(r, f)
			a.Header = h
			return a, nil
		}
	}
	return g.keep(r, next, g.sessions.begin(name), int(sessionLength.Seconds())), nil
}

// end makes the browser forget its session.
func (g *gate) end(r *http.Request) (*edge.Answer, error) { return g.keep(r, "/login", "", -1), nil }

// keep gives a session to the browser, and leads it to a page.
func (g *gate) keep(r *http.Request, to, session string, seconds int) *edge.Answer {
	https := r.TLS != nil || g.cfg.Proxies.Trusts(r) && r.Header.Get("X-Forwarded-Proto") == "https"
	cookie := http.Cookie{Name: sessionCookie, Value: session, Path: "/", MaxAge: seconds, Secure: https,
		HttpOnly: true, SameSite: http.SameSiteStrictMode}
	return &edge.Answer{Status: http.StatusSeeOther, Goto: to, Header: http.Header{"Set-Cookie": {cookie.String()}}}
}

// form is the page that asks people who they are.
func (g *gate) form(r *http.Request, f Form) *edge.Answer {
	user, known := g.sessions.of(r)
	f.Known, f.Token, f.Name = known, g.cfg.Token != "", cmp.Or(f.Name, user)
	return g.cfg.Front.Login(r.WithContext(WithUser(r.Context(), user)), f)
}

// local returns an address if it is a path of this listener, else the first page.
func local(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(address, "/") ||
		strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\t\r\n") {
		return "/"
	}
	return address
}

// maxName is how long a name may be, in characters.
const maxName = 40

// named makes a name of what somebody typed: one line of printable letters.
func named(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(c rune) bool {
		return unicode.IsSpace(c) || !unicode.IsPrint(c)
	}), " ")
	if r := []rune(s); len(r) > maxName {
		s = strings.TrimSpace(string(r[:maxName]))
	}
	return s
}

// asksForPage reports whether a browser asks for a page, not a program for data.
func asksForPage(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}
