package packages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"almanac/ingest/packages"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// registry imitates a registry of npm's protocol below /npm/ and one of images
// below /v2/.
type registry struct {
	mu        sync.Mutex
	packages  map[string]string            // packuments
	tags      map[string]map[string]string // digests by repository and tag
	blobs     map[string]string            // manifests and configurations by digest
	private   bool                         // images want a token
	etags     bool
	authority map[string]string // Authorization by path
	server    *connectortest.Server
	config    connectortest.Config
	host      string
}

// isolate keeps the configuration of the machine's own package managers away.
func isolate(t *testing.T) {
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(strings.ToLower(name), "npm_config_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NPM_CONFIG_GLOBALCONFIG", t.TempDir()+"/none")
}

const sdk = `{
  "_id": "@causeway/sdk", "_rev": "12-ab", "name": "@causeway/sdk", "description": "Talks to a node of the Causeway Network.",
  "dist-tags": {"latest": "1.10.0", "next": "2.0.0-rc.1", "lts": "1.2.0"},
  "versions": {
    "1.2.0": {"name": "@causeway/sdk", "version": "1.2.0", "description": "Talks to a node.", "license": {"type": "MIT", "url": "https://example.org/mit"},
      "deprecated": "It loses the tally, see CWP-12. Use 1.10.0.", "dist": {"shasum": "bbf102d5ae73afe2c553295e0fb02230216f65b1", "tarball": "https://npm.example.org/@causeway/sdk/-/sdk-1.2.0.tgz"}},
    "1.9.0": {"name": "@causeway/sdk", "version": "1.9.0", "deprecated": true, "dependencies": [], "repository": "git@forge.example.org:causeway/sdk.git"},
    "1.10.0": {"name": "@causeway/sdk", "version": "1.10.0", "description": "Talks to a node of the Causeway Network.", "license": "Apache-2.0", "deprecated": "",
      "repository": {"type": "git", "url": "git+https://forge.example.org/causeway/sdk.git", "directory": "js"}, "homepage": "https://causeway.example.org/sdk",
      "dependencies": {"ws": "^8.1.0", "@causeway/types": "~1.10.0"}, "dist": {"integrity": "sha512-abc==", "shasum": "00", "unpackedSize": 123456, "fileCount": 12}},
    "2.0.0-rc.1": {"name": "@causeway/sdk", "version": "2.0.0-rc.1", "licenses": [{"type": "MIT"}, "ISC"], "deprecated": false},
    "1.2": {"name": "@causeway/sdk", "version": "1.2"}
  },
  "time": {"created": "2030-01-01T00:00:00.000Z", "modified": "2031-05-20T10:00:00.000Z", "0.9.0": "2029-12-01T00:00:00.000Z", "1.2.0": "2030-03-01T08:30:00.123Z",
    "1.10.0": "2031-05-20T10:00:00.000Z", "2.0.0-rc.1": 7, "1.2": "2030-02-01T00:00:00.000Z"},
  "readme": "# SDK\n\nOpens a line to a keeper.", "readmeFilename": "README.md", "license": "Apache-2.0", "maintainers": [{"name": "aquay", "email": "ada@example.org"}]
}`

func newRegistry(t *testing.T) *registry {
	isolate(t)
	r := &registry{etags: true, packages: map[string]string{}, tags: map[string]map[string]string{},
		blobs: map[string]string{}, authority: map[string]string{}}
	r.packages["@causeway/sdk"] = sdk
	r.packages["causeway-cli"] = `{"name": "causeway-cli", "dist-tags": {"latest": "0.1.0"}, "modified": "2031-01-01T00:00:00.000Z", "versions": {"0.1.0": {"name": "causeway-cli", "version": "0.1.0", "dist": {"shasum": "aa", "tarball": "x"}}}}`

	amd := r.blob(
		`{"created": "2031-04-01T09:00:00.5Z", "architecture": "amd64", "os": "linux", "config": {"Labels": {"org.opencontainers.image.licenses": "Apache-2.0"}}, "rootfs": {}}`)
	arm := r.blob(`{"created": "2031-04-01T09:07:00Z", "architecture": "arm64", "os": "linux", "variant": "v8"}`)
	image := func(config, annotations string) string {
		return r.blob(`{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": "` +
			config + `", "size": 7}, "layers": []` + annotations + `}`)
	}
	index := r.blob(fmt.Sprintf(`{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
		{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "%s", "size": 1, "platform": {"architecture": "arm64", "os": "linux", "variant": "v8"}},
		{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "%s", "size": 1, "platform": {"architecture": "amd64", "os": "linux"}},
		{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:%064d", "size": 1, "platform": {"architecture": "unknown", "os": "unknown"}, "annotations": {"vnd.docker.reference.type": "attestation-manifest"}}
	], "annotations": {"org.opencontainers.image.description": "A node of the Causeway Network."}}`, image(arm, ""), image(amd, ""), 0))
	dated := image(
		amd, `, "annotations": {"org.opencontainers.image.created": "2031-05-01T07:00:00Z", "org.opencontainers.image.source": "https://forge.example.org/causeway/node"}`)
	timeless := image(r.blob(`{"created": "1970-01-01T00:00:00Z", "architecture": "amd64", "os": "linux"}`), "")
	r.tags["causeway/node"] = map[string]string{
		"1.2.0": index, "v1.10.0": dated, "latest": dated, "1": dated, "1.10": dated, "main": timeless,
		"2.0.0-rc.1": timeless, "sha-0123abc": timeless,
	}
	r.server = connectortest.NewServer(t, r)
	r.host = strings.TrimPrefix(r.server.URL, "http://")
	r.config = connectortest.Config{
		Kind:  packages.Kind,
		Files: fstest.MapFS{".npmrc": {Data: []byte("registry=" + r.server.URL + "/npm/\n")}},
		Options: map[string]any{"npm": []any{"@causeway/sdk", "causeway-cli"},
			"images": []any{r.host + "/causeway/node"}},
	}
	return r
}

func (r *registry) blob(content string) string {
	sum := sha256.Sum256([]byte(content))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	r.blobs[digest] = content
	return digest
}

func (r *registry) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.authority[q.URL.Path] = q.Header.Get("Authorization")
	switch {
	case strings.HasPrefix(q.URL.Path, "/npm/"):
		r.packument(w, q)
	case q.URL.Path == "/token":
		user, password, _ := q.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"token": "t-%s-%s-%s%s", "expires_in": 300}`, q.FormValue("service"),
			strings.NewReplacer(":", ".", "/", ".").Replace(q.FormValue("scope")), user, password)
	case strings.HasPrefix(q.URL.Path, "/v2/"):
		r.images(w, q)
	default:
		http.NotFound(w, q)
	}
}

func (r *registry) packument(w http.ResponseWriter, q *http.Request) {
	body, ok := r.packages[strings.TrimPrefix(q.URL.Path, "/npm/")]
	w.Header().Set("Content-Type", "application/json")
	if !ok || strings.Contains(q.URL.EscapedPath(), "sdk") && !strings.Contains(q.RequestURI, "@causeway%2fsdk") {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"Not found"}`)
		return
	}
	if r.etags {
		sum := sha256.Sum256([]byte(body))
		tag := `"` + hex.EncodeToString(sum[:8]) + `"`
		w.Header().Set("ETag", tag)
		if q.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	fmt.Fprint(w, body)
}

func (r *registry) images(w http.ResponseWriter, q *http.Request) {
	if r.private && !strings.HasPrefix(q.Header.Get("Authorization"), "Bearer t-") {
		w.Header().Set("WWW-Authenticate",
			`Bearer realm="`+r.server.URL+`/token",service="registry",scope="repository:causeway/node:pull"`)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`)
		return
	}
	missing := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"errors":[{"code":"%s"}]}`, code)
	}
	path := strings.TrimPrefix(q.URL.Path, "/v2/")
	if name, ok := strings.CutSuffix(path, "/tags/list"); ok {
		tags, ok := r.tags[name]
		if !ok {
			missing("NAME_UNKNOWN")
			return
		}
		r.list(w, q, name, tags)
		return
	}
	name, reference, manifest := strings.Cut(path, "/manifests/")
	if digest, ok := r.tags[name][reference]; manifest && ok {
		reference = digest
	}
	if !manifest {
		_, reference, _ = strings.Cut(path, "/blobs/")
	}
	body, ok := r.blobs[reference]
	if !ok {
		missing("MANIFEST_UNKNOWN")
		return
	}
	var head struct {
		MediaType string `json:"mediaType"`
	}
	_ = json.Unmarshal([]byte(body), &head) // configurations have none
	if manifest && !strings.Contains(q.Header.Get("Accept"), head.MediaType) {
		missing("MANIFEST_UNKNOWN")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if manifest {
		w.Header().Set("Content-Type", head.MediaType)
	}
	w.Header().Set("Docker-Content-Digest", reference)
	fmt.Fprint(w, body)
}

// list serves a page of tags, in lexical order, with a link to the next whose
// host is another, as registries behind others do.
func (r *registry) list(w http.ResponseWriter, q *http.Request, name string, tags map[string]string) {
	var page []string
	for tag := range tags {
		if tag > q.FormValue("last") {
			page = append(page, tag)
		}
	}
	slices.Sort(page)
	n, _ := strconv.Atoi(q.FormValue("n"))
	if n > 0 && len(page) > n {
		page = page[:n]
		w.Header().Set("Link", fmt.Sprintf(`<http://registry.internal/v2/%s/tags/list?last=%s&n=%d>; rel="next"`, name,
			page[n-1], n))
	}
	body, _ := json.Marshal(map[string]any{"name": name, "tags": page})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}
