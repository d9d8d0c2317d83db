package webaddress

import (
	"errors"
	"net/url"
	"path"
	"regexp"
	"strings"

	"almanac/text/glob"
)

// Canonical parses a web address, relative to base if that is not nil, and
// normalises it for requests: without fragment and tracking parameters, host in
// lower case. Nil if it is not a web address.
func Canonical(raw string, base *url.URL) *url.URL {
	if base == nil {
		base = &url.URL{}
	}
	u, err := base.Parse(strings.TrimSpace(raw))
	if err != nil || !Of(u) || len(raw) > MaxLength {
		return nil
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.RawQuery != "" {
		query := u.Query()
		for name := range query {
			if tracking.MatchString(name) {
				query.Del(name)
			}
		}
		u.RawQuery = query.Encode()
	}
	u.ForceQuery = false
	if u.Path == "" {
		u.Path = "/"
	}
	return u
}

// tracking are query parameters that only say where a reader came from: those of campaigns, the click
// identifiers of advertisers (gclid, fbclid, msclkid) and those of newsletters. What a page may choose
// its content by, such as ref and source, is part of its address.
var tracking = regexp.MustCompile(`(?i)^(?:utm_\w+|[a-z]{1,3}clk?id|mc_[ce]id)$`)

// Key returns the form shared by all addresses of a page: host, path and query,
// without scheme, "www.", the name of an index file, a trailing slash and the
// extension of a rendered page.
func Key(u *url.URL) string {
	key := strings.TrimPrefix(u.Host, "www.") + "/" + Path(u)
	if u.RawQuery != "" {
		key += "?" + u.RawQuery
	}
	return strings.TrimSuffix(key, "/")
}

// Path returns the path of a page on its host, in the form of Key:
// "docs/start".
func Path(u *url.URL) string {
	p := strings.Trim(path.Clean("/"+u.Path), "/")
	for _, extension := range []string{".md", ".mdx", ".html", ".htm"} {
		if name := strings.TrimSuffix(p, extension); name != "" && !strings.HasSuffix(name, "/") {
			p = name
		}
	}
	if base := path.Base(p); base == "index" || base == "index.php" {
		p = strings.Trim(path.Dir(p), "./")
	}
	return strings.ToValidUTF8(p, "\uFFFD")
}

// Scope selects paths of a site.
type Scope struct {
	include, exclude glob.Set
}

// NewScope compiles patterns of paths (see package glob), with or without their
// first slash. No include pattern means all paths.
func NewScope(include, exclude []string) (Scope, error) {
	in, err1 := glob.Exact(rooted(include))
	out, err2 := glob.Exact(rooted(exclude))
	return Scope{in, out}, errors.Join(err1, err2)
}

// Holds reports whether an address is within the scope.
func (s Scope) Holds(u *url.URL) bool {
	return (len(s.include) == 0 || s.include.Match(u.Path)) && !s.exclude.Match(u.Path)
}

// rooted are patterns with their first slash.
func rooted(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		out = append(out, "/"+strings.TrimPrefix(p, "/"))
	}
	return out
}
