package packages_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/packages"
	"almanac/testing/connectortest"
)

func (r *registry) key(tag string) string { return "oci:" + r.host + "/causeway/node@" + tag }

func (r *registry) keys() []string {
	keys := []string{
		"package_version npm:@causeway/sdk@1.10.0", "package_version npm:@causeway/sdk@1.2.0",
		"package_version npm:@causeway/sdk@1.9.0", "package_version npm:@causeway/sdk@2.0.0-rc.1",
		"package_version npm:causeway-cli@0.1.0", "package_version " + r.key("1.2.0"),
		"package_version " + r.key("2.0.0-rc.1"), "package_version " + r.key("v1.10.0"),
	}
	return keys
}

func TestNPM(t *testing.T) {
	r := newRegistry(t)
	r.config.Options["npm_page"] = "https://packages.example.org/{name}/v/{version}"
	s := connectortest.NewSource(t, r.config)
	got := s.Sync()
	if diff := cmp.Diff(r.keys(), got.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	size := int64(123456)
	want := map[string]catalog.PackageVersion{
		"1.2.0": {
			Name: "@causeway/sdk", Version: "1.2.0", Description: "Talks to a node.", DistTags: []string{"lts"},
			Deprecated: "It loses the tally, see CWP-12. Use 1.10.0.", Licence: "MIT",
			Digest: "sha1:bbf102d5ae73afe2c553295e0fb02230216f65b1",
		},
		"1.9.0": {
			Name: "@causeway/sdk", Version: "1.9.0", Description: "Talks to a node of the Causeway Network.",
			DistTags: []string{}, Deprecated: "This version is deprecated.", Licence: "Apache-2.0",
			Repository: "https://forge.example.org/causeway/sdk",
		},
		"1.10.0": {
			Name: "@causeway/sdk", Version: "1.10.0", Description: "Talks to a node of the Causeway Network.",
			DistTags: []string{"latest"}, Licence: "Apache-2.0", Repository: "https://forge.example.org/causeway/sdk",
			Digest: "sha512-abc==", Bytes: &size,
			Dependencies: map[string]string{"ws": "^8.1.0", "@causeway/types": "~1.10.0"},
		},
		"2.0.0-rc.1": {
			Name: "@causeway/sdk", Version: "2.0.0-rc.1", Description: "Talks to a node of the Causeway Network.",
			DistTags: []string{"next"}, Prerelease: true, Licence: "MIT OR ISC",
		},
	}
	for version, data := range want {
		rec := got.Get(t, catalog.KindPackageVersion, "npm:@causeway/sdk@"+version)
		if diff := cmp.Diff(data, connectortest.Data[catalog.PackageVersion](t, rec)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", version, diff)
		}
		if rec.Title != "@causeway/sdk "+version || rec.Container != "npm" ||
			rec.URL != "https://packages.example.org/@causeway/sdk/v/"+version ||
			(rec.State == "deprecated") != (data.Deprecated != "") {
			t.Errorf("%+v", rec)
		}
	}
	next := got.Get(t, catalog.KindPackageVersion, "npm:@causeway/sdk@2.0.0-rc.1")
	if want := []string{"dist:next", "package:@causeway/sdk"}; !slices.Equal(next.Tags, want) {
		t.Errorf("tags of the prerelease %q, want %q", next.Tags, want)
	}
	latest := got.Get(t, catalog.KindPackageVersion, "npm:@causeway/sdk@1.10.0")
	if want := []string{"dist:latest", "package:@causeway/sdk", "stable"}; !slices.Equal(latest.Tags, want) {
		t.Errorf("tags of the newest %q, want %q", latest.Tags, want)
	}
	body := "Talks to a node of the Causeway Network.\n\n# SDK\n\nOpens a line to a keeper.\n\nInstalled by `npm " +
		"install @causeway/sdk@1.10.0`.\n\nLicence: Apache-2.0.\n\n" +
		"Source: https://forge.example.org/causeway/sdk.\n\nIt depends on @causeway/types ~1.10.0, ws ^8.1.0."
	if latest.Body != body || !latest.CreatedAt.Equal(time.Date(2031, 5, 20, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("%s %q", latest.CreatedAt, latest.Body)
	}
	old := got.Get(t, catalog.KindPackageVersion, "npm:@causeway/sdk@1.2.0")
	if !strings.HasPrefix(old.Body, "Deprecated: It loses the tally") ||
		!old.CreatedAt.Equal(time.Date(2030, 3, 1, 8, 30, 0, 123e6, time.UTC)) {
		t.Errorf("%s %q", old.CreatedAt, old.Body)
	}
	links, err := s.Store.LinksFrom(t.Context(), latest.ID)
	if err != nil || len(links) == 0 || links[0].To.String() != "repo causeway/sdk" {
		t.Errorf("%v, %v", links, err)
	}
	warned := []string{}
	for _, p := range got.Problems {
		warned = append(warned, p.Locator+": "+p.Message)
	}
	if diff := cmp.Diff([]string{
		"npm:@causeway/sdk: 1 versions are left out, as they cannot be read as versions: 1.2",
		"npm:@causeway/sdk: the registry does not say when 2 versions were published",
		"npm:causeway-cli: the registry does not say when 1 versions were published",
	}, warned); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestImages(t *testing.T) {
	for _, private := range []bool{false, true} {
		r := newRegistry(t)
		r.private = private
		r.config.Options["image_page"] = "https://images.example.org/{name}:{version}"
		got := connectortest.NewSource(t, r.config).Sync()
		name := r.host + "/causeway/node"
		want := map[string]catalog.PackageVersion{
			"1.2.0": {
				Name: name, Version: "1.2.0", Description: "A node of the Causeway Network.", DistTags: []string{},
				Licence: "Apache-2.0", Digest: r.tags["causeway/node"]["1.2.0"],
				Platforms: []string{"linux/amd64", "linux/arm64/v8"},
			},
			"v1.10.0": {
				Name: name, Version: "v1.10.0", DistTags: []string{"1", "1.10", "latest"}, Licence: "Apache-2.0",
				Repository: "https://forge.example.org/causeway/node", Digest: r.tags["causeway/node"]["latest"],
				Platforms: []string{"linux/amd64"},
			},
			"2.0.0-rc.1": {Name: name, Version: "2.0.0-rc.1", DistTags: []string{"main", "sha-0123abc"},
				Prerelease: true, Digest: r.tags["causeway/node"]["main"], Platforms: []string{"linux/amd64"}},
		}
		dates := map[string]time.Time{"1.2.0": time.Date(2031, 4, 1, 9, 0, 0, 0, time.UTC),
			"v1.10.0": time.Date(2031, 5, 1, 7, 0, 0, 0, time.UTC), "2.0.0-rc.1": {}}
		for tag, data := range want {
			rec := got.Get(t, catalog.KindPackageVersion, r.key(tag))
			if diff := cmp.Diff(data, connectortest.Data[catalog.PackageVersion](t, rec)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tag, diff)
			}
			if !rec.CreatedAt.Equal(dates[tag]) || rec.Container != "oci" ||
				rec.URL != "https://images.example.org/causeway/node:"+tag {
				t.Errorf("%s: %+v", tag, rec)
			}
		}
		if body := got.Get(t, catalog.KindPackageVersion,
			r.key("1.2.0")).Body; body != "A node of the Causeway Network.\n\nThe container image `"+name+
			":1.2.0`.\n\nIt runs on linux/amd64, linux/arm64/v8.\n\nLicence: Apache-2.0." {
			t.Errorf("%q", body)
		}
		wanted := ""
		if private {
			wanted = "Bearer t-registry-repository.causeway.node.pull-"
		}
		if auth := r.authority["/v2/causeway/node/manifests/latest"]; auth != wanted {
			t.Errorf("requested with %q", auth)
		}
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		r := newRegistry(t)
		return connectortest.Upstream{Config: r.config, Server: r.server,
			Change: func() {
				r.change(func() {
					r.packages["causeway-cli"] = strings.Replace(r.packages["causeway-cli"], `"dist": {`,
						`"description": "Asks a node.", "dist": {`, 1)
				})
			},
			Drop: func(s *connectortest.Source) { s.Options["npm"] = []any{"@causeway/sdk"} },
		}
	})
}

// TestWithdrawn takes a whole package away, as its publisher does.
func TestWithdrawn(t *testing.T) {
	r := newRegistry(t)
	s := connectortest.NewSource(t, r.config)
	s.Sync()
	r.change(func() {
		r.packages["causeway-cli"] = `{"_id": "causeway-cli", "name": "causeway-cli", "time": {"0.1.0": "2031-01-01T00:00:00.000Z", "unpublished": {"name": "aquay", "time": "2031-02-01T00:00:00.000Z", "tags": {"latest": "0.1.0"}, "versions": ["0.1.0"]}}}`
	})
	if got := s.Sync(); got.Deleted != 1 || got.Warned == 0 {
		t.Errorf("%d deleted, %v", got.Deleted, got.Problems)
	}
}

func TestEndlessPages(t *testing.T) {
	r := newRegistry(t)
	for i := range 250 {
		r.tags["causeway/node"][fmt.Sprintf("0.0.%d", i)] = r.tags["causeway/node"]["1.2.0"]
	}
	s := connectortest.NewSource(t, r.config)
	got := s.Sync()
	if len(got.Records) != 5+50+1 {
		t.Errorf("%d records", len(got.Records))
	}
	got.Get(t, catalog.KindPackageVersion, r.key("0.0.249"))
	pages := slices.DeleteFunc(r.server.Paths(), func(p string) bool { return !strings.Contains(p, "/tags/list") })
	if len(pages) != 3 {
		t.Errorf("%v", pages)
	}
	r.server.Fault("/v2/causeway/node/tags", -1, connectortest.Repeating())
	s.Clock = s.Clock.Add(25 * time.Hour)
	if got = s.Sync(); got.Skipped != 1 || got.Changes != 0 ||
		!strings.Contains(got.Problems[0].Message, "does not end") {
		t.Errorf("%v", got.Problems)
	}
}

// TestManyVersions keeps the newest of ten thousand, by precedence.
func TestManyVersions(t *testing.T) {
	r := newRegistry(t)
	var versions, tags []string
	for i := range 10_000 {
		v := fmt.Sprintf("1.%d.%d", i/100, i%100)
		if i%2 == 1 {
			v += fmt.Sprintf("-snapshot.%d", i)
			tags = append(tags, fmt.Sprintf(`"build-%d": "%s"`, i, v))
		}
		versions = append(versions, fmt.Sprintf(`"%s": {"name": "causeway-cli", "version": "%s"}`, v, v))
	}
	tags = append(tags, `"latest": "1.0.0"`)
	r.packages["causeway-cli"] = `{"name": "causeway-cli", "dist-tags": {` + strings.Join(tags,
		",") + `}, "versions": {` + strings.Join(versions, ",") + `}}`
	r.config.Options["npm"], r.config.Options["versions"], r.config.Options["prereleases"] = []any{"causeway-cli"}, 3, 2
	delete(r.config.Options, "images")
	got := connectortest.NewSource(t, r.config).Sync()
	if len(got.Records) != 3+2+50+1 { // releases, prereleases, tagged ones, latest
		t.Errorf("%d records", len(got.Records))
	}
	for _, v := range []string{"1.99.98", "1.99.96", "1.99.94", "1.0.0", "1.99.99-snapshot.9999",
		"1.99.1-snapshot.9901"} {
		got.Get(t, catalog.KindPackageVersion, "npm:causeway-cli@"+v)
	}
}

func TestCredentials(t *testing.T) {
	r := newRegistry(t)
	r.private = true
	r.config.Files = fstest.MapFS{".npmrc": {Data: []byte("@causeway:registry=" + r.server.URL + "/npm\nregistry = " +
		r.server.URL + "/npm/ ; ours\n//" + r.host + "/npm/:_authToken=${CAUSEWAY_NPM}\n")}}
	t.Setenv("CAUSEWAY_NPM", "npm-secret")
	got := connectortest.NewSource(t, r.config).Sync()
	if r.authority["/npm/@causeway/sdk"] != "Bearer npm-secret" ||
		r.authority["/npm/causeway-cli"] != "Bearer npm-secret" || len(got.Records) != 8 {
		t.Errorf("requested with %v", r.authority)
	}
	r.config.Options["tokens"] = map[string]any{r.host: "CAUSEWAY_REGISTRY"}
	if got = connectortest.NewSource(t, r.config).Sync(); !slices.ContainsFunc(got.Problems,
		func(p ingest.Problem) bool { return strings.Contains(p.Message, "CAUSEWAY_REGISTRY is not set") }) {
		t.Errorf("%v", got.Problems)
	}
	t.Setenv("CAUSEWAY_REGISTRY", "ada:registry-secret")
	r.server.Fault("/npm/causeway-cli", -1, connectortest.Status(403))
	got = connectortest.NewSource(t, r.config).Sync()
	if r.authority["/npm/@causeway/sdk"] != "Basic YWRhOnJlZ2lzdHJ5LXNlY3JldA==" ||
		r.authority["/token"] != "Basic YWRhOnJlZ2lzdHJ5LXNlY3JldA==" ||
		r.authority["/v2/causeway/node/tags/list"] != "Bearer "+
			"t-registry-repository.causeway.node.pull-adaregistry-secret" {
		t.Errorf("requested with %v", slices.Sorted(maps.Values(r.authority)))
	}
	for _, problem := range got.Problems {
		if strings.Contains(problem.Message, "secret") {
			t.Errorf("a secret in %q", problem.Message)
		}
	}
	r.config.Options["tokens"] = map[string]any{"registry.example.org": "CAUSEWAY_REGISTRY"}
	r.private = false
	connectortest.NewSource(t, r.config).Sync()
	if auth := r.authority["/v2/causeway/node/tags/list"]; auth != "" {
		t.Errorf("the credentials of another registry were sent: %q", auth)
	}
}

func TestOptions(t *testing.T) {
	for want, given := range map[string]map[string]any{
		"want a list of packages":            {},
		`npm[1]: "../x"`:                     {"npm": []any{"../x"}},
		`npm[2]: appears twice`:              {"npm": []any{"a", "a"}},
		`images[1]: "X"`:                     {"images": []any{"X"}},
		`images[1]: "h.example.org/a:1.0"`:   {"images": []any{"h.example.org/a:1.0"}},
		`images[1]: "[c:1]/a"`:               {"images": []any{"[c:1]/a"}},
		"images[2]: appears twice":           {"images": []any{"h.example.org/a", "h.example.org/a"}},
		"versions: 0 is less than 1":         {"npm": []any{"a"}, "versions": 0},
		"npm_registry: is not a web address": {"npm": []any{"a"}, "npm_registry": "npm.example.org"},
	} {
		if err := connectortest.Open(packages.Kind, given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", given, err, want)
		}
	}
}

// TestManifestsThatMisbehave: what is known of an image is kept, unless the
// registry as a whole fails.
func TestManifestsThatMisbehave(t *testing.T) {
	r := newRegistry(t)
	delete(r.config.Options, "npm")
	r.config.Options["images"] = []any{r.host + "/causeway/node", r.host + "/causeway/wallet"}
	r.tags["causeway/wallet"] = map[string]string{"0.1.0": r.blob(`{"config": {"digest": "` +
		r.blob(`{"os": "linux", "architecture": "amd64"}`) + `"}}`)}
	s := connectortest.NewSource(t, r.config)
	s.Clock = s.Clock.Add(25 * time.Hour)
	clean := s.Sync()
	for _, broken := range []struct {
		prefix string
		fault  connectortest.Fault
		whole  bool // the image's package fails
		warned int
	}{
		{"/v2/causeway/node/blobs/", connectortest.Redirect(connectortest.Inside[0]), false, 3},
		{"/v2/causeway/node/blobs/", connectortest.Status(404), false, 3},
		{"/v2/causeway/node/blobs/", connectortest.SignIn, false, 3},
		{"/v2/causeway/node/blobs/", connectortest.Halved, false, 3},
		{"/v2/causeway/node/blobs/", connectortest.Status(503), true, 0},
		{"/v2/causeway/node/blobs/", connectortest.Truncated, true, 0},
		{"/v2/causeway/node/manifests/sha256", connectortest.Status(404), false, 3},
		{"/v2/causeway/node/manifests/sha256", connectortest.Garbage, false, 3},
		{"/v2/causeway/node/manifests/sha256", connectortest.Reset, true, 0},
		{"/v2/causeway/node/manifests/1.2.0", connectortest.Status(404), false, 1},
		{"/v2/causeway/node/manifests/latest", connectortest.Status(404), false, 1},
		{"/v2/causeway/node/manifests/latest", connectortest.Status(500), true, 0},
		{"/v2/causeway/node/manifests/latest", connectortest.Status(403), true, 0},
	} {
		r.server.Fault(broken.prefix, -1, broken.fault)
		s := connectortest.NewSource(t, r.config)
		got := s.Sync()
		want := 4
		switch {
		case broken.whole:
			want = 1
		case strings.HasSuffix(broken.prefix, "1.2.0"):
			want = 3
		}
		if len(got.Records) != want || got.Warned != broken.warned || (got.Skipped == 1) != broken.whole {
			t.Errorf("%s: %d records, %v", broken.prefix, len(got.Records), got.Problems)
		}
		r.server.Heal()
		s.Clock = s.Clock.Add(25 * time.Hour)
		connectortest.Same(t, clean, s.Sync())
	}
}
