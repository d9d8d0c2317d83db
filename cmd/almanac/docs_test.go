package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"almanac/ingest/connectors"
)

// TestFirstAnswers: README's questions have the first answers that it shows.
func TestFirstAnswers(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	env := environ(t.TempDir())
	must(t, env, "sync")
	shown := regexp.MustCompile(`(?m)^    \$ bin/almanac search (.*)\n     1\. (.*?)  \[`).FindAllStringSubmatch(string(
		readme), -1)
	if len(shown) != 3 {
		t.Fatalf("README asks %d questions", len(shown))
	}
	for _, m := range shown {
		if got := must(t, env, "search", "--limit", "1", m[1]); !strings.HasPrefix(got, " 1. "+m[2]+"  [") {
			t.Errorf("%s: %.100s, README shows %s", m[1], got, m[2])
		}
	}
}

// options writes docs/reference/options.md.
func options() []byte {
	var b bytes.Buffer
	b.WriteString("# Options of sources\n\n`almanac network kinds KIND` prints these. A path in `options` is as in " +
		"[networks.md](../networks.md#paths).\n")
	for _, k := range connectors.Kinds() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```yaml\n%s```\n", k.Name, k.Summary, k.Example)
	}
	return b.Bytes()
}

// TestGeneratedPages compares the pages of docs/reference that the program writes.
func TestGeneratedPages(t *testing.T) {
	printed := func(command ...string) []byte {
		var out bytes.Buffer
		if code := runMain(t.Context(), command, nil, &out, io.Discard); code != 0 {
			t.Fatal(command, code)
		}
		return out.Bytes()
	}
	for name, want := range map[string][]byte{
		"options.md": options(), "configuration.md": printed("config", "--markdown"),
		"tools.md": printed("tools", "list", "--markdown"),
	} {
		file := filepath.Join("../../docs/reference", name)
		if *updateTour {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what the program says (make docs writes it): %v", file, err)
		}
	}
}
