package main

import (
	"context"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/retrieval"
)

// answering is a searcher with one answer.
type answering struct{ retrieval.Searcher }

func (answering) Search(context.Context, retrieval.Request) (retrieval.Response, error) {
	return retrieval.Response{Degraded: []string{"vector"}, Corrected: "x",
		Timings: map[string]time.Duration{"plan": 1}}, nil
}

// TestAlerts: every expression of the alerts uses series and labels that exist.
func TestAlerts(t *testing.T) {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For string
				Annotations      map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(readText(t, "alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	metrics, labels := exported(t)
	for _, r := range file.Groups[0].Rules {
		if strange := strangers(r.Expr, metrics, labels); len(strange) > 0 {
			t.Errorf("%s: %v", r.Alert, strange)
		}
		if _, err := time.ParseDuration(r.For); err != nil || r.Annotations["summary"] == "" {
			t.Errorf("%s: for %q, summary %q", r.Alert, r.For, r.Annotations["summary"])
		}
	}
	if len(file.Groups[0].Rules) < 6 {
		t.Errorf("%d alerts", len(file.Groups[0].Rules))
	}
}
