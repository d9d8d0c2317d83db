package gitrepo

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"almanac/ingest/outbound"
)

// errRemote: the address of a repository does not have a form that can be
// fetched.
var errRemote = errors.New("not a repository address: want a path, or an https, http, ssh or git URL " +
	"without password, query and fragment")

// ports are the supported schemes with their default ports.
var ports = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418"}

var (
	hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	hostName  = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)
	numeric   = regexp.MustCompile(`(?:^|\.)(?:\d+|0[xX][0-9a-fA-F]*)$`)
)

// CheckRemote validates the address of a repository. It makes no request: the
// repository need not exist.
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

// parse parses the URL of a repository. The error does not contain it, because it
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
		// Other notations of addresses (2130706433, 0x7f.1) are interpreted
		// differently by different programs.
		return nil, fmt.Errorf("%q is not a host name: %w", host, errRemote)
	}
	return u, nil
}

// Place returns an address unchanged and a path as resolved by local.
func Place(remote string, local func(path string) string) string {
	if CheckRemote(remote) != nil || hasScheme.MatchString(remote) {
		return remote
	}
	return local(remote)
}

// Name returns a repository's name from its address: owner/name of a URL, the
// file name of a path.
func Name(remote string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(remote, "/"), ".git"), ".bundle")
	if u, err := url.Parse(name); err == nil && ports[u.Scheme] != "" && u.Host != "" {
		return strings.TrimPrefix(path.Join(path.Base(path.Dir(u.Path)), path.Base(u.Path)), "/")
	}
	return path.Base(name)
}

// route is how git reaches a remote.
type route struct {
	address  string   // to fetch from
	settings []string // of the git command
	options  []string // of its commands that reach a remote
	ssh      string   // the ssh command
	// authorization is the header that is sent to a web server.
	authorization string
}

// uploadPack is how a repository on this machine is read, whoever owns it: the
// operator named it. Git passes our settings on to no other repository. What packs
// its objects runs no hook or command of its configuration.
const uploadPack = "--upload-pack=git -c 'safe.directory=*' upload-pack"

// find returns the route to a source that the guard allows, until ctx is done.
// slow is called with the reason when the server is.
func find(ctx context.Context, slow context.CancelCauseFunc, client *outbound.Client, s Source) (route, error) {
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
				err = fmt.Errorf("%w; the form of a server is ssh://user@host/path", err)
			}
			return route{}, err
		}
		return route{address: abs, options: []string{uploadPack}}, nil
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
	return stream(ctx, slow, client, u)
}

const advertisement = "application/x-git-upload-pack-advertisement"

// web makes git's first request to a server with the guarded client, follows
// redirects, and pins git to the final address, whatever the name resolves to
// later, without further redirects. A token is sent only to its own host.
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
	if token != "" { // forges that accept tokens ignore the user's name
		authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
		header.Set("Authorization", authorization)
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) { last = peer(c) },
	})
	resp, err := client.Do(traced, outbound.Request{
		URL: ask.String(), Header: header, Accept: []string{advertisement},
	})
	if status := outbound.StatusOf(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		if token != "" {
			return route{}, fmt.Errorf("%w: the token is not accepted, or the repository does not exist", err)
		}
		return route{}, fmt.Errorf("%w: the repository is not public, or does not exist", err)
	}
	if errors.Is(err, outbound.ErrContentType) {
		return route{}, fmt.Errorf("%w: there is no git repository at the address", err)
	}
	if err != nil {
		return route{}, err
	}
	at, err := url.Parse(resp.URL)
	if err != nil || !strings.HasSuffix(at.Path, "/info/refs") || !last.IsValid() {
		return route{}, errors.New("the address is not that of a git repository")
	}
	at.Path, at.RawPath, at.RawQuery, at.Fragment = strings.TrimSuffix(at.Path, "/info/refs"), "", "", ""
	if at, err = parse(at.String()); err != nil {
		return route{}, fmt.Errorf("redirected: %w", err)
	}
	r := route{address: at.String(), settings: []string{
		"-c", "http.followRedirects=false", "-c", "http.proxy=", "-c", "transfer.bundleURI=false",
	}}
	r.settings = append(r.settings, webRate()...)
	if at.Scheme == u.Scheme && at.Host == u.Host {
		r.authorization = authorization
	}
	if _, err := netip.ParseAddr(at.Hostname()); err != nil {
		port := cmp.Or(at.Port(), ports[at.Scheme])
		pin := fmt.Sprintf("http.curloptResolve=%s:%s:%s", at.Hostname(), port, bracketed(last.Addr()))
		r.settings = append(r.settings, "-c", pin)
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

// stream finds the route to a server with another protocol than HTTP: it
// connects through the guard, disconnects before a byte is sent, and sends git
// through a relay to the address it reached, which watches the rate.
func stream(ctx context.Context, slow context.CancelCauseFunc, client *outbound.Client, u *url.URL) (route, error) {
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
	if _, err := client.Do(httptrace.WithClientTrace(reached, trace),
		outbound.Request{URL: door.String()}); !at.IsValid() {
		return route{}, cmp.Or(err, errors.New("the server could not be reached"))
	}
	near, err := relay(ctx, slow, at)
	if err != nil {
		return route{}, err
	}
	if u.Scheme == "git" {
		pinned := *u
		pinned.Host = "127.0.0.1:" + near
		return route{address: pinned.String()}, nil
	}
	known := host // the name of its key
	if port != ports["ssh"] {
		known = "[" + host + "]:" + port
	}
	ssh := fmt.Sprintf("ssh -oBatchMode=yes -oProxyCommand=none -oProxyJump=none -oCanonicalizeHostname=no "+
		"-oHostName=127.0.0.1 -oPort=%s '-oHostKeyAlias=%s'", near, known)
	return route{address: u.String(), ssh: ssh}, nil
}

var gitVersion = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// canPin fails for a git that cannot be pinned to an address: older versions
// ignore the setting.
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
		return fmt.Errorf("%s is too old to fetch from web servers safely; install git 2.37 or newer",
			strings.TrimSpace(string(out)))
	}
	return nil
}

// Addresses are templates of a forge's pages about a repository, with {commit}
// and {path} of a file, and {number} of a pull request.
type Addresses struct {
	File string
	Pull string
	// Merges says that the forge keeps a reference of what each open pull request
	// would merge, at once and only while it is open.
	Merges bool
}

// forges are the kinds of forges by a part of their host names, as in gitlab.com,
// gitlab.example.org and git.forgejo.example.org.
var forges = []struct {
	hosts      []string
	file, pull string
	merges     bool
}{
	{[]string{"github"}, "/blob/{commit}/{path}", "/pull/{number}", true},
	{[]string{"gitlab"}, "/-/blob/{commit}/{path}", "/-/merge_requests/{number}", false},
	{[]string{"codeberg", "gitea", "forgejo"}, "/src/commit/{commit}/{path}", "/pulls/{number}", false},
}

// Forge returns the addresses for a repository's own address, and whether that
// belongs to a known forge.
func Forge(remote string) (Addresses, bool) {
	if CheckRemote(remote) != nil || !hasScheme.MatchString(remote) {
		return Addresses{}, false
	}
	u, err := parse(remote)
	if err != nil {
		return Addresses{}, false
	}
	page := url.URL{Scheme: "https", Host: strings.ToLower(u.Hostname())}
	if u.Scheme == "http" || u.Scheme == "https" {
		page.Scheme, page.Host = u.Scheme, strings.ToLower(u.Host)
	}
	name := strings.TrimSuffix(strings.Trim(u.EscapedPath(), "/"), ".git")
	if !strings.Contains(name, "/") {
		return Addresses{}, false
	}
	labels := strings.Split(strings.ToLower(u.Hostname()), ".")
	for _, f := range forges {
		if slices.ContainsFunc(f.hosts, func(host string) bool { return slices.Contains(labels, host) }) {
			at := page.String() + "/" + name
			return Addresses{File: at + f.file, Pull: at + f.pull, Merges: f.merges}, true
		}
	}
	return Addresses{}, false
}

// slow is how long a server may send less than outbound.MinRate on average: while
// it packs what was asked for, it sends next to nothing.
var slow = 2 * time.Minute

// webRate has git itself, which speaks HTTP, end a slow transfer.
func webRate() []string {
	return []string{"-c", "http.lowSpeedLimit=" + strconv.Itoa(outbound.MinRate),
		"-c", "http.lowSpeedTime=" + strconv.Itoa(int(max(slow, time.Second)/time.Second))}
}

// relay returns a port of this machine from which each connection leads to an
// address, until ctx is done. For the protocols that git cannot time itself:
// when what the server sends is too slow, cancel is called with the reason.
func relay(ctx context.Context, cancel context.CancelCauseFunc, to netip.AddrPort) (port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	every := slow
	context.AfterFunc(ctx, func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go pass(ctx, cancel, near, to, every)
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, err
}

// pass connects a connection with an address until either side ends it. If the
// address sends too little in a period, it cancels, and only then closes: git, which
// notices that, could end before its reason is known.
func pass(ctx context.Context, cancel context.CancelCauseFunc, near net.Conn, to netip.AddrPort, period time.Duration) {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return // git says so
	}
	defer far.Close()
	var received atomic.Int64
	sent, answered := make(chan struct{}), make(chan struct{})
	copyTo := func(to net.Conn, from io.Reader, done chan<- struct{}) {
		_, _ = io.Copy(to, from) // git says what it misses
		_ = to.(*net.TCPConn).CloseWrite()
		close(done)
	}
	go copyTo(far, near, sent)
	go copyTo(near, io.TeeReader(far, counter{&received}), answered)
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-answered: // git reads what is left, and closes
			select {
			case <-sent:
			case <-ctx.Done():
			}
			return
		case <-ticks.C:
			if float64(received.Swap(0)) < outbound.MinRate*period.Seconds() {
				cancel(fmt.Errorf("%w: the server sends less than %d bytes per second for %v", outbound.ErrTimeout,
					outbound.MinRate, period))
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
