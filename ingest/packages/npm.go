package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/outbound"
	"almanac/text/dates"
	"almanac/text/prose"
	"almanac/text/webaddress"
)

// The registries, as used in keys and containers.
const (
	registryNPM = "npm"
	registryOCI = "oci"
)

const (
	maxPackument    = 64 << 20 // bytes
	maxDependencies = 1000
	maxReadme       = 64 << 10 // bytes
)

var jsonTypes = []string{"application/json", "application/vnd.npm.install-v1+json", "application/octet-stream",
	"text/plain"}

// packument is npm's metadata of a package.
// https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md
type packument struct {
	name      string
	fields    object
	tags      map[string][]string // dist-tags of a version
	times     object
	released  object // by version
	withdrawn bool
	invalid   []string // versions that cannot be read as such
}

// object is a JSON object whose fields have taken many forms over the years.
type object map[string]json.RawMessage

// text returns a field's text; "" if it is not text.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}

func (o object) object(name string) object {
	var inner object
	if json.Unmarshal(o[name], &inner) != nil {
		return nil
	}
	return inner
}

var errNoPackument = errors.New("the answer is not a registry's metadata of a package")

// parsePackument reads a packument, full or abbreviated.
func parsePackument(body []byte) (packument, error) {
	var p packument
	if json.Unmarshal(body, &p.fields) != nil {
		return p, errNoPackument
	}
	p.name, p.times = p.fields.text("name"), p.fields.object("time")
	versions := p.fields.object("versions")
	_, p.withdrawn = p.times["unpublished"]
	if p.name == "" || len(versions) == 0 && !p.withdrawn {
		return p, errNoPackument
	}
	p.released, p.tags = object{}, map[string][]string{}
	for text, raw := range versions {
		if _, ok := parseVersion(text); ok {
			p.released[text] = raw
		} else {
			p.invalid = append(p.invalid, text)
		}
	}
	slices.Sort(p.invalid)
	tags := p.fields.object("dist-tags")
	for tag := range tags {
		v := tags.text(tag)
		p.tags[v] = append(p.tags[v], tag)
	}
	for _, tags := range p.tags {
		slices.Sort(tags)
	}
	return p, nil
}

// maxTagged is the maximum number of versions kept only for their dist-tags,
// the newest ones: some publishers tag every build.
const maxTagged = 50

// versions returns the versions to keep, newest first.
func (p packument) versions(releases, prereleases int) []version {
	var all []version
	for text := range p.released {
		v, _ := parseVersion(text) // parsed before
		all = append(all, v)
	}
	tagged := maxTagged
	return newest(all, releases, prereleases, func(v version) bool {
		tags := p.tags[v.text]
		if len(tags) > 0 {
			tagged--
		}
		return slices.Contains(tags, "latest") || len(tags) > 0 && tagged >= 0
	})
}

// published returns when a version was published; zero if the registry does not
// say.
func (p packument) published(version string) time.Time { return parseTime(p.times.text(version)) }

var firstTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// parseTime parses a time; zero if invalid, or in 1970 or year 1, which
// reproducible builds write.
func parseTime(s string) time.Time {
	at := dates.At(s, dates.Instant)
	if at.Before(firstTime) {
		return time.Time{}
	}
	return at
}

// npm reads a package of npm's registry.
func (r *run) npm(ctx context.Context, name string, old seen) (seen, error) {
	registry, err := r.npmRegistry(name)
	if err != nil {
		return seen{}, err
	}
	header := http.Header{}
	if auth := cmp.Or(r.token(registry.Host), r.npmrc.authorization(registry)); auth != "" {
		header.Set("Authorization", auth)
	}
	resp, err := r.ask(ctx, outbound.Request{
		URL: strings.TrimRight(registry.String(), "/") + "/" + strings.ReplaceAll(name, "/", "%2f"), Header: header,
		ETag: old.ETag, LastModified: old.Modified, Accept: jsonTypes, MaxBody: maxPackument,
	})
	if err != nil {
		return seen{}, err
	}
	if resp.NotModified {
		r.keep(old)
		return old, nil
	}
	p, err := parsePackument(resp.Body)
	if err == nil && p.name != name {
		err = fmt.Errorf("the answer is about %.100q", p.name)
	}
	if err != nil {
		return seen{}, err
	}
	now := seen{ETag: resp.ETag, Modified: resp.LastModified}
	if p.withdrawn && len(p.released) == 0 {
		r.out.Warn(registryNPM+":"+name, "its publisher withdrew all versions")
	}
	if len(p.invalid) > 0 {
		r.out.Warn(registryNPM+":"+name, fmt.Sprintf("%d versions are left out, as they cannot be read as versions: "+
			"%.200s", len(p.invalid), strings.Join(p.invalid, ", ")))
	}
	undated := 0
	for _, v := range p.versions(r.opts.Versions, r.opts.Prereleases) {
		e, err := r.npmEntry(p, v)
		if errors.Is(err, errNoPackument) {
			r.out.Skip(keyOf(registryNPM, name, v.text), err)
			now.Keys = append(now.Keys, keyOf(registryNPM, name, v.text)) // keeps its record if there is one
			r.keep(seen{Keys: now.Keys[len(now.Keys)-1:]})
			continue
		}
		if err != nil {
			return seen{}, err
		}
		if e.Record.CreatedAt.IsZero() {
			undated++
		}
		now.Keys = append(now.Keys, e.Record.Key)
		if err := r.put(ctx, e); err != nil {
			return seen{}, err
		}
	}
	if undated > 0 {
		r.out.Warn(registryNPM+":"+name, fmt.Sprintf("the registry does not say when %d versions were published",
			undated))
	}
	return now, nil
}

func (r *run) npmRegistry(name string) (*url.URL, error) {
	if r.opts.NPMRegistry != "" {
		return webaddress.Parse(r.opts.NPMRegistry)
	}
	u, err := r.npmrc.registry(name)
	if err == nil {
		r.hosts.Client = r.hosts.Client.For(u.String())
	}
	return u, err
}

// npmEntry makes the record of a version.
func (r *run) npmEntry(p packument, v version) (catalog.Entry, error) {
	f := p.released.object(v.text)
	if f == nil {
		return catalog.Entry{}, errNoPackument
	}
	d := catalog.PackageVersion{
		Name: p.name, Version: v.text, Description: cmp.Or(f.text("description"), p.fields.text("description")),
		DistTags: append([]string{}, p.tags[v.text]...), Prerelease: v.prerelease(), Deprecated: deprecated(f["deprecated"]),
		Licence:      cmp.Or(licence(f), licence(p.fields)),
		Repository:   cmp.Or(repository(f["repository"]), repository(p.fields["repository"])),
		Dependencies: dependencies(f["dependencies"]),
	}
	dist := f.object("dist")
	d.Digest = dist.text("integrity")
	if sum := dist.text("shasum"); d.Digest == "" && sum != "" {
		d.Digest = "sha1:" + sum
	}
	var size int64
	if json.Unmarshal(dist["unpackedSize"], &size) == nil && size > 0 {
		d.Bytes = &size
	}
	text := []string{d.Description}
	if slices.Contains(d.DistTags, "latest") {
		text = append(text, prose.FirstBytes(p.fields.text("readme"), maxReadme))
	}
	text = append(text, fmt.Sprintf("Installed by `npm install %s@%s`.", p.name, v.text))
	home := homepage(cmp.Or(f.text("homepage"), p.fields.text("homepage")))
	return entry(registryNPM, d, p.published(v.text),
		cmp.Or(page(r.opts.NPMPage, p.name, v.text), home, homepage(d.Repository)), text)
}

// deprecated returns a version's deprecation message; some tools mark a version
// as deprecated without one.
func deprecated(raw json.RawMessage) string {
	var s string
	var flag bool
	switch {
	case json.Unmarshal(raw, &s) == nil:
		return strings.TrimSpace(s) // empty: no longer deprecated
	case json.Unmarshal(raw, &flag) == nil && flag:
		return "This version is deprecated."
	}
	return ""
}

// licence reads license, a name or an object, or its predecessor, the list
// licenses.
func licence(o object) string {
	if s := o.text("license"); s != "" {
		return s
	}
	if s := o.object("license").text("type"); s != "" {
		return s
	}
	var list []json.RawMessage
	var names []string
	if json.Unmarshal(o["licenses"], &list) != nil {
		list = []json.RawMessage{o["licenses"]}
	}
	for _, raw := range list {
		one := object{"name": raw}
		if name := cmp.Or(one.text("name"), one.object("name").text("type")); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, " OR ")
}

// forges are the hosts of short forms of a repository (npm's hosted-git-info).
var forges = map[string]string{"": "github.com", "github": "github.com", "gitlab": "gitlab.com",
	"bitbucket": "bitbucket.org"}

// repository returns the web address of a repository given as a git address or
// in short: owner/name.
func repository(raw json.RawMessage) string {
	o := object{"it": raw}
	s := cmp.Or(o.text("it"), o.object("it").text("url"))
	if s == "" {
		return ""
	}
	s = strings.TrimPrefix(s, "git+")
	scheme, rest, _ := strings.Cut(s, ":")
	if !strings.Contains(s, ":") {
		scheme, rest = "", s
	}
	if host, ok := forges[scheme]; ok && strings.Count(rest, "/") == 1 {
		s = "https://" + host + "/" + rest
	} else if user, path, ok := strings.Cut(s, ":"); ok && strings.HasPrefix(user, "git@") &&
		!strings.HasPrefix(path, "/") {
		s = "https://" + strings.TrimPrefix(user, "git@") + "/" + path
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return ""
	}
	switch u.Scheme {
	case "git", "ssh":
		u.Scheme, u.Host = "https", u.Hostname()
	case "http", "https":
	default:
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.RawPath = nil, "", "", ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git")
	return u.String()
}

func homepage(raw string) string {
	u, err := webaddress.Parse(strings.TrimSpace(raw))
	if err != nil {
		return ""
	}
	return u.String()
}

// dependencies reads a map of names to ranges. Very old versions have a list.
func dependencies(raw json.RawMessage) map[string]string {
	var o object
	if json.Unmarshal(raw, &o) != nil || len(o) == 0 || len(o) > maxDependencies {
		return nil
	}
	all := map[string]string{}
	for name := range o {
		all[name] = o.text(name)
	}
	return all
}
