package packages

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"almanac/ingest/folder"
	"almanac/text/webaddress"
)

// machine is where npm's configuration is read from.
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
	var files []string
	if user := c["userconfig"]; user != "" || m.home != "" {
		files = append(files, cmp.Or(user, filepath.Join(m.home, ".npmrc")))
	}
	if name := c["globalconfig"]; name != "" {
		files = append(files, name)
	} else {
		files = append(files, filepath.Join(m.root, "usr/local/etc/npmrc"), filepath.Join(m.root, "etc/npmrc"))
	}
	for _, name := range files {
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
	u, err := webaddress.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, fmt.Errorf("npm's setting %s is not a web address: %w", setting, err)
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
