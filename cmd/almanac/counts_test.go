package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"almanac/testing/wait"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCountsSurviveAStop holds that searches counted just before a stop are
// there after the next start, that those over stdio count too, and that no log
// has a query.
func TestCountsSurviveAStop(t *testing.T) {
	t.Parallel()
	type popular struct {
		Items []struct {
			Query string
			Count int
		}
	}
	at := newSite(t, 10)
	s := at.serve(t, "ALMANAC_LOG_LEVEL=debug", "ALMANAC_SERVER_TRUSTED_PROXIES=127.0.0.1")
	s.ready(t)
	for i := range 5 { // what fewer search for is not public
		status, _, body := do(t, http.MethodGet, s.base+"/api/v1/search?q=Barge+canal",
			"X-Forwarded-For", fmt.Sprintf("198.51.%d.1", i))
		if status != http.StatusOK {
			t.Fatalf("search: %d %s", status, body)
		}
	}
	s.search(t, "keeper@lighthouse.example")
	session := connect(t, at.stdio(t, "--tools", "search"))
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
		t.Errorf("--tools search lists %v, %v", list, err)
	}
	wait.Until(t, "an answer over stdio", func() bool {
		res, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "barge  CANAL"}})
		if err != nil {
			t.Fatal(err)
		}
		return !res.IsError
	})
	if err := session.Close(); err != nil {
		t.Errorf("stdio: %v", err)
	}
	if code := s.stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, s.log)
	}
	log := s.log.String()
	s = at.serve(t)
	s.ready(t)
	got := getJSON[popular](t, s, "/api/v1/searches/popular")
	if len(got.Items) != 1 || got.Items[0].Query != "barge canal" || got.Items[0].Count != 6 {
		t.Errorf("counted: %+v", got)
	}
	if strings.Contains(log, "anal") || strings.Contains(log, "lighthouse.example") {
		t.Errorf("a query is in the log:\n%s", log)
	}
	if status, _, body := do(t, http.MethodGet, s.base+"/csp-reports"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /csp-reports: %d %s", status, body)
	}
}
