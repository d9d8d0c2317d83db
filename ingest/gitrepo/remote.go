package gitrepo

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"almanac/ingest/outbound"
)

// errRemote: the address of a repository is not of a form that can be fetched.
var errRemote = errors.New("not a repository address: want a path, or an https, http, ssh or git URL without password, query and fragment")

// ports are the schemes that are fetched from, with their usual ports.
var ports = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418"}

var (
	hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	hostName  = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)
	numeric   = regexp.MustCompile(`(?:^|\.)(?:\d+|0[xX][0-9a-fA-F]*)$`)
)

// CheckRemote says what is wrong with the address of a repository. It makes no
// request: what it accepts may not exist.
func CheckRemote(remote string) error {
	if hasScheme.MatchString(remote) {
		_, err := parse(remote)
		return err
	}
	if remote == "" || strings.HasPrefix(remote, "-") || strings.Contains(remote, "::") {
		return fmt.Errorf("%q: %w", remote, errRemote)
	}
	return nil
}

// parse reads the URL of a repository. The error does not repeat it, for it
// may hold a password.
func parse(remote string) (*url.URL, error) {
	u, err := url.Parse(remote)
	if err != nil {
		return nil, errRemote
	}
	_, password := u.User.Password()
	host := u.Hostname()
	_, notAddress := netip.ParseAddr(host)
	switch {
	case ports[u.Scheme] == "" || password || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return nil, errRemote
	case notAddress == nil && !strings.Contains(host, "%"):
	case !hostName.MatchString(host), numeric.MatchString(host):
		// Other spellings of addresses (2130706433, 0x7f.1) are read in as many
		// ways as there are readers.
		return nil, fmt.Errorf("%q is not a host name: %w", host, errRemote)
	}
	return u, nil
}

// Place returns an address as it is and a path as local places it.
func Place(remote string, local func(path string) string) string {
	if CheckRemote(remote) != nil || hasScheme.MatchString(remote) {
		return remote
	}
	return local(remote)
}

// Advice says what may be wrong with a repository that is a path.
func Advice(remote string) []string {
	if hasScheme.MatchString(remote) {
		return nil
	}
	if _, err := os.Stat(remote); err != nil {
		return []string{"there is no " + remote}
	}
	return nil
}

// Name is what a repository is called by its address: owner/name of a URL,
// the file's name of a path.
func Name(remote string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(remote, "/"), ".git"), ".bundle")
	if u, err := url.Parse(name); err == nil && ports[u.Scheme] != "" && u.Host != "" {
		return strings.TrimPrefix(path.Join(path.Base(path.Dir(u.Path)), path.Base(u.Path)), "/")
	}
	return path.Base(name)
}

// route is how git gets to a remote.
type route struct {
	address  string   // what it fetches from
	settings []string // of the git command
	ssh      string   // the ssh command
	// authorization is what a web server is shown.
	authorization string
}

// find asks the guard for the way to a source.
func find(ctx context.Context, client *outbound.Client, s Source) (route, error) {
	remote := s.Remote
	if err := CheckRemote(remote); err != nil {
		return route{}, err
	}
	if !hasScheme.MatchString(remote) {
		abs, err := filepath.Abs(remote)
		if err != nil {
			return route{}, err
		}
		if _, err := os.Stat(abs); err != nil {
			if strings.Contains(remote, "@") {
				err = fmt.Errorf("%w; a server is written ssh://user@host/path", err)
			}
			return route{}, err
		}
		return route{address: abs}, nil
	}
	u, err := parse(remote)
	switch {
	case err != nil:
		return route{}, err
	case client == nil:
		return route{}, errors.New("a repository on a server needs a client that guards connections")
	case u.Scheme == "https" || u.Scheme == "http":
		return web(ctx, client, u, s.Token)
	}
	return stream(ctx, client, u)
}

const advertisement = "application/x-git-upload-pack-advertisement"

// web asks a server for what git asks first, follows its redirects, and holds
// git to where the guarded client ended: to that address, whatever the name
// resolves to by then, and without further redirects. A token goes no further
// than to the host that it is for.
func web(ctx context.Context, client *outbound.Client, u *url.URL, token string) (route, error) {
	if err := canPin(ctx); err != nil {
		return route{}, err
	}
	var last netip.AddrPort
	ask := *u
	ask.Path, ask.RawPath = strings.TrimRight(u.Path, "/")+"/info/refs", ""
	ask.RawQuery = "service=git-upload-pack"
	header := http.Header{"Git-Protocol": {"version=2"}}
	authorization := ""
	if token != "" { // the user's name is anything to forges that take tokens
		authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
		header.Set("Authorization", authorization)
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { last = peer(c) }})
	resp, err := client.Do(traced, outbound.Request{
		URL: ask.String(), Header: header, Accept: []string{advertisement},
	})
	if status, ok := errors.AsType[*outbound.StatusError](err); ok && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden) {
		if token != "" {
			return route{}, fmt.Errorf("%w: the token is not accepted, or the repository is not there", err)
		}
		return route{}, fmt.Errorf("%w: the repository is not public, or not there", err)
	}
	if errors.Is(err, outbound.ErrContentType) {
		return route{}, fmt.Errorf("%w: no git repository answers there", err)
	}
	if err != nil {
		return route{}, err
	}
	at, err := url.Parse(resp.URL)
	if err != nil || !strings.HasSuffix(at.Path, "/info/refs") || !last.IsValid() {
		return route{}, errors.New("the address leads to no git repository")
	}
	at.Path, at.RawPath, at.RawQuery, at.Fragment = strings.TrimSuffix(at.Path, "/info/refs"), "", "", ""
	if at, err = parse(at.String()); err != nil {
		return route{}, fmt.Errorf("redirected: %w", err)
	}
	r := route{address: at.String(), settings: []string{
		"-c", "http.followRedirects=false", "-c", "http.proxy=", "-c", "transfer.bundleURI=false",
	}}
	if at.Scheme == u.Scheme && at.Host == u.Host {
		r.authorization = authorization
	}
	if _, err := netip.ParseAddr(at.Hostname()); err != nil {
		r.settings = append(r.settings, "-c", fmt.Sprintf("http.curloptResolve=%s:%s:%s", at.Hostname(), cmp.Or(at.Port(), ports[at.Scheme]), bracketed(last.Addr())))
	}
	return r, nil
}

func peer(c httptrace.GotConnInfo) netip.AddrPort {
	a, _ := netip.ParseAddrPort(c.Conn.RemoteAddr().String())
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func bracketed(a netip.Addr) string {
	if a.Is4() {
		return a.String()
	}
	return "[" + a.String() + "]"
}

// stream finds the way to a server of another protocol than HTTP: it connects
// through the guard, hangs up before a byte is sent, and holds git to the
// address it got to.
func stream(ctx context.Context, client *outbound.Client, u *url.URL) (route, error) {
	host, port := u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme])
	var at netip.AddrPort
	reached, cancel := context.WithCancel(ctx)
	defer cancel()
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		at = peer(c)
		_ = c.Conn.Close()
		cancel()
	}}
	door := url.URL{Scheme: "http", Host: strings.TrimSuffix(u.Host, ":"+u.Port()) + ":" + port}
	if _, err := client.Do(httptrace.WithClientTrace(reached, trace), outbound.Request{URL: door.String()}); !at.IsValid() {
		return route{}, cmp.Or(err, errors.New("the server could not be reached"))
	}
	if u.Scheme == "git" {
		pinned := *u
		pinned.Host = bracketed(at.Addr()) + ":" + port
		return route{address: pinned.String()}, nil
	}
	known := host // under which name its key is known
	if port != ports["ssh"] {
		known = "[" + host + "]:" + port
	}
	return route{address: u.String(), ssh: fmt.Sprintf(
		"ssh -oBatchMode=yes -oProxyCommand=none -oProxyJump=none -oCanonicalizeHostname=no '-oHostName=%s' '-oHostKeyAlias=%s'", at.Addr(), known)}, nil
}

var gitVersion = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// canPin fails for a git that cannot be held to an address: older ones ignore
// the setting.
func canPin(ctx context.Context) error {
	out, err := command(ctx, route{}, "version").Output()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return errGit
	case err != nil:
		return fmt.Errorf("git version: %w", err)
	}
	var major, minor int
	if m := gitVersion.FindStringSubmatch(string(out)); m != nil {
		_, _ = fmt.Sscan(m[1], &major)
		_, _ = fmt.Sscan(m[2], &minor)
	}
	if major < 2 || major == 2 && minor < 37 {
		return fmt.Errorf("%s is too old to fetch from web servers safely; install git 2.37 or newer", strings.TrimSpace(string(out)))
	}
	return nil
}
