package main

import (
	"os/exec"
	"strings"
	"testing"

	"almanac/testing/wait"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTheFirstCallOverStdio starts a process for each call, as clients do that
// start one for a call: it answers, on an empty machine too. Where loading takes longer
// than a call waits it is asked again.
func TestTheFirstCallOverStdio(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, state := range []string{"empty", "indexed"} {
		session := connect(t, stdioOf(t, home))
		var res *sdk.CallToolResult
		var err error
		wait.Until(t, state+": an answer", func() bool {
			res, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_cips"})
			return err != nil || !strings.Contains(textOf(res), "loading, ")
		})
		if err != nil || res.IsError || !strings.Contains(textOf(res), `"total":`) ||
			strings.Contains(textOf(res), `"total":0`) {
			t.Errorf("%s: %v %.300s", state, err, textOf(res))
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNothingIsIndexedOverStdio: an agent is told what to run, not that nothing
// exists.
func TestNothingIsIndexedOverStdio(t *testing.T) {
	t.Parallel()
	at := newSite(t, 10)
	session := connect(t, at.stdio(t))
	call := func() string {
		res, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "search", Arguments: map[string]any{"query": "tide"}})
		if err != nil {
			t.Fatal(err)
		}
		if !res.IsError {
			return ""
		}
		return textOf(res)
	}
	if got := call(); !strings.Contains(got, "run `almanac sync --network "+at.network) {
		t.Errorf("an empty directory: %q", got)
	}
	at.run(t, "sync")
	wait.Until(t, "an answer", func() bool { return call() == "" })
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func stdioOf(t *testing.T, home string) *sdk.CommandTransport {
	cmd := exec.Command(program(t), "mcp")
	cmd.Env = environ(home)
	return &sdk.CommandTransport{Command: cmd}
}

func textOf(res *sdk.CallToolResult) string {
	if res == nil || len(res.Content) == 0 {
		return ""
	}
	text, _ := res.Content[0].(*sdk.TextContent)
	return text.Text
}

// TestAClientThatLeavesAtOnce is no failure, whatever the program was at.
func TestAClientThatLeavesAtOnce(t *testing.T) {
	t.Parallel()
	at := newSite(t, 8)
	for _, state := range []string{"empty", "indexed"} {
		for range 20 { // the end comes at another moment of the start each time
			at.run(t, "mcp")
		}
		if state == "empty" {
			at.run(t, "sync")
		}
	}
}
