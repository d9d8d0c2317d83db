package gitrepo

import (
	"net/url"
	"slices"
	"strings"
)

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
