package admin

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"almanac/api/guard"
)

// Form is what the page says that asks people who they are.
type Form struct {
	Status  int
	Name    string // "" = not known
	Next    string // path of the page to go to
	Failure string // why the last attempt was refused; "" = there was none
	Token   bool   // the listener has a token
	Known   bool   // who asks has a session, which can be ended
}

// gate lets in who knows the token, and says who that is. Programs send it as a
// bearer token, or as the password of basic authentication with who works here as
// the user; browsers have a session, which a form begins. Without a token, on
// loopback, everybody is let in, and the session is only a name.
type gate struct {
	cfg      Config
	sessions sessions

	mu sync.Mutex // held from looking at the failures of a client to counting one more
}

// login wraps the pages behind the gate.
func login(cfg Config, next http.Handler) (http.Handler, error) {
	s, err := newSessions(cfg.Token, time.Now)
	if err != nil {
		return nil, err
	}
	g := &gate{cfg: cfg, sessions: s}
	mux := http.NewServeMux()
	if cfg.Front != nil {
		mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
			g.form(w, r, Form{Status: http.StatusOK, Next: local(r.FormValue("next"))})
		})
		mux.HandleFunc("POST /login", g.begin)
		mux.HandleFunc("POST /logout", g.end)
		path, files := cfg.Front.Assets()
		mux.Handle("GET "+path, files)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if user, ok := g.pass(w, r); ok {
			next.ServeHTTP(w, r.WithContext(guard.WithUser(r.Context(), user)))
		}
	})
	return mux, nil
}

// pass returns who makes a request, or answers it.
func (g *gate) pass(w http.ResponseWriter, r *http.Request) (user string, ok bool) {
	user, known := g.sessions.of(r)
	scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case g.cfg.Token == "":
		return user, true
	case credentials == "" && known:
		return user, true
	case credentials == "" && g.cfg.Front != nil && asksForPage(r):
		next := "/"
		if r.Method == http.MethodGet {
			next = r.URL.RequestURI()
		}
		http.Redirect(w, r, "/login?"+url.Values{"next": {next}}.Encode(), http.StatusSeeOther)
		return "", false
	}
	token := ""
	if name, password, basic := r.BasicAuth(); basic {
		user, token = named(name), password
	} else if user = ""; strings.EqualFold(scheme, "Bearer") {
		token = credentials
	}
	switch g.try(w, r, token) {
	case "":
		return user, true
	case wrong:
		h := w.Header()
		h.Add("WWW-Authenticate", `Bearer realm="almanac admin"`)
		h.Add("WWW-Authenticate", `Basic realm="almanac admin", charset="UTF-8"`)
		guard.Refuse(w, http.StatusUnauthorized,
			"send the admin token: Authorization: Bearer …, or as the password of basic authentication")
	default:
		guard.Refuse(w, http.StatusTooManyRequests, tooMany)
	}
	return "", false
}

// Why an attempt to log in is refused.
const (
	wrong   = "This is not the admin token."
	tooMany = "Too many attempts to log in failed; try again later."
)

// try compares a token and returns why it is refused, "" if it is not. No token is
// no attempt. A client that failed too often is refused whatever it sends.
func (g *gate) try(w http.ResponseWriter, r *http.Request, token string) string {
	if token == "" {
		return wrong
	}
	// Digests are compared, so that the time taken reveals nothing about the token, not
	// even its length.
	want, got := sha256.Sum256([]byte(g.cfg.Token)), sha256.Sum256([]byte(token))
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.cfg.Failures.Left(r) {
		g.cfg.Failures.Refusal(w, r) // counts, and says when it may try again
		return tooMany
	}
	if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return ""
	}
	g.cfg.Failures.Refusal(w, r)
	g.cfg.Log.WarnContext(r.Context(), "a login to the admin listener failed",
		"client", g.cfg.Proxies.Client(r).String())
	return wrong
}

// maxLogin bounds the form, in bytes.
const maxLogin = 64 << 10

// begin begins a session.
func (g *gate) begin(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	name, next := named(r.PostFormValue("name")), local(r.PostFormValue("next"))
	if g.cfg.Token != "" {
		f := Form{Status: http.StatusForbidden, Name: name, Next: next}
		if f.Failure = g.try(w, r, r.PostFormValue("token")); f.Failure == tooMany {
			f.Status = http.StatusTooManyRequests
		}
		if f.Failure != "" {
			g.form(w, r, f)
			return
		}
	}
	g.keep(w, r, g.sessions.begin(name), int(sessionLength.Seconds()))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// end makes the browser forget its session.
func (g *gate) end(w http.ResponseWriter, r *http.Request) {
	g.keep(w, r, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// keep gives a session to the browser.
func (g *gate) keep(w http.ResponseWriter, r *http.Request, session string, seconds int) {
	https := r.TLS != nil || g.cfg.Proxies.Trusts(r) && r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: session, Path: "/", MaxAge: seconds, Secure: https,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// form writes the page that asks people who they are.
func (g *gate) form(w http.ResponseWriter, r *http.Request, f Form) {
	user, known := g.sessions.of(r)
	f.Known, f.Token, f.Name = known, g.cfg.Token != "", cmp.Or(f.Name, user)
	g.cfg.Front.Login(w, r.WithContext(guard.WithUser(r.Context(), user)), f)
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

// named makes a name of what somebody wrote: one line of letters that can be read.
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
