package sample_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/outbound"
	"almanac/ingest/sample"
	"almanac/text/options"
)

// handed returns what the sample's constructor hands to the connector that a
// source's options name.
func handed(t *testing.T, given map[string]any) (src network.Source, env ingest.Environment) {
	t.Helper()
	probe := func(s network.Source, e ingest.Environment) (ingest.Connector[[]byte], error) {
		src, env = s, e
		return nil, nil
	}
	_, err := sample.Connector(anchor,
		ingest.Registry{"probe": ingest.Constructor(probe)})(network.Source{Name: "x", Kind: "sample", Options: options.Of(given)},
		ingest.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	return src, env
}

func TestConnectorsGetTheirOwnOptions(t *testing.T) {
	given := map[string]any{
		"connector": "probe", "url": "https://example.org", "n": 3,
		"papers": []any{map[string]any{"title": "x", "published": "{{day -7}}"}},
	}
	src, env := handed(t, given)
	want := map[string]any{"url": "https://example.org", "n": 3,
		"papers": []any{map[string]any{"title": "x", "published": "2031-06-10"}}}
	if diff := cmp.Diff(want, src.Options.Values()); diff != "" || src.Kind != "probe" || src.Name != "x" {
		t.Errorf("source %s of kind %s (-want +got):\n%s", src.Name, src.Kind, diff)
	}
	if given["connector"] != "probe" {
		t.Error("the network's own options were changed")
	}
	if _, err := fs.Stat(env.Files, "cips/README.md"); err != nil {
		t.Error(err)
	}
	if env.Secret("ANY_TOKEN") == "" {
		t.Error("there is no token for a server that wants one")
	}
}

func TestConnectorErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
		options    map[string]any
	}{
		{"an unknown connector", `did you mean "forum"`, map[string]any{"connector": "fourm"}},
		{"a date after the anchor", "<day 3>: error calling day: lies on or after",
			map[string]any{"connector": "forum", "papers": []any{map[string]any{"published": "{{day 3}}"}}}},
		{"an option the snapshot does not have", "contents", map[string]any{"contents": "all"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sample.Connector(anchor,
				connectors.All(anchor))(network.Source{Name: "x", Kind: "sample", Options: options.Of(c.options)},
				ingest.Environment{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

func TestServers(t *testing.T) {
	_, env := handed(t, map[string]any{"connector": "probe"})
	get := func(r outbound.Request) (outbound.Response, error) { return env.HTTP.Do(t.Context(), r) }
	for _, c := range []struct{ name, url, kind, says string }{
		{"a file", "https://forum.causeway.example.org/t/118.json", "application/json; charset=utf-8", "CIP-0007"},
		{"a file, whatever the query", "https://forum.causeway.example.org/latest.json?page=0",
			"application/json; charset=utf-8", "topic_list"},
		{"what is also a directory", "https://api.example.org/repos/causeway-network/node",
			"application/json; charset=utf-8", "full_name"},
		{"the page of a directory", "https://www.causeway.example.org/grants/", "text/html; charset=utf-8",
			"How to apply"},
		{"the front of a site", "https://www.causeway.example.org", "text/html; charset=utf-8", "Start here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := get(outbound.Request{URL: c.url})
			if err != nil || answer.Header.Get("Content-Type") != c.kind ||
				!strings.Contains(string(answer.Body), c.says) {
				t.Fatalf("%v, %s, %.100s", err, answer.Header.Get("Content-Type"), answer.Body)
			}
			again, err := get(outbound.Request{URL: c.url, ETag: answer.ETag})
			if err != nil || !again.NotModified || len(again.Body) > 0 {
				t.Errorf("asked again: %v, not modified %t, %d bytes", err, again.NotModified, len(again.Body))
			}
		})
	}
	t.Run("a file by its digest", func(t *testing.T) {
		const images = "https://registry.causeway.example.org/v2/causeway/node/"
		answer, err := get(outbound.Request{URL: images + "manifests/2.6.1"})
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Config struct{ Digest string }
		}
		if err := json.Unmarshal(answer.Body, &manifest); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(answer.Body)
		again, err := get(outbound.Request{URL: fmt.Sprintf("%smanifests/sha256:%x", images, sum)})
		if err != nil || !bytes.Equal(again.Body, answer.Body) {
			t.Errorf("the manifest by its digest: %v, %.100s", err, again.Body)
		}
		if blob, err := get(outbound.Request{URL: images + "blobs/" + manifest.Config.Digest}); err != nil ||
			!bytes.Contains(blob.Body, []byte("amd64")) {
			t.Errorf("the configuration: %v, %.100s", err, blob.Body)
		}
	})
	for _, url := range []string{
		"https://registry.causeway.example.org/v2/causeway/node/blobs/sha256:00",
		"https://nowhere.causeway.example.org/sha256:00",
		"https://forum.causeway.example.org/t/9.json", "https://forum.causeway.example.org/../../cips/README.md",
		"https://other.example.org/",
		"https://forum.causeway.example.org/t",
	} {
		_, err := get(outbound.Request{URL: url})
		if status, ok := errors.AsType[*outbound.StatusError](err); !ok || status.Status != http.StatusNotFound {
			t.Errorf("%s: %v", url, err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := env.HTTP.Do(cancelled, outbound.Request{URL: "https://www.causeway.example.org/"}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
