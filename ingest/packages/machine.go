package packages

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"almanac/ingest/folder"
)

// machine is where the configuration of package managers is read from.
type machine struct {
	env     map[string]string
	home    string // "" if there is none
	root    string
	project fs.FS // nil if there is none
}

func thisMachine(project fs.FS) machine {
	m := machine{env: map[string]string{}, root: "/", project: project}
	for _, setting := range os.Environ() {
		name, value, _ := strings.Cut(setting, "=")
		m.env[name] = value
	}
	m.home, _ = os.UserHomeDir() // without one there is no configuration in it
	return m
}

const maxConfig = 1 << 20 // bytes of a configuration file

// file reads a configuration file; nil if there is none.
func (m machine) file(name string) ([]byte, error) {
	data, err := folder.ReadFile(name, maxConfig)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return data, err
}

func (m machine) below(names ...string) string {
	return filepath.Join(append([]string{m.root}, names...)...)
}

func (m machine) atHome(names ...string) string {
	if m.home == "" {
		return ""
	}
	return filepath.Join(append([]string{m.home}, names...)...)
}

// npmrc is the configuration of npm: settings by their names.
type npmrc map[string]string

// npm reads npm's configuration. See npmrc(5) for the files.
func (m machine) npm() (npmrc, error) {
	c := npmrc{}
	for name, value := range m.env {
		if setting, ok := npmSetting(name); ok && value != "" {
			c[setting] = value
		}
	}
	if m.project != nil {
		data, err := folder.Read(m.project, ".npmrc", maxConfig)
		if _, large := errors.AsType[folder.TooLarge](err); large {
			return nil, fmt.Errorf("npm's configuration: %w", err)
		}
		c.add(parseNpmrc(data, m.env)) // there may be none
	}
	user := cmp.Or(c["userconfig"], m.atHome(".npmrc"))
	global := []string{m.below("usr", "local", "etc", "npmrc"), m.below("etc", "npmrc")}
	if name := c["globalconfig"]; name != "" {
		global = []string{name}
	}
	for _, name := range append([]string{user}, global...) {
		if name == "" {
			continue
		}
		data, err := m.file(name)
		if err != nil {
			return nil, fmt.Errorf("npm's configuration: %w", err)
		}
		c.add(parseNpmrc(data, m.env))
	}
	return c, nil
}

// npmSetting returns the setting for an environment variable: its name without
// npm_config_, in lower case and with hyphens, unless it belongs to a registry
// or a scope.
func npmSetting(variable string) (string, bool) {
	const prefix = "npm_config_"
	if len(variable) <= len(prefix) || !strings.EqualFold(variable[:len(prefix)], prefix) {
		return "", false
	}
	name := variable[len(prefix):]
	if strings.HasPrefix(name, "//") || strings.HasPrefix(name, "@") {
		return name, true
	}
	return strings.ReplaceAll(strings.ToLower(name), "_", "-"), true
}

// add adds the settings that are not set yet.
func (c npmrc) add(others npmrc) {
	for name, value := range others {
		if _, ok := c[name]; !ok {
			c[name] = value
		}
	}
}

var npmVariable = regexp.MustCompile(`\$\{([^${}?]+)(\??)\}`)

// parseNpmrc reads an .npmrc: key = value lines, comments after ; or #, values
// in quotes, ${VARIABLE} for environment variables (${VARIABLE?} is empty if it
// is not set; without ? the text stays unchanged, which is never a valid
// address or token). Lists and sections are irrelevant for registries.
func parseNpmrc(data []byte, env map[string]string) npmrc {
	c := npmrc{}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if key = strings.TrimSpace(key); !ok || key == "" || strings.ContainsAny(key[:1], ";#[") ||
			strings.HasSuffix(key, "[]") {
			continue
		}
		expand := func(s string) string {
			return npmVariable.ReplaceAllStringFunc(s, func(match string) string {
				name := npmVariable.FindStringSubmatch(match)
				if v, ok := env[name[1]]; ok || name[2] != "" {
					return v
				}
				return match
			})
		}
		c[expand(unquote(key))] = expand(unquote(value))
	}
	return c
}

// unquote reads a value in npm's ini format.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') {
		inner := s[1 : len(s)-1]
		var text string
		if s[0] == '"' && json.Unmarshal([]byte(s), &text) == nil {
			return text
		}
		return inner
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`\;#`, s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case s[i] == ';' || s[i] == '#':
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.TrimSpace(b.String())
}

var errNoNPMRegistry = errors.New("npm is not configured with a registry: write registry=https://… into .npmrc in " +
	"the home directory, or set NPM_CONFIG_REGISTRY or option npm_registry")

// registry returns the address of a package's registry.
func (c npmrc) registry(name string) (*url.URL, error) {
	raw, setting := c["registry"], "registry"
	if scope, _, scoped := strings.Cut(name, "/"); scoped && c[scope+":registry"] != "" {
		setting = scope + ":registry"
		raw = c[setting]
	}
	if raw == "" {
		return nil, errNoNPMRegistry
	}
	u := address(raw)
	if u == nil {
		return nil, fmt.Errorf("npm's setting %s is not a web address", setting)
	}
	return u, nil
}

// authorization returns the credentials for a registry from npm's
// configuration: those of the longest matching prefix of its address.
func (c npmrc) authorization(registry *url.URL) string {
	for at := strings.TrimSuffix(registry.Path, "/"); ; at = at[:strings.LastIndexByte(at, '/')] {
		for _, place := range []string{"//" + registry.Host + at + "/", "//" + registry.Host + at} {
			token, basic := c[place+":_authToken"], c[place+":_auth"]
			password, err := base64.StdEncoding.DecodeString(c[place+":_password"])
			switch {
			case usable(token):
				return "Bearer " + token
			case usable(basic):
				return "Basic " + basic
			case c[place+":username"] != "" && err == nil && len(password) > 0:
				return basicAuth(c[place+":username"] + ":" + string(password))
			}
		}
		if !strings.Contains(at, "/") {
			return ""
		}
	}
}

func basicAuth(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

// usable reports whether a setting can be sent: it exists, its variables were
// set, and it is one word.
func usable(credentials string) bool {
	return credentials != "" && !strings.Contains(credentials, "${") &&
		!strings.ContainsFunc(credentials, func(r rune) bool { return r <= ' ' || r > '~' })
}

// containers is the configuration of the container tools.
type containers struct {
	search     []string            // registries of images without a host
	registries map[string]registry // by prefix
	mirrors    []string            // addresses; of docker, for images without a host
	insecure   []string            // hosts
}

// registry is a table [[registry]] of registries.conf.
type registry struct {
	Prefix     string   `json:"prefix"`
	Location   string   `json:"location"`
	Insecure   bool     `json:"insecure"`
	Blocked    bool     `json:"blocked"`
	DigestOnly bool     `json:"mirror-by-digest-only"`
	Mirrors    []mirror `json:"mirror"`
}

type mirror struct {
	Location string `json:"location"`
	Insecure bool   `json:"insecure"`
	Pull     string `json:"pull-from-mirror"`
}

// containers reads registries.conf, its drop-in directory, and docker's
// daemon.json. See containers-registries.conf(5) for the former.
func (m machine) containers() (containers, error) {
	c := containers{registries: map[string]registry{}}
	var names []string
	switch own := m.atHome(".config", "containers", "registries.conf"); {
	case m.env["CONTAINERS_REGISTRIES_CONF"] != "":
		names = []string{m.env["CONTAINERS_REGISTRIES_CONF"]}
	case own != "" && exists(own):
		names = []string{own}
	default:
		names = []string{m.below("etc", "containers", "registries.conf")}
	}
	for _, dir := range []string{m.below("etc", "containers", "registries.conf.d"),
		m.atHome(".config", "containers", "registries.conf.d")} {
		if dir != "" {
			more, _ := filepath.Glob(filepath.Join(dir, "*.conf")) // the pattern is valid; sorted
			names = append(names, more...)
		}
	}
	for _, name := range names {
		data, err := m.file(name)
		if err == nil {
			err = c.addRegistries(data)
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
	}
	for _, name := range []string{m.atHome(".config", "docker", "daemon.json"),
		m.below("etc", "docker", "daemon.json")} {
		data, err := m.file(name)
		if err == nil && len(data) > 0 {
			err = c.addDaemon(data)
		}
		if err != nil {
			return c, fmt.Errorf("docker's daemon.json: %w", err)
		}
	}
	return c, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// addRegistries adds a registries.conf, which overrides what was read before.
func (c *containers) addRegistries(data []byte) error {
	var f struct {
		Search     []string   `json:"unqualified-search-registries"`
		Registries []registry `json:"registry"`
	}
	var tree map[string]any // not f: the library panics on tables inside missing lists
	err := toml.Unmarshal(data, &tree)
	if err == nil {
		data, err = json.Marshal(tree)
	}
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return fmt.Errorf("it is not a valid registries.conf: %w", err)
	}
	if f.Search != nil {
		c.search = f.Search
	}
	for _, r := range f.Registries {
		r.Prefix = strings.TrimSuffix(cmp.Or(r.Prefix, r.Location), "/")
		if r.Prefix != "" {
			c.registries[r.Prefix] = r
		}
	}
	return nil
}

func (c *containers) addDaemon(data []byte) error {
	var f struct {
		Mirrors  []string `json:"registry-mirrors"`
		Insecure []string `json:"insecure-registries"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("it is not valid: %w", err)
	}
	c.mirrors, c.insecure = append(c.mirrors, f.Mirrors...), append(c.insecure, f.Insecure...)
	return nil
}

// endpoint is a repository of a registry from which an image may be read.
type endpoint struct {
	base string // address without /v2
	name string // of the repository
}

// splitImage splits an image's name into host and repository. The first part is
// a host if it has a dot or a port, or is localhost.
func splitImage(image string) (host, name string) {
	first, rest, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") && imageHost.MatchString(first) {
		return first, rest
	}
	return "", image
}

var errNoImageRegistry = errors.New("it names no registry and none is configured: write its host before its name, or " +
	"set unqualified-search-registries in registries.conf, registry-mirrors in docker's daemon.json, or option " +
	"image_registry")

// endpoints returns where an image may be read, in the order to try.
func (c containers) endpoints(image string) ([]endpoint, error) {
	if host, _ := splitImage(image); host != "" {
		return c.located(image)
	}
	var all []endpoint
	for _, host := range c.search {
		found, err := c.located(host + "/" + image)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	for _, m := range c.mirrors {
		u := address(m)
		if u == nil {
			return nil, errors.New("registry-mirrors in docker's daemon.json: want web addresses")
		}
		name := image
		if !strings.Contains(name, "/") {
			name = "library/" + name // docker's namespace for images without one
		}
		all = append(all, endpoint{strings.TrimRight(u.String(), "/"), name})
	}
	if len(all) == 0 {
		return nil, errNoImageRegistry
	}
	return all, nil
}

// located applies registries.conf to an image with a host: the mirrors of the
// longest prefix, then its location.
func (c containers) located(image string) ([]endpoint, error) {
	var r registry
	length := -1
	for prefix, candidate := range c.registries {
		if n := covers(prefix, image); n > length {
			r, length = candidate, n
		}
	}
	if length < 0 {
		return c.endpoint(nil, image, false)
	}
	if r.Blocked {
		return nil, fmt.Errorf("registries.conf blocks %s", r.Prefix)
	}
	var all []endpoint
	var err error
	for _, m := range r.Mirrors {
		if r.DigestOnly || m.Pull == "digest-only" || m.Location == "" {
			continue // it has no tags to list
		}
		if all, err = c.endpoint(all, strings.TrimSuffix(m.Location, "/")+image[length:], m.Insecure); err != nil {
			return nil, err
		}
	}
	if r.Location != "" && !strings.HasPrefix(r.Prefix, "*.") {
		image = strings.TrimSuffix(r.Location, "/") + image[length:]
	}
	return c.endpoint(all, image, r.Insecure)
}

// covers returns the length of the part of an image's name that a prefix
// matches, -1 if it does not match.
func covers(prefix, image string) int {
	if suffix, wild := strings.CutPrefix(prefix, "*"); wild {
		host, _, _ := strings.Cut(image, "/")
		if strings.HasPrefix(suffix, ".") && strings.HasSuffix(host, suffix) {
			return len(host)
		}
		return -1
	}
	if rest, ok := strings.CutPrefix(image, prefix); ok && (rest == "" || rest[0] == '/') {
		return len(prefix)
	}
	return -1
}

func (c containers) endpoint(all []endpoint, image string, insecure bool) ([]endpoint, error) {
	host, name := splitImage(image)
	scheme := "https://"
	if insecure || slices.Contains(c.insecure, host) || onThisMachine(host) {
		scheme = "http://"
	}
	if host == "" || !imageName.MatchString(name) || address(scheme+host) == nil {
		return nil, fmt.Errorf("%.100q is not an image with a registry", image)
	}
	return append(all, endpoint{scheme + host, name}), nil
}

// onThisMachine reports whether a registry is local, which container tools
// query without TLS by default.
func onThisMachine(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
