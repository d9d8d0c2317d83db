package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/api/limit"
	"almanac/cmd/config"
)

// workload is a manifest as far as the program has a part in it.
type workload struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		Template struct{ Spec pod }
		Ingress  []struct { // of a network policy
			From []struct {
				NamespaceSelector, PodSelector struct{ MatchLabels map[string]string }
			}
			Ports []struct{ Port int }
		}
	}
}

type pod struct {
	AutomountServiceAccountToken, EnableServiceLinks *bool
	TerminationGracePeriodSeconds                    int
	SecurityContext                                  struct {
		RunAsNonRoot bool
		RunAsUser    int
	}
	Containers []struct {
		Image                                       string
		Env                                         []struct{ Name, Value string }
		Ports                                       []struct{ ContainerPort int }
		StartupProbe, LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path string } }
		Resources                                   struct{ Limits map[string]string }
		SecurityContext                             struct {
			AllowPrivilegeEscalation *bool
			ReadOnlyRootFilesystem   bool
			Capabilities             struct{ Drop []string }
		}
	}
}

// manifests reads docs/kubernetes.
func manifests(t *testing.T) (all []workload) {
	t.Helper()
	files, err := filepath.Glob("../../docs/kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for decoder := yaml.NewDecoder(file); ; {
			var anything any
			if err := decoder.Decode(&anything); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text, err := json.Marshal(anything) // whose names are read in any case
			var w workload
			if err = errors.Join(err, json.Unmarshal(text, &w)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, w)
		}
	}
	return all
}

// TestKubernetes holds the manifests of docs/kubernetes to the program: settings, version, user, ports, probes. Their
// form is checked by testing/kubeconform.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	all, image := manifests(t), dockerfile(t)
	settings := map[string]string{}
	for _, w := range all {
		if w.Kind == "ConfigMap" {
			maps.Copy(settings, w.Data)
		}
	}
	roles := map[string]string{}
	for _, w := range all {
		p := w.Spec.Template.Spec
		if len(p.Containers) == 0 {
			continue
		}
		c, env := p.Containers[0], maps.Clone(image.env)
		maps.Copy(env, settings)
		for _, v := range c.Env {
			env[v.Name] = v.Value
		}
		for name, value := range env {
			env[name] = strings.Replace(value, "/run/secrets/almanac/", "/run/secrets/", 1)
		}
		cfg, err := configOf(t, env)
		if err != nil {
			t.Errorf("%s: %v", w.Metadata.Name, err)
			continue
		}
		roles[w.Metadata.Name] = cfg.Server.Role
		if cfg.Catalog.URL == "" || cfg.Limit.Redis == "" || cfg.Keyword.Key == "" || cfg.Vector.Key == "" ||
			cfg.Server.AdminToken == "" {
			t.Errorf("%s lacks an address or a key", w.Metadata.Name)
		}
		if !strings.HasSuffix(c.Image, "/almanac:"+release) {
			t.Errorf("%s has the image %s", w.Metadata.Name, c.Image)
		}
		s := c.SecurityContext
		if !p.SecurityContext.RunAsNonRoot || p.SecurityContext.RunAsUser != 10001 || !s.ReadOnlyRootFilesystem ||
			!slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || isTrue(s.AllowPrivilegeEscalation) ||
			isTrue(p.AutomountServiceAccountToken) || c.Resources.Limits["memory"] == "" {
			t.Errorf("%s may do more than it needs: %+v", w.Metadata.Name, s)
		}
		if isTrue(p.EnableServiceLinks) { // ALMANAC_SERVICE_HOST is no setting
			t.Errorf("%s has the variables of services", w.Metadata.Name)
		}
		if c.StartupProbe.HTTPGet.Path != "/health" || c.LivenessProbe.HTTPGet.Path != "/health" ||
			c.ReadinessProbe.HTTPGet.Path != "/ready" {
			t.Errorf("%s is probed elsewhere", w.Metadata.Name)
		}
		for i, listen := range []string{cfg.Server.Listen, cfg.Server.Admin} {
			if port := c.Ports[i].ContainerPort; listen != fmt.Sprint(":", port) {
				t.Errorf("%s listens on %s, and has the port %d", w.Metadata.Name, listen, port)
			}
		}
		if grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second; grace <= cfg.Server.DrainDelay+drain {
			t.Errorf("%s is killed after %v, and drains longer", w.Metadata.Name, grace)
		}
	}
	if want := map[string]string{"almanac-writer": "auto", "almanac-reader": config.RoleReader}; !maps.Equal(roles, want) {
		t.Errorf("roles %v, want %v", roles, want)
	}
}

// TestKubernetesTrustsFew holds that the pods of a cluster neither reach the listeners nor say
// who their clients are, but for the few that are named.
func TestKubernetesTrustsFew(t *testing.T) {
	t.Parallel()
	reached := map[int]string{}
	for _, w := range manifests(t) {
		proxies, err := limit.ParseProxies(strings.Split(w.Data["ALMANAC_SERVER_TRUSTED_PROXIES"], ","))
		if err != nil || w.Kind == "ConfigMap" && len(proxies) == 0 {
			t.Errorf("%s trusts %v, %v", w.Metadata.Name, proxies, err)
		}
		for _, network := range proxies {
			if network.Addr().BitLen()-network.Bits() > 4 {
				t.Errorf("%s trusts all of %s", w.Metadata.Name, network)
			}
		}
		for _, rule := range w.Spec.Ingress {
			for _, from := range rule.From {
				namespace := from.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"]
				if namespace == "" || len(from.PodSelector.MatchLabels) == 0 {
					t.Errorf("%s lets all pods of %q in", w.Metadata.Name, namespace)
				}
				for _, p := range rule.Ports {
					reached[p.Port] += namespace
				}
			}
		}
	}
	if want := map[int]string{8080: "ingress-nginx", 8081: "monitoring"}; !maps.Equal(reached, want) {
		t.Errorf("the listeners are reached from %v, want %v", reached, want)
	}
}

// isTrue reports whether something is on, which it is where nothing is said.
func isTrue(b *bool) bool { return b == nil || *b }
