package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"almanac/text/nearest"
)

// setting is one key of the configuration, from Config's tags. A secret has a
// second setting with fileSuffix: the file that holds it.
type setting struct {
	key, def, doc string
	secret        bool
	empty         bool  // an empty value is meaningful
	index         []int // of the field in Config; nil for the file of a secret
}

// variables are the names of its environment variables.
func (s setting) variables() string {
	names := EnvName(s.key)
	for short, key := range shortEnv {
		if key == s.key {
			names += ", " + short
		}
	}
	return names
}

const fileSuffix = "_file"

var settings = func() []setting {
	var out []setting
	for section := range reflect.TypeFor[Config]().Fields() {
		for f := range section.Type.Fields() {
			out = append(out, setting{
				key: section.Tag.Get("key") + "." + f.Tag.Get("key"),
				def: f.Tag.Get("default"), doc: f.Tag.Get("doc"),
				secret: f.Tag.Get("secret") == "true", empty: f.Tag.Get("empty") == "true",
				index: append(slices.Clone(section.Index), f.Index...),
			})
			if s := out[len(out)-1]; s.secret {
				out = append(out, setting{key: s.key + fileSuffix, doc: "file that holds " + s.key})
			}
		}
	}
	return out
}()

// shortEnv are the environment variables with special names.
var shortEnv = map[string]string{"ALMANAC_CORPUS": "network.corpus_dir", "ALMANAC_SYNC": "sync.enabled",
	"ALMANAC_LIMIT_REDIS_URL": "limit.redis"}

const EnvPrefix = "ALMANAC_"

// envFile names the configuration file.
const envFile = EnvPrefix + "CONFIG"

// foreignEnv are prefixes of ALMANAC_ variables that are not settings: those of
// tests and benchmarks, and those that an orchestrator sets for a service named
// almanac.
var foreignEnv = []string{"ALMANAC_SHARED", "ALMANAC_BENCH_", "ALMANAC_TEST_", "ALMANAC_SOAK", "ALMANAC_SERVICE_",
	"ALMANAC_PORT"}

// EnvName returns the variable of a key; its first underscore stands for the dot.
func EnvName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.Replace(key, ".", "_", 1))
}

func settingOf(key string) (setting, bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

func DefaultOf(key string) string {
	s, _ := settingOf(key)
	return s.def
}

// suggest names the nearest known key.
func suggest(key string) string {
	var known []string
	for _, s := range settings {
		section, name, _ := strings.Cut(s.key, ".")
		if key == section || key == name {
			return fmt.Sprintf("; did you mean %q?", s.key)
		}
		known = append(known, s.key)
		if !strings.Contains(key, ".") {
			known = append(known, section)
		}
	}
	if near := nearest.Of(key, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; `almanac config` lists the settings"
}

// suggestEnv names the nearest known variable.
func suggestEnv(name string) string {
	known := slices.Collect(maps.Keys(shortEnv))
	for _, s := range settings {
		if strings.HasPrefix(EnvName(s.key), name+"_") {
			return "; did you mean " + EnvName(s.key) + "?"
		}
		known = append(known, EnvName(s.key))
	}
	slices.Sort(known)
	if near := nearest.Of(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; `almanac config` lists them"
}

// Getenv returns the last value of a variable, as a shell would.
func Getenv(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			value = v
		}
	}
	return value
}
