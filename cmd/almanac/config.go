package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// Config is the effective configuration. Its keys are section.key as the
// tags spell them.
type Config struct {
	Server struct {
		Listen         string   `koanf:"listen" default:"127.0.0.1:8080" doc:"address of the public listener"`
		Admin          string   `koanf:"admin" default:"127.0.0.1:8081" doc:"address of the admin listener; empty switches it off"`
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
		Enabled bool `koanf:"enabled" default:"true" doc:"whether serve syncs its sources"`
	} `koanf:"sync"`
	Limit struct {
		REST int `koanf:"rest" default:"60" doc:"REST calls per client and 15 minutes; 0 = no limit"`
		MCP  int `koanf:"mcp" default:"60" doc:"tool calls per client and 15 minutes; 0 = no limit"`
		Web  int `koanf:"web" default:"300" doc:"web pages per client and 15 minutes; 0 = no limit"`
	} `koanf:"limit"`
	Search struct {
		Profile  string        `koanf:"profile" default:"default" doc:"relevance profile: built in, or a YAML file"`
		Deadline time.Duration `koanf:"deadline" default:"1s" doc:"time the engines have for one search"`
	} `koanf:"search"`
	Sample struct {
		Anchor string `koanf:"anchor" doc:"day the sample network's dates hang on (YYYY-MM-DD); default the day of its first load"`
	} `koanf:"sample"`
	Log struct {
		Level  string `koanf:"level" default:"info" doc:"debug, info, warn or error"`
		Format string `koanf:"format" default:"auto" doc:"text, json, or auto: text on a terminal"`
	} `koanf:"log"`
}

// setting is one key of the configuration, read from Config's tags.
type setting struct {
	key, def, doc string
	secret        bool
}

var settings = func() []setting {
	var out []setting
	t := reflect.TypeFor[Config]()
	for section := range t.Fields() {
		for f := range section.Type.Fields() {
			out = append(out, setting{
				key: section.Tag.Get("koanf") + "." + f.Tag.Get("koanf"),
				def: f.Tag.Get("default"), doc: f.Tag.Get("doc"), secret: f.Tag.Get("secret") == "true"})
		}
	}
	return out
}()

// shortEnv are the environment variables with names of their own.
var shortEnv = map[string]string{"ALMANAC_CORPUS": "network.corpus_dir", "ALMANAC_SYNC": "sync.enabled"}

// otherEnv are variables with our prefix that are not settings: they belong
// to tests and benchmarks.
var otherEnv = []string{"ALMANAC_SHARED", "ALMANAC_BENCH_", "ALMANAC_TEST_", "ALMANAC_CONFIG"}

// envName is the variable of a key: only the first underscore splits.
func envName(key string) string {
	return "ALMANAC_" + strings.ToUpper(strings.Replace(key, ".", "_", 1))
}

// Origins says where each key's value comes from.
type Origins map[string]string

// errUsage marks mistakes of the caller: exit code 2.
var errUsage = errors.New("usage")

// loadConfig joins the layers: flag > environment > file > default.
func loadConfig(file string, environ []string, flags map[string]string) (Config, Origins, error) {
	k := koanf.New(".")
	origins := Origins{}
	layer := func(origin string, values map[string]any) error {
		for key := range values {
			if !slices.ContainsFunc(settings, func(s setting) bool { return s.key == key }) {
				return fmt.Errorf("%w: %s: unknown setting %q%s", errUsage, origin, key, suggest(key))
			}
			origins[key] = origin
		}
		return k.Load(confmap.Provider(values, "."), nil)
	}
	defaults := map[string]any{}
	for _, s := range settings {
		defaults[s.key] = s.def
	}
	if err := layer("default", defaults); err != nil {
		return Config{}, nil, err
	}
	if file = cmp.Or(file, environment(environ, "ALMANAC_CONFIG")); file != "" {
		values, err := readFile(file)
		if err != nil {
			return Config{}, nil, err
		}
		if err := layer("file "+file, values); err != nil {
			return Config{}, nil, err
		}
	}
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "ALMANAC_") || slices.ContainsFunc(otherEnv, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		key := cmp.Or(shortEnv[name], strings.Replace(strings.ToLower(strings.TrimPrefix(name, "ALMANAC_")), "_", ".", 1))
		if err := layer("environment "+name, map[string]any{key: value}); err != nil {
			return Config{}, nil, err
		}
	}
	for key, value := range flags {
		if err := layer("flag", map[string]any{key: value}); err != nil {
			return Config{}, nil, err
		}
	}
	var c Config
	for _, s := range settings {
		if err := decode(k, s.key, &c); err != nil {
			return Config{}, nil, fmt.Errorf("%w: %s: %s: %w", errUsage, origins[s.key], s.key, err)
		}
	}
	return c, origins, c.check()
}

// decode sets one key of c, so that a mistake names its key and origin.
func decode(k *koanf.Koanf, key string, c *Config) error {
	section, name, _ := strings.Cut(key, ".")
	value := k.Get(key)
	if s, ok := value.(string); ok && s == "" {
		return nil
	}
	dec, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: c, TagName: "koanf", WeaklyTypedInput: true,
		DecodeHook: mapstructure.ComposeDecodeHookFunc(switchHook, mapstructure.StringToTimeDurationHookFunc(), mapstructure.StringToSliceHookFunc(","))})
	if err != nil {
		return err
	}
	if err := dec.Decode(map[string]any{section: map[string]any{name: value}}); err != nil {
		return fmt.Errorf("%v is not a valid value", value)
	}
	return nil
}

// switchHook reads on and off as booleans.
func switchHook(from, to reflect.Type, value any) (any, error) {
	if from.Kind() == reflect.String && to.Kind() == reflect.Bool {
		switch strings.ToLower(value.(string)) {
		case "on", "yes":
			return true, nil
		case "off", "no":
			return false, nil
		}
	}
	return value, nil
}

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
		if !ok {
			return nil, fmt.Errorf("%w: configuration file %s: %q must be a section with keys below it%s", errUsage, path, section, suggest(section+"."))
		}
		for key, v := range m {
			flat[section+"."+key] = v
		}
	}
	return flat, nil
}

func (c *Config) check() error {
	switch {
	case c.Server.Listen == "":
		return fmt.Errorf("%w: server.listen must not be empty", errUsage)
	case c.Limit.REST < 0 || c.Limit.MCP < 0 || c.Limit.Web < 0:
		return fmt.Errorf("%w: limits must not be negative; 0 switches one off", errUsage)
	case !slices.Contains([]string{"auto", "text", "json"}, c.Log.Format):
		return fmt.Errorf("%w: log.format is %q: must be text, json or auto", errUsage, c.Log.Format)
	}
	if c.Sample.Anchor != "" {
		if _, err := time.Parse(time.DateOnly, c.Sample.Anchor); err != nil {
			return fmt.Errorf("%w: sample.anchor is %q: must be a day such as 2026-01-31", errUsage, c.Sample.Anchor)
		}
	}
	c.Server.PublicURL = strings.TrimRight(cmp.Or(c.Server.PublicURL, "http://"+c.Server.Listen), "/")
	return nil
}

// suggest names the nearest known key.
func suggest(key string) string {
	best, distance := "", 4
	for _, s := range settings {
		if d := editDistance(key, s.key); d < distance {
			best, distance = s.key, d
		}
	}
	if best == "" {
		return "; `almanac config` lists the settings"
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func environment(environ []string, name string) string {
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			return v
		}
	}
	return ""
}

// print writes every key with its value and origin; secrets are masked.
func (c Config) print(w io.Writer, origins Origins) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN\tENVIRONMENT")
	for _, s := range settings {
		value := fmt.Sprint(c.value(s.key))
		if s.secret && value != "" {
			value = "(set)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", s.key, cmp.Or(value, "-"), origins[s.key], envName(s.key))
	}
	return tw.Flush()
}

// value returns the value of a key.
func (c Config) value(key string) any {
	section, name, _ := strings.Cut(key, ".")
	for f, v := range reflect.ValueOf(c).Fields() {
		if f.Tag.Get("koanf") != section {
			continue
		}
		for g, x := range v.Fields() {
			if g.Tag.Get("koanf") == name {
				if list, ok := x.Interface().([]string); ok {
					return strings.Join(list, ",")
				}
				return x.Interface()
			}
		}
	}
	return nil
}
