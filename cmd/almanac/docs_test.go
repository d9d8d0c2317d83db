package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"almanac/ingest/connectors"
)

// TestFirstAnswers: README's questions have the first answers that it shows.
func TestFirstAnswers(t *testing.T) {
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

// generatedFrom begins the generated part of docs/networks.md.
const generatedFrom = "## Every option\n"

// TestEveryKindIsInTheGuide compares the last part of docs/networks.md with what
// `almanac network kinds` prints.
func TestEveryKindIsInTheGuide(t *testing.T) {
	const file = "../../docs/networks.md"
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(have), generatedFrom)
	if !ok {
		t.Fatalf("%s has no part %q", file, generatedFrom)
	}
	var want strings.Builder
	want.WriteString(before + generatedFrom +
		"\n`almanac network kinds KIND` prints these; a path in `options` is as in [Paths](#paths).\n")
	for _, k := range connectors.Kinds() {
		fmt.Fprintf(&want, "\n### %s\n\n%s\n\n```yaml\n%s```\n", k.Name, k.Summary, k.Example)
	}
	if *updateTour {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != want.String() {
		t.Errorf("%s is not what the connectors say (make docs writes it)", file)
	}
}

// TestGeneratedPages compares the pages of docs that commands print.
func TestGeneratedPages(t *testing.T) {
	for file, command := range map[string][]string{
		"../../docs/configuration.md": {"config", "--markdown"},
		"../../docs/tools.md":         {"tools", "list", "--markdown"},
	} {
		var out bytes.Buffer
		if code := runMain(t.Context(), command, nil, &out, io.Discard); code != 0 {
			t.Fatal(command, code)
		}
		if *updateTour {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(have, out.Bytes()) {
			t.Errorf("%s is not what almanac %v prints (go test ./cmd/almanac -run GeneratedPages -update writes "+
				"it): %v",
				file, command, err)
		}
	}
}
