// Package kubeconform checks docs/kubernetes with kubeconform, strictly, against the schemas of Kubernetes itself: the
// OpenAPI document in the module k8s.io/kubernetes, since the schemas that kubeconform fetches are on no registry.
package kubeconform

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
)

// The module that has the document, and its checksum.
const (
	kubernetes = "k8s.io/kubernetes@v1.37.2"
	checksum   = "h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE="
)

// document downloads the module, unless it is in the module cache.
func document(t *testing.T) []byte {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", kubernetes).Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || err != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, module.Error)
	}
	if module.Sum != checksum {
		t.Fatalf("%s has the checksum %s, want %s", kubernetes, module.Sum, checksum)
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// schema is a part of the document.
type schema = map[string]any

// schemas writes a file for each kind, with what it refers to, and returns the pattern of their names.
func schemas(t *testing.T) string {
	t.Helper()
	var all struct{ Definitions map[string]schema }
	if err := json.Unmarshal(document(t), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Definitions {
		if s["properties"] != nil && s["additionalProperties"] == nil {
			s["additionalProperties"] = false // strictly: what is not defined is a mistake
		}
	}
	// Both are numbers too, which the document does not say.
	for _, name := range []string{"util.intstr.IntOrString", "api.resource.Quantity"} {
		all.Definitions["io.k8s.apimachinery.pkg."+name] = schema{"type": []string{"string", "number"}}
	}
	dir := t.TempDir()
	for name, s := range all.Definitions {
		kinds, _ := s["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // what has many is sent with requests, and is no object
		}
		of := kinds[0].(schema)
		group, _, _ := strings.Cut(of["group"].(string), ".")
		file := strings.TrimPrefix(group+"-", "-") + of["version"].(string)
		needed := map[string]schema{}
		closure(name, all.Definitions, needed)
		text, err := json.Marshal(schema{"$schema": "http://json-schema.org/draft-07/schema#",
			"allOf": []schema{{"$ref": "#/definitions/" + name}}, "definitions": needed})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, strings.ToLower(of["kind"].(string)+"-"+file)+".json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "{{.ResourceKind}}{{.KindSuffix}}.json")
}

// closure collects a definition and all that it refers to.
func closure(name string, all, into map[string]schema) {
	if into[name] != nil {
		return
	}
	into[name] = all[name]
	var refer func(any)
	refer = func(part any) {
		switch part := part.(type) {
		case []any:
			for _, x := range part {
				refer(x)
			}
		case schema:
			if to, ok := part["$ref"].(string); ok {
				closure(strings.TrimPrefix(to, "#/definitions/"), all, into)
			}
			for x := range maps.Values(part) {
				refer(x)
			}
		}
	}
	refer(all[name])
}

// TestManifests holds the manifests to the schemas, and that mistakes in them are found.
func TestManifests(t *testing.T) {
	v, err := validator.New([]string{schemas(t)}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, text string) (objects int, wrong []string) {
		for _, r := range v.Validate(name, io.NopCloser(bytes.NewReader([]byte(text)))) {
			switch r.Status {
			case validator.Valid:
				objects++
			case validator.Empty:
			default:
				wrong = append(wrong, r.Err.Error())
			}
		}
		return objects, wrong
	}
	files, err := filepath.Glob("../../docs/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no manifests: %v", err)
	}
	texts, objects := map[string]string{}, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
		n, wrong := check(file, string(text))
		objects += n
		for _, w := range wrong {
			t.Errorf("%s: %s", filepath.Base(file), w)
		}
	}
	if objects < 10 {
		t.Errorf("%d objects", objects)
	}
	for _, mistake := range []struct{ file, old, new string }{
		{"readers.yaml", "readinessProbe:", "readynessProbe:"},
		{"readers.yaml", "minReplicas: 2", `minReplicas: "2"`},
		{"readers.yaml", "maxUnavailable: 1", "maxUnavailable: [1]"},
		{"writer.yaml", "readOnlyRootFilesystem: true", `readOnlyRootFilesystem: "yes"`},
		{"writer.yaml", "  serviceName: almanac-writer\n  replicas: 1\n", "  replicas: 1\n  replicas: 1\n"},
		{"network.yaml", "podSelector:\n    matchLabels", "podSelecter:\n    matchLabels"},
		{"ingress.yaml", "networking.k8s.io/v1", "networking.k8s.io/v1beta1"},
	} {
		text := strings.Replace(texts[mistake.file], mistake.old, mistake.new, 1)
		if text == texts[mistake.file] {
			t.Errorf("%q is not in %s", mistake.old, mistake.file)
		} else if _, wrong := check(mistake.file, text); len(wrong) == 0 {
			t.Errorf("%q instead of %q is not found in %s", mistake.new, mistake.old, mistake.file)
		}
	}
}
