package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/api/limit"
	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/cmd/config"
	"almanac/retrieval"
	"almanac/retrieval/stack"
)

var (
	secretPath = regexp.MustCompile(`/run/secrets/(?:almanac/)?(\w+)`)
	defaulted  = regexp.MustCompile(`\$\{[A-Z_]+:-([^${}]*)\}`)
	pinned     = regexp.MustCompile(`^([a-z0-9]+(/[a-z0-9_-]+)?:v?\d+\.\d+\.\d+(-[a-z]+)?|postgres:\d+\.\d+)$`)
	setting    = regexp.MustCompile(`\bALMANAC_[A-Z][A-Z_]+[A-Z]\b`)
)

// settingsOf is what the program in a container makes of an environment in which every secret is there.
func settingsOf(t *testing.T, env map[string]string) (config.Config, error) {
	t.Helper()
	texts := map[string]string{"catalog_url": "postgres://almanac:s3cret@postgres/almanac",
		"redis_url": "redis://:s3cret@redis/0"}
	secrets := t.TempDir()
	var environ []string
	for _, m := range regexp.MustCompile(`\b(ALMANAC_\w+)=(\S+)`).FindAllStringSubmatch(fileOf(t, "compose/Dockerfile"), -1) {
		environ = append(environ, m[1]+"="+m[2])
	}
	for name, value := range env {
		if m := secretPath.FindStringSubmatch(value); m != nil {
			value = filepath.Join(secrets, m[1])
			writeFile(t, value, cmp.Or(texts[m[1]], "s3cret")+"\n")
		}
		environ = append(environ, name+"="+value)
	}
	c, _, err := config.Load("", environ, nil)
	return c, err
}

// documents decodes all documents of a file.
func documents[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	text := fileOf(t, name)
	for before := ""; before != text; {
		before, text = text, defaulted.ReplaceAllString(text, "$1") // of variables that nobody sets
	}
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var d T
		switch err := decoder.Decode(&d); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, d)
	}
}

// TestDeploymentsNameSettings: what containers and texts set is read by the program.
func TestDeploymentsNameSettings(t *testing.T) {
	known := append(config.Variables(), "ALMANAC_CONFIG", "ALMANAC_CORPUS", "ALMANAC_SYNC", "ALMANAC_LIMIT_REDIS_URL")
	for _, name := range linesOf(t, "git", "ls-files", "compose/Dockerfile", "compose/*.yaml", "compose/env.example",
		"docs/*.md", "docs/kubernetes", "packaging") {
		for _, variable := range setting.FindAllString(fileOf(t, name), -1) {
			if !slices.Contains(known, variable) && !strings.HasPrefix(variable, "ALMANAC_TEST_") && variable != "ALMANAC_SHARED" {
				t.Errorf("%s: %s is no setting", name, variable)
			}
		}
	}
}

// TestComposeIsBoundedAndOfThisProgram: services may do no more than they must, and the program's are configured and of this
// version. That they work together is held by make smoke.
func TestComposeIsBoundedAndOfThisProgram(t *testing.T) {
	type service struct {
		Image, User string
		ReadOnly    bool     `yaml:"read_only"`
		CapDrop     []string `yaml:"cap_drop"`
		CapAdd      []string `yaml:"cap_add"`
		SecurityOpt []string `yaml:"security_opt"`
		MemLimit    string   `yaml:"mem_limit"`
		NetworkMode string   `yaml:"network_mode"`
		Privileged  bool
		Ports       []string
		Environment map[string]string
	}
	file := documents[struct{ Services map[string]service }](t, "compose/compose.yaml")[0]
	roles := map[string]string{}
	for name, s := range file.Services {
		prepares := s.NetworkMode == "none" && slices.Equal(s.CapAdd, []string{"CHOWN"})
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || s.Privileged || s.MemLimit == "" ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true") || !pinned.MatchString(s.Image) ||
			!prepares && (len(s.CapAdd) > 0 || s.User == "" || strings.HasPrefix(s.User, "0") || strings.HasPrefix(s.User, "root")) {
			t.Errorf("%s may do more than it must, or is of no fixed version: %+v", name, s)
		}
		for _, port := range s.Ports {
			address, _, _ := strings.Cut(port, ":")
			if host, err := netip.ParseAddr(address); err != nil || !host.IsLoopback() {
				t.Errorf("%s: port %s is not on loopback", name, port)
			}
		}
		if !strings.HasPrefix(s.Image, "almanac:") {
			continue
		}
		c, err := settingsOf(t, s.Environment)
		if err != nil || s.Image != "almanac:"+release {
			t.Errorf("%s: %v, image %s", name, err, s.Image)
		}
		roles[name] = c.Server.Role
		if name != "almanac" && (c.Catalog.URL == "" || c.Limit.Redis == "" || c.Vector.Replicas < 2) {
			t.Errorf("%s shares no catalog, counts or vectors: %+v", name, c)
		}
	}
	if want := map[string]string{"almanac": "auto", "writer": "auto", "reader1": config.RoleReader,
		"reader2": config.RoleReader}; !maps.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
	trusted := regexp.MustCompile(`trusted_proxies (.*)`).FindAllStringSubmatch(fileOf(t, "compose/Caddyfile"), -1)
	if said, ok := file.Services["caddy"].Environment["TRUSTED_PROXIES"]; !ok || said != "" || len(trusted) == 0 {
		t.Errorf("Caddy trusts %q", said)
	}
	for _, m := range trusted {
		if m[1] != "{$TRUSTED_PROXIES}" {
			t.Errorf("who calls Caddy chooses his address: it trusts %s", m[1])
		}
	}
}

// manifest is one of docs/kubernetes as far as the program has a part in it; testing/kubeconform holds its form.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Template struct {
			Spec struct {
				AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
				EnableServiceLinks            *bool `yaml:"enableServiceLinks"`
				TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
				SecurityContext               struct {
					RunAsNonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Containers []struct {
					Image           string
					Env             []struct{ Name, Value string }
					Resources       struct{ Limits map[string]string }
					SecurityContext struct {
						AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
						ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
						Capabilities             struct{ Drop []string }
					} `yaml:"securityContext"`
				}
			}
		}
		Ingress []struct { // of a network policy
			From []struct {
				NamespaceSelector struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				} `yaml:"namespaceSelector"`
				PodSelector struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				} `yaml:"podSelector"`
			}
		}
	}
}

// TestKubernetesIsBoundedAndOfThisProgram: pods may do no more than they must, are configured and of this version, and are
// reached by the few who are named.
func TestKubernetesIsBoundedAndOfThisProgram(t *testing.T) {
	var all []manifest
	shared := map[string]string{}
	for _, name := range linesOf(t, "git", "ls-files", "docs/kubernetes/*.yaml") {
		for _, m := range documents[manifest](t, name) {
			all = append(all, m)
			maps.Copy(shared, m.Data)
		}
	}
	off := func(b *bool) bool { return b != nil && !*b }
	roles := map[string]string{}
	for _, m := range all {
		for _, rule := range m.Spec.Ingress {
			for _, from := range rule.From {
				if len(from.NamespaceSelector.MatchLabels) == 0 || len(from.PodSelector.MatchLabels) == 0 {
					t.Errorf("%s lets all pods of %v in", m.Metadata.Name, from.NamespaceSelector)
				}
			}
		}
		pod := m.Spec.Template.Spec
		for _, c := range pod.Containers {
			env := maps.Clone(shared)
			for _, v := range c.Env {
				env[v.Name] = v.Value
			}
			cfg, err := settingsOf(t, env)
			if err != nil || cfg.Catalog.URL == "" || cfg.Limit.Redis == "" || cfg.Server.AdminToken == "" ||
				!strings.HasSuffix(c.Image, "/almanac:"+release) {
				t.Errorf("%s: %v, image %s", m.Metadata.Name, err, c.Image)
			}
			roles[m.Metadata.Name] = cfg.Server.Role
			if s := c.SecurityContext; !pod.SecurityContext.RunAsNonRoot || !s.ReadOnlyRootFilesystem ||
				!slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || !off(s.AllowPrivilegeEscalation) ||
				!off(pod.AutomountServiceAccountToken) || !off(pod.EnableServiceLinks) || c.Resources.Limits["memory"] == "" {
				t.Errorf("%s may do more than it needs: %+v", m.Metadata.Name, s)
			}
			if grace := time.Duration(pod.TerminationGracePeriodSeconds) * time.Second; grace <= cfg.Server.DrainDelay+drain {
				t.Errorf("%s is killed after %v, and drains longer", m.Metadata.Name, grace)
			}
		}
	}
	if want := map[string]string{"almanac-writer": "auto", "almanac-reader": config.RoleReader}; !maps.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
	proxies, err := limit.ParseProxies(strings.Split(shared["ALMANAC_SERVER_TRUSTED_PROXIES"], ","))
	for _, network := range proxies {
		if network.Addr().BitLen()-network.Bits() > 4 {
			t.Errorf("all of %s may say who their clients are", network)
		}
	}
	if err != nil || len(proxies) == 0 {
		t.Errorf("proxies %v, %v", proxies, err)
	}
}

// answering is a searcher with one answer, which has all that is counted.
type answering struct{ retrieval.Searcher }

func (answering) Search(context.Context, retrieval.Request) (retrieval.Response, error) {
	return retrieval.Response{Degraded: []string{"vector"}, Corrected: "x", Timings: map[string]time.Duration{"plan": 1}}, nil
}

// TestDashboardsAndAlertsAskForMetricsThatThereAre looks for each name in what the admin listener exports.
func TestDashboardsAndAlertsAskForMetricsThatThereAre(t *testing.T) {
	store, err := datadir.Catalog{Dir: t.TempDir()}.Open(t.Context(), "buoys", false)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.SetSource(t.Context(), catalog.SourceState{Name: "docs", Kind: "site"}); err != nil {
		t.Fatal(err)
	}
	m := (&app{}).metrics(store)
	m.WatchIndex(&stack.Keeper{}, "keyword")
	m.ObserveRequest("GET", "/", 200, time.Millisecond) // what has labels is there once it has values
	m.ObserveTool("search", "ok", time.Millisecond)
	m.Refusals("rest")()
	m.Embedded(2, 1)
	m.Synced("docs", true, time.Second)
	if _, err := m.Searcher(answering{}).Search(t.Context(), retrieval.Request{}); err != nil {
		t.Fatal(err)
	}
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]bool{}
	for _, f := range families {
		exported[f.GetName()] = true
	}
	series := regexp.MustCompile(`\b((?:almanac|go|process)_[a-z_]+?)(?:_bucket|_sum|_count)?\b`)
	asked := 0
	for _, name := range append(linesOf(t, "git", "ls-files", "compose/grafana/dashboards"), "compose/alerts.yaml") {
		for _, metric := range series.FindAllStringSubmatch(fileOf(t, name), -1) {
			asked++
			if !exported[metric[1]] && !exported[metric[0]] {
				t.Errorf("%s: nothing exports %s", name, metric[0])
			}
		}
	}
	if asked < 20 {
		t.Errorf("they ask for %d", asked)
	}
}
