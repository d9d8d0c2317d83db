package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/retrieval"
	"almanac/retrieval/stack"
)

// TestDashboards: each expression is of metrics and labels that there are.
func TestDashboards(t *testing.T) {
	t.Parallel()
	metrics, labels := exported(t)
	expressions := 0
	for _, name := range filesBelow(t, "grafana/dashboards", ".json") {
		var board struct {
			UID    string
			Panels []struct {
				Title      string
				Datasource struct{ UID string }
				Targets    []struct{ Expr string }
			}
		}
		if err := json.Unmarshal([]byte(readText(t, name)), &board); err != nil || board.UID == "" {
			t.Fatalf("%s: %v", name, err)
		}
		for _, panel := range board.Panels {
			if !strings.Contains(readText(t, "grafana/provisioning/datasources/prometheus.yaml"), "uid: "+
				panel.Datasource.UID+"\n") {
				t.Errorf("%s: no data source is called %q", panel.Title, panel.Datasource.UID)
			}
			for _, target := range panel.Targets {
				expressions++
				for _, name := range strangers(target.Expr, metrics, labels) {
					t.Errorf("%s: %s: nothing exports %s", panel.Title, target.Expr, name)
				}
			}
		}
	}
	if expressions < 10 {
		t.Errorf("%d expressions", expressions)
	}
	for expr, want := range map[string]string{
		`sum by (route) (rate(almanac_http_requests_total{status=~"5.."}[5m]))`: "",
		`sum by (address) (almanac_http_requests_total)`:                        "address",
		`almanac_http_requests_total{code="500"}`:                               "code",
		`histogram_quantile(.5, almanac_index_records_bucket)`:                  "almanac_index_records_bucket",
		`almanac_engines_up * 2`:                                                "almanac_engines_up",
	} {
		if got := strings.Join(strangers(expr, metrics, labels), " "); got != want {
			t.Errorf("%s: strange is %q, want %q", expr, got, want)
		}
	}
}

// exported are the names of all series of the admin listener, and of their
// labels.
func exported(t *testing.T) (metrics, labels map[string]bool) {
	t.Helper()
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
	metrics, labels = map[string]bool{"up": true}, map[string]bool{"job": true, "instance": true, "le": true}
	for _, f := range families {
		suffixes := map[string][]string{"HISTOGRAM": {"_bucket", "_sum", "_count"},
			"SUMMARY": {"", "_sum", "_count"}}[f.GetType().String()]
		if suffixes == nil {
			suffixes = []string{""}
		}
		for _, s := range suffixes {
			metrics[f.GetName()+s] = true
		}
		for _, series := range f.GetMetric() {
			for _, l := range series.GetLabel() {
				labels[l.GetName()] = true
			}
		}
	}
	return metrics, labels
}

var (
	promText     = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]`)
	promMatchers = regexp.MustCompile(`\{([^}]*)\}|\b(?:by|without|on|ignoring) *\(([^)]*)\)`)
	promName     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*(?: *\()?`)
)

// strangers are the names in a PromQL expression that are neither functions
// nor known.
func strangers(expr string, metrics, labels map[string]bool) (strange []string) {
	expr = promText.ReplaceAllString(expr, "")
	for _, m := range promMatchers.FindAllStringSubmatch(expr, -1) {
		for _, l := range promName.FindAllString(m[1]+m[2], -1) {
			if !labels[l] {
				strange = append(strange, l)
			}
		}
	}
	for _, name := range promName.FindAllString(promMatchers.ReplaceAllString(expr, " "), -1) {
		operator := slices.Contains([]string{"sum", "avg", "max", "min", "count", "and", "or", "unless", "bool"}, name)
		if !operator && !strings.HasSuffix(name, "(") && !metrics[name] {
			strange = append(strange, name)
		}
	}
	return strange
}
