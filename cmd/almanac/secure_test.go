package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"almanac/testing/meilitest"
	"almanac/testing/qdranttest"
	"almanac/testing/wait"
)

// TestServersBehindTLS: both engines are on servers with certificates of a private authority, which SSL_CERT_FILE names,
// and ask for keys, which are in files. Without the authority they are refused, by name, and searches go on.
func TestServersBehindTLS(t *testing.T) {
	t.Parallel()
	words := meilitest.New()
	words.RequireKey("words-hush")
	front := httptest.NewTLSServer(words.Handler())
	t.Cleanup(front.Close)
	identity := front.TLS.Certificates[0]
	vectors := qdranttest.StartAt(t, "127.0.0.1:0", grpc.Creds(credentials.NewServerTLSFromCert(&identity)))
	vectors.RequireKey("vectors-hush")
	dir := t.TempDir()
	authority := filepath.Join(dir, "authority.pem")
	writeFile(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})))
	writeFile(t, filepath.Join(dir, "words"), "words-hush\n")
	writeFile(t, filepath.Join(dir, "vectors"), "vectors-hush\n")
	settings := []string{"ALMANAC_KEYWORD_URL=" + front.URL, "ALMANAC_KEYWORD_KEY_FILE=" + filepath.Join(dir, "words"),
		"ALMANAC_VECTOR_URL=https://" + vectors.Addr, "ALMANAC_VECTOR_KEY_FILE=" + filepath.Join(dir, "vectors")}
	type answer struct {
		found
		Degraded []string
	}
	search := func(s *server) answer { return getJSON[answer](t, s, "/api/v1/search?q=beacon+harbour") }

	s := newSite(t, 12, append(settings, "SSL_CERT_FILE="+authority)...).serve(t)
	s.ready(t)
	wait.Until(t, "both engines answer", func() bool { return len(search(s).Degraded) == 0 })
	if len(search(s).Items) == 0 || len(vectors.Passages()) == 0 {
		t.Errorf("nothing is found, or there are no vectors: %d", len(vectors.Passages()))
	}
	s.stop(t)

	s = newSite(t, 12, append(settings, "SSL_CERT_FILE="+filepath.Join(dir, "none.pem"), "SSL_CERT_DIR="+dir+"/none")...).
		serve(t)
	s.await(t, "ready")
	if a := search(s); !slices.Equal(a.Degraded, []string{"keyword", "vector"}) || len(a.Items) == 0 {
		t.Errorf("without the authority: found %d, without %v", len(a.Items), a.Degraded)
	}
	if status, _, down := do(t, http.MethodGet, s.admin+"/engines"); status != http.StatusOK ||
		strings.Count(down, "certificate") < 2 || strings.Contains(down, "hush") {
		t.Errorf("%d %s", status, down)
	}
}
