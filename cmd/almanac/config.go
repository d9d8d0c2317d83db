package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"

	"almanac/api/limit"
	"almanac/catalog/network"
)

// Config is the effective configuration. Its keys are section.key as the
// tags spell them.
type Config struct {
	Server struct {
		Listen         string   `koanf:"listen" default:"127.0.0.1:8080" doc:"address of the public listener"`
		Admin          string   `koanf:"admin" default:"127.0.0.1:8081" empty:"true" doc:"address of the admin listener; empty switches it off"`
		AdminToken     string   `koanf:"admin_token" secret:"true" doc:"bearer token of the admin listener; needed when it is not on loopback"`
		PublicURL      string   `koanf:"public_url" doc:"base address that clients see; default http://LISTEN"`
		TrustedProxies []string `koanf:"trusted_proxies" doc:"addresses or networks whose X-Forwarded-For counts"`
		AllowedOrigins []string `koanf:"allowed_origins" doc:"origins that may call /mcp from a browser"`
	} `koanf:"server"`
	Network struct {
		Name      string `koanf:"name" default:"sample" doc:"preset or YAML file of the network"`
		CorpusDir string `koanf:"corpus_dir" doc:"directory that ${corpus} stands for in a network's sources"`
	} `koanf:"network"`
	Data struct {
		Dir string `koanf:"dir" doc:"data directory; default $XDG_DATA_HOME/almanac/NETWORK"`
	} `koanf:"data"`
	Sync struct {
		Enabled bool     `koanf:"enabled" default:"true" doc:"whether serve syncs its sources"`
		Allow   []string `koanf:"allow" doc:"private networks that sources may be on, such as 10.0.0.0/8; requests to all others are refused"`
	} `koanf:"sync"`
	Limit struct {
		REST int `koanf:"rest" default:"60" doc:"REST calls per client and 15 minutes; 0 = no limit"`
		MCP  int `koanf:"mcp" default:"60" doc:"tool calls per client and 15 minutes; 0 = no limit"`
		Web  int `koanf:"web" default:"300" doc:"web pages per client and 15 minutes; 0 = no limit"`
	} `koanf:"limit"`
	Search struct {
		Profile  string        `koanf:"profile" doc:"relevance profile: built in, or a YAML file; default the one fitted to the kind of embedding model, default or transformer"`
		Deadline time.Duration `koanf:"deadline" default:"800ms" doc:"time the engines have for one search"`
	} `koanf:"search"`
	Keyword KeywordConfig `koanf:"keyword"`
	Vector  VectorConfig  `koanf:"vector"`
	Embed   EmbedConfig   `koanf:"embed"`
	Rerank  RerankConfig  `koanf:"rerank"`
	Sample  struct {
		Anchor string `koanf:"anchor" doc:"day the sample network's dates hang on (YYYY-MM-DD); default the day of its first load"`
	} `koanf:"sample"`
	Log struct {
		Level  string `koanf:"level" default:"info" doc:"debug, info, warn or error; commands that end by themselves start at warn"`
		Format string `koanf:"format" default:"auto" doc:"text, json, or auto: text on a terminal"`
	} `koanf:"log"`
}

// setting is one key of the configuration, read from Config's tags. A secret
// has a second setting beside it, with fileSuffix: the file that holds it.
type setting struct {
	key, def, doc string
	secret        bool
	empty         bool  // an empty value means something
	index         []int // of the field in Config; nil for a secret's file
}

const fileSuffix = "_file"

var settings = func() []setting {
	var out []setting
	for section := range reflect.TypeFor[Config]().Fields() {
		for f := range section.Type.Fields() {
			out = append(out, setting{
				key: section.Tag.Get("koanf") + "." + f.Tag.Get("koanf"), def: f.Tag.Get("default"), doc: f.Tag.Get("doc"),
				secret: f.Tag.Get("secret") == "true", empty: f.Tag.Get("empty") == "true", index: append(slices.Clone(section.Index), f.Index...),
			})
			if s := out[len(out)-1]; s.secret {
				out = append(out, setting{key: s.key + fileSuffix, doc: "file that holds " + s.key})
			}
		}
	}
	return out
}()

// shortEnv are the environment variables with names of their own.
var shortEnv = map[string]string{"ALMANAC_CORPUS": "network.corpus_dir", "ALMANAC_SYNC": "sync.enabled"}

const envPrefix = "ALMANAC_"

// envFile names the configuration file.
const envFile = envPrefix + "CONFIG"

// foreignEnv are the beginnings of variables with our prefix that are no
// settings: those of tests and benchmarks, and those that an orchestrator sets
// for a service that is called almanac.
var foreignEnv = []string{"ALMANAC_SHARED", "ALMANAC_BENCH_", "ALMANAC_TEST_", "ALMANAC_SERVICE_", "ALMANAC_PORT"}

// envName is the variable of a key: only the first underscore splits.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.Replace(key, ".", "_", 1))
}

// Origins says where each key's value comes from.
type Origins map[string]string

const originDefault = "default"

// errUsage marks a command line or configuration that cannot be understood:
// exit code 2.
var errUsage = errors.New("usage")

// loadConfig joins the layers: flag > environment > file > default. A layer
// whose value is empty says nothing, as orchestrators pass on variables that
// nobody set.
func loadConfig(file string, environ []string, flags map[string]string) (Config, Origins, error) {
	l := layers{k: koanf.New("."), origins: Origins{}}
	defaults := map[string]any{}
	for _, s := range settings {
		defaults[s.key] = s.def
	}
	if err := l.add(originDefault, defaults); err != nil {
		return Config{}, nil, err
	}
	if file = cmp.Or(file, environment(environ, envFile)); file != "" {
		values, err := readFile(file)
		if err == nil {
			err = l.add("file "+file, values)
		}
		if err != nil {
			return Config{}, nil, err
		}
	}
	if err := l.addEnvironment(environ); err != nil {
		return Config{}, nil, err
	}
	given := map[string]any{}
	for key, value := range flags {
		given[key] = value
	}
	if err := l.add("flag", given); err != nil {
		return Config{}, nil, err
	}
	if err := l.readSecrets(); err != nil {
		return Config{}, nil, err
	}
	c, err := l.decode()
	if err != nil {
		return Config{}, nil, err
	}
	return c, l.origins, c.check()
}

// layers are the values by key and where they come from.
type layers struct {
	k       *koanf.Koanf
	origins Origins
}

// add puts values over those there are.
func (l layers) add(origin string, values map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s, ok := settingOf(key)
		if !ok {
			return fmt.Errorf("%w: %s: unknown setting %q%s", errUsage, origin, key, suggest(key))
		}
		if v := values[key]; origin != originDefault && !s.empty && (v == nil || v == "") {
			delete(values, key)
			continue
		}
		l.origins[key] = origin
	}
	return l.k.Load(confmap.Provider(values, "."), nil)
}

func (l layers) addEnvironment(environ []string) error {
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || name == envFile || slices.ContainsFunc(foreignEnv, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		key := cmp.Or(shortEnv[name], strings.Replace(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_", ".", 1))
		if _, ok := settingOf(key); !ok {
			return fmt.Errorf("%w: environment variable %s is no setting%s", errUsage, name, suggestEnv(name))
		}
		if err := l.add("environment "+name, map[string]any{key: value}); err != nil {
			return err
		}
	}
	return nil
}

// readSecrets gives secrets the content of their files. One that is given
// twice is an error: which is meant cannot be known.
func (l layers) readSecrets() error {
	for _, s := range settings {
		path := l.k.String(s.key + fileSuffix)
		switch {
		case !s.secret || path == "":
			continue
		case l.k.String(s.key) != "":
			return fmt.Errorf("%w: %s is set (%s) and so is %s%s (%s): keep one", errUsage, s.key, l.origins[s.key], s.key, fileSuffix, l.origins[s.key+fileSuffix])
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%w: %s%s: %s cannot be read: %w", errUsage, s.key, fileSuffix, path, reason(err))
		}
		value := strings.TrimSpace(string(data))
		if value == "" {
			return fmt.Errorf("%w: %s%s: %s is empty", errUsage, s.key, fileSuffix, path)
		}
		if err := l.k.Load(confmap.Provider(map[string]any{s.key: value}, "."), nil); err != nil {
			return err
		}
		l.origins[s.key] = "file " + path
	}
	return nil
}

// decode makes the configuration of the values.
func (l layers) decode() (c Config, err error) {
	target := reflect.ValueOf(&c).Elem()
	for _, s := range settings {
		if s.index == nil {
			continue
		}
		if err := set(target.FieldByIndex(s.index), l.k.Get(s.key)); err != nil {
			return c, fmt.Errorf("%w: %s: %s: %w", errUsage, l.origins[s.key], s.key, err)
		}
	}
	return c, nil
}

// set gives a field the value of a layer: a string, or what YAML makes of it.
func set(field reflect.Value, value any) error {
	if list, ok := value.([]any); ok && field.Kind() == reflect.Slice {
		for _, v := range list {
			field.Set(reflect.Append(field, reflect.ValueOf(fmt.Sprint(v))))
		}
		return nil
	}
	switch value.(type) {
	case []any, map[string]any, map[any]any:
		return errors.New("one value is expected here")
	}
	text := fmt.Sprint(value)
	switch x := field.Addr().Interface().(type) {
	case *string:
		*x = text
	case *[]string:
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*x = append(*x, part)
			}
		}
	case *bool:
		on, known := switches[strings.ToLower(text)]
		if !known {
			return fmt.Errorf("%q is neither on nor off", text)
		}
		*x = on
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*x = n
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a duration such as 500ms or 2s", text)
		}
		*x = d
	default:
		panic(fmt.Sprintf("a setting of type %s", field.Type()))
	}
	return nil
}

// switches are the spellings of booleans.
var switches = map[string]bool{"on": true, "yes": true, "true": true, "1": true, "off": false, "no": false, "false": false, "0": false}

// readFile reads a YAML file as values by key.
func readFile(path string) (map[string]any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: configuration file: %w", errUsage, err)
	}
	tree, err := yaml.Parser().Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%w: configuration file %s: %w", errUsage, path, err)
	}
	flat := map[string]any{}
	for section, values := range tree {
		m, ok := values.(map[string]any)
		if !ok && values != nil {
			return nil, fmt.Errorf("%w: configuration file %s: %q must be a section with keys below it%s", errUsage, path, section, suggest(section))
		}
		if !slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, section+".") }) {
			return nil, fmt.Errorf("%w: configuration file %s: unknown section %q%s", errUsage, path, section, suggest(section))
		}
		for key, v := range m {
			flat[section+"."+key] = v
		}
	}
	return flat, nil
}

func (c *Config) check() error {
	switch {
	case c.Limit.REST < 0 || c.Limit.MCP < 0 || c.Limit.Web < 0:
		return fmt.Errorf("%w: limits must not be negative; 0 switches one off", errUsage)
	case !slices.Contains([]string{"auto", "text", "json"}, c.Log.Format):
		return fmt.Errorf("%w: log.format is %q: must be text, json or auto", errUsage, c.Log.Format)
	}
	if err := c.checkServers(); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return fmt.Errorf("%w: log.level is %q: must be debug, info, warn or error", errUsage, c.Log.Level)
	}
	if c.Sample.Anchor != "" {
		if _, err := time.Parse(time.DateOnly, c.Sample.Anchor); err != nil {
			return fmt.Errorf("%w: sample.anchor is %q: must be a day such as 2026-01-31", errUsage, c.Sample.Anchor)
		}
	}
	if _, err := limit.ParseProxies(c.Server.TrustedProxies); err != nil {
		return fmt.Errorf("%w: server.trusted_proxies: %w", errUsage, err)
	}
	if _, err := c.allowed(); err != nil {
		return fmt.Errorf("%w: sync.allow: %w", errUsage, err)
	}
	for key, address := range map[string]string{"server.listen": c.Server.Listen, "server.admin": c.Server.Admin} {
		if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
			return fmt.Errorf("%w: %s is %q: must be an address with a port, such as 127.0.0.1:8080", errUsage, key, address)
		}
	}
	c.Server.PublicURL = strings.TrimRight(c.Server.PublicURL, "/")
	if u, err := url.Parse(c.Server.PublicURL); c.Server.PublicURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("%w: server.public_url is %q: must be http:// or https:// with a host", errUsage, c.Server.PublicURL)
	}
	return nil
}

// publicURL is the base address that clients see, of a service that listens
// on an address.
func (c Config) publicURL(listen string) string {
	if c.Server.PublicURL != "" {
		return c.Server.PublicURL
	}
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		listen = net.JoinHostPort("localhost", port)
	}
	return "http://" + listen
}

func settingOf(key string) (setting, bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

func defaultOf(key string) string {
	s, _ := settingOf(key)
	return s.def
}

// suggest names the nearest known key.
func suggest(key string) string {
	var known []string
	for _, s := range settings {
		section, name, _ := strings.Cut(s.key, ".")
		switch key {
		case section:
			return fmt.Sprintf("; did you mean %q?", s.key)
		case name:
			return fmt.Sprintf("; did you mean %q?", s.key)
		}
		known = append(known, s.key)
		if !strings.Contains(key, ".") {
			known = append(known, section)
		}
	}
	if near := network.Nearest(key, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; `almanac config` lists the settings"
}

// suggestEnv names the nearest known variable.
func suggestEnv(name string) string {
	known := slices.Collect(maps.Keys(shortEnv))
	for _, s := range settings {
		if strings.HasPrefix(envName(s.key), name+"_") {
			return "; did you mean " + envName(s.key) + "?"
		}
		known = append(known, envName(s.key))
	}
	slices.Sort(known)
	if near := network.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; `almanac config` lists them"
}

// environment returns the last value of a variable, as a shell would.
func environment(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// print writes every key with its value and origin; secrets are masked.
func (c Config) print(w io.Writer, origins Origins) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN\tENVIRONMENT")
	v := reflect.ValueOf(c)
	for _, s := range settings {
		if s.index == nil {
			continue // the secret's origin names the file
		}
		value := fmt.Sprint(v.FieldByIndex(s.index).Interface())
		if list, ok := v.FieldByIndex(s.index).Interface().([]string); ok {
			value = strings.Join(list, ",")
		}
		if s.secret && value != "" {
			value = "(set)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", s.key, cmp.Or(value, "-"), origins[s.key], envName(s.key))
	}
	return tw.Flush()
}
