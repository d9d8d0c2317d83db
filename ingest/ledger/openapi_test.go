package ledger_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"almanac/testing/connectortest"
)

// descriptions are the API's own descriptions: of a version with rewards and of a
// later one. They are nil if not available.
var descriptions = sync.OnceValues(func() (docs [2]*openapi3.T, err error) {
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	for i, file := range []string{"wallet-kernel/splice/0.6.1/scan.yaml",
		"splice/apps/scan/src/main/openapi/scan.yaml"} {
		path := filepath.Join(shared, "corpus", "openapi", file)
		if _, err := os.Stat(path); err != nil {
			return docs, nil
		}
		loader := openapi3.NewLoader()
		loader.IsExternalRefsAllowed = true
		if docs[i], err = loader.LoadFromFile(path); err != nil {
			return docs, err
		}
	}
	return docs, nil
})

func described(t *testing.T) []*openapi3.T {
	t.Helper()
	docs, err := descriptions()
	if err != nil {
		t.Fatal(err)
	}
	if docs[1] == nil {
		t.Skip("the descriptions are not here")
	}
	return docs[:]
}

// TestFixturesMatchTheAPI validates the responses of the fake Scan against the
// API's description.
func TestFixturesMatchTheAPI(t *testing.T) {
	common := []string{"/version", "/v0/dso", "/v0/dso-sequencers", "/v0/admin/validator/licenses",
		"/v0/open-and-issuing-mining-rounds", "/v0/featured-apps",
		"/v0/admin/sv/voterequests", "/v0/admin/sv/voteresults"}
	only := [][]string{{"/v0/round-of-latest-data", "/v0/round-totals", "/v0/top-providers-by-app-rewards"},
		{"/v0/migrations/last", "/v0/lsu"}}
	for i, doc := range described(t) {
		t.Run([]string{"with rewards", "later"}[i], func(t *testing.T) {
			scan := newScan(t, causeway())
			for _, path := range append(only[i], common...) {
				item := doc.Paths.Value(path)
				if item == nil {
					t.Errorf("there is no %s", path)
					continue
				}
				operation, method := item.Get, http.MethodGet
				if operation == nil {
					operation, method = item.Post, http.MethodPost
				}
				schema := operation.Responses.Value("200").Value.Content["application/json"].Schema.Value
				r := httptest.NewRequest(method, path, strings.NewReader(`{"limit":2}`))
				w := httptest.NewRecorder()
				scan.serve(w, r)
				var answer any
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				if err := schema.VisitJSON(answer); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}

// TestRequestsMatchTheAPI validates the requests of the connector against the
// API's description.
func TestRequestsMatchTheAPI(t *testing.T) {
	docs := described(t)
	scan := newScan(t, causeway())
	type sent struct {
		method string
		url    *url.URL
		body   []byte
	}
	var all []sent
	recorder := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		all = append(all, sent{r.Method, r.URL, body.Bytes()})
		r.Body = http.NoBody
		r2 := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body.Bytes()))
		scan.serve(w, r2)
	})
	c := connector(t, config(&fakeScan{Server: connectortest.NewServer(t, recorder)}))
	if _, _, err := c.Sync(t.Context(), nil, &sink{}); err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		var operation *openapi3.Operation
		for _, doc := range docs {
			if item := doc.Paths.Value(a.url.Path); item != nil && operation == nil {
				operation = item.GetOperation(a.method)
			}
		}
		if operation == nil {
			t.Errorf("no version has %s %s", a.method, a.url.Path)
			continue
		}
		for name := range a.url.Query() {
			if operation.Parameters.GetByInAndName("query", name) == nil {
				t.Errorf("%s has no parameter %s", a.url.Path, name)
			}
		}
		if operation.RequestBody == nil {
			continue
		}
		var body any
		if err := json.Unmarshal(a.body, &body); err != nil {
			t.Fatal(err)
		}
		if err := operation.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(body); err != nil {
			t.Errorf("%s: %v", a.url.Path, err)
		}
	}
	if len(all) < 12 {
		t.Errorf("%d requests", len(all))
	}
}
