package admin

import (
	"cmp"
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"almanac/api/server"
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
func (g *gate) routes() []server.Route {
	if g.cfg.Front == nil {
		return nil
	}
	return []server.Route{
		{Method: http.MethodGet, Path: "/login", Serve: func(r *http.Request) (*server.Answer, error) {
			return g.form(r, Form{Status: http.StatusOK, Next: local(r.FormValue("next"))}), nil
		}},
		{Method: http.MethodPost, Path: "/login", Serve: g.begin, MaxBody: maxLogin},
		{Method: http.MethodPost, Path: "/logout", Serve: g.end},
		g.cfg.Front.Assets(),
	}
}

// gate tells the routes who makes a request, or keeps it out.
func (g *gate) gate(r *http.Request) *server.Answer {
	user, out := g.pass(r)
	*r = *r.WithContext(WithUser(r.Context(), user))
	return out
}

// pass returns who makes a request, or the answer that refuses it.
func (g *gate) pass(r *http.Request) (user string, out *server.Answer) {
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
		return "", &server.Answer{Status: http.StatusSeeOther, Goto: "/login?" + url.Values{"next": {next}}.Encode()}
	}
	token := ""
	if name, password, basic := r.BasicAuth(); basic {
		user, token = named(name), password
	} else if user = ""; strings.EqualFold(scheme, "Bearer") {
		token = credentials
	}
	h := http.Header{}
	f := &server.Refusal{Status: http.StatusTooManyRequests, Message: tooMany}
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
func (g *gate) begin(r *http.Request) (*server.Answer, error) {
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
func (g *gate) end(r *http.Request) (*server.Answer, error) { return g.keep(r, "/login", "", -1), nil }

// keep gives a session to the browser, and leads it to a page.
func (g *gate) keep(r *http.Request, to, session string, seconds int) *server.Answer {
	https := r.TLS != nil || g.cfg.Proxies.Trusts(r) && r.Header.Get("X-Forwarded-Proto") == "https"
	cookie := http.Cookie{Name: sessionCookie, Value: session, Path: "/", MaxAge: seconds, Secure: https,
		HttpOnly: true, SameSite: http.SameSiteStrictMode}
	return &server.Answer{Status: http.StatusSeeOther, Goto: to, Header: http.Header{"Set-Cookie": {cookie.String()}}}
}

// form is the page that asks people who they are.
func (g *gate) form(r *http.Request, f Form) *server.Answer {
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

// Operator is the name of a user of the admin listener who gave none.
const Operator = "operator"

type userKey struct{}

// WithUser stores in a context who makes a request.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// User returns who makes a request.
func User(ctx context.Context) string {
	if name, _ := ctx.Value(userKey{}).(string); name != "" {
		return name
	}
	return Operator
}

const (
	sessionCookie = "almanac_session"
	sessionLength = 12 * time.Hour
)

// sessions makes and reads the sessions of browsers: NAME.END.MAC, where NAME and MAC
// are base64url and END is in seconds since 1970. Nothing is stored, so before its end
// a session is only ended by another token.
type sessions struct {
	key []byte
	now func() time.Time
}

// newSessions derives the key from the token, so that sessions survive a restart.
// Without a token the key is new at every start.
func newSessions(token string, now func() time.Time) (sessions, error) {
	key := make([]byte, sha256.Size)
	if token == "" {
		_, err := rand.Read(key)
		return sessions{key, now}, err
	}
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "almanac admin session", sha256.Size)
	return sessions{key, now}, err
}

// begin returns a new session.
func (s sessions) begin(name string) string {
	payload := base64.RawURLEncoding.EncodeToString([]byte(name)) + "." +
		strconv.FormatInt(s.now().Add(sessionLength).Unix(), 10)
	return payload + "." + s.mac(payload)
}

// of returns who has the session of a request; false without a valid one.
func (s sessions) of(r *http.Request) (name string, ok bool) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return "", false
	}
	at := strings.LastIndexByte(c.Value, '.')
	if at < 0 || !hmac.Equal([]byte(s.mac(c.Value[:at])), []byte(c.Value[at+1:])) {
		return "", false
	}
	who, until, _ := strings.Cut(c.Value[:at], ".")
	end, err := strconv.ParseInt(until, 10, 64)
	text, textErr := base64.RawURLEncoding.DecodeString(who)
	if err != nil || textErr != nil || s.now().Unix() >= end {
		return "", false
	}
	return string(text), true
}

func (s sessions) mac(payload string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(payload))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
