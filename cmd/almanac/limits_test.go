package main

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// greatestLimit is how a tool refuses a limit over its maximum.
var greatestLimit = regexp.MustCompile(`limit\w* must be between 1 and (\d+)`)

// widens holds that a tool which takes a limit returns as many rows of each list as it is
// asked for, or all that there are.
func (w *walk) widens(t *testing.T, name string, args map[string]any) {
	t.Helper()
	asked := maps.Clone(args)
	ask := func(limit int) (answer any, said string) {
		t.Helper()
		asked["limit"] = limit
		var result struct {
			StructuredContent any
			Content           []struct{ Text string }
		}
		w.rpc(t, "", "tools/call", map[string]any{"name": name, "arguments": asked}, &result)
		for _, c := range result.Content {
			said += c.Text
		}
		return result.StructuredContent, said
	}
	_, refusal := ask(1_000_000)
	if strings.Contains(refusal, `unknown argument "limit"`) {
		return
	}
	m := greatestLimit.FindStringSubmatch(refusal)
	if m == nil {
		t.Fatalf("a limit of a million: %.200s", refusal)
	}
	most, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 2, 5, most} {
		answer, said := ask(limit)
		if strings.Contains(said, "; left out: ") {
			continue // there is no room for all in one answer
		}
		w.heldTo(t, fmt.Sprintf("%v limit %d", args, limit), answer, limit)
	}
}

// heldTo checks the lists of an answer that say how many rows there are in all.
func (w *walk) heldTo(t *testing.T, at string, answer any, limit int) {
	t.Helper()
	switch v := answer.(type) {
	case []any:
		for i, e := range v {
			w.heldTo(t, fmt.Sprintf("%s.%d", at, i), e, limit)
		}
	case map[string]any:
		if left, _ := v["left_out"].(float64); left > 0 {
			return // by a budget of its own
		}
		items, isList := v["items"].([]any)
		if total, counted := v["total"].(float64); isList && counted && len(items) != min(limit, int(total)) {
			t.Errorf("%s: %d rows of %v", at, len(items), total)
		}
		for name, e := range v {
			w.heldTo(t, at+"."+name, e, limit)
		}
	}
}
