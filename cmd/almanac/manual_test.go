package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/cmd/manual"
)

// TestEveryCommandHasExamples parses the examples in the help of each command.
func TestEveryCommandHasExamples(t *testing.T) {
	var root cli
	parser, _, err := newParser(&root, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(false) {
		name := leaf.Path()
		seen[name] = true
		if examples[name] == "" {
			t.Errorf("%s has no example", name)
		}
		for line := range strings.Lines(examples[name]) {
			words, ok := arguments(line)
			if !ok {
				continue
			}
			var other cli
			again, _, err := newParser(&other, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Parse(words); err != nil {
				t.Errorf("%s: %q: %v", name, strings.TrimSpace(line), err)
			}
		}
		help := bytes.Buffer{}
		if code := runMain(t.Context(), append(strings.Fields(name), "--help"), nil, &help, io.Discard); code != 0 ||
			!strings.Contains(help.String(), "Examples:") {
			t.Errorf("%s --help: %d without examples", name, code)
		}
		for line := range strings.Lines(help.String()) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("%s --help is wider than 80 columns: %s", name, line)
			}
		}
	}
	for name := range examples {
		if !seen[name] {
			t.Errorf("there are examples of %q and no such command", name)
		}
	}
}

// arguments returns what an example passes to the program, without what is the
// shell's.
func arguments(line string) ([]string, bool) {
	_, after, ok := strings.Cut(line, "almanac ")
	if !ok {
		return nil, false
	}
	for _, end := range []string{" >", " |", ")"} {
		after, _, _ = strings.Cut(after, end)
	}
	return strings.Fields(strings.ReplaceAll(after, "'", "")), true
}

// completed is what bash suggests for a line that ends in the last word.
func completed(t *testing.T, home string, words ...string) string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	script := bytes.NewBufferString(manual.Completions("almanac", "bash"))
	fmt.Fprintf(script, "COMP_WORDS=(%q \"$@\"); COMP_CWORD=$#; _almanac; echo \"${COMPREPLY[*]}\"\n", program(t))
	cmd := exec.Command("bash", append([]string{"-eu", "-s", "--"}, words...)...)
	cmd.Stdin, cmd.Env = script, environ(home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, environ(home), "show", "CIP-1") // loads the sample
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"tools", "call", "get_cip_vote"}, "get_cip_vote_outcome get_cip_votes"},
		{[]string{"sync", "fo"}, "forge forum foundation"},
		{[]string{"sync", "--network", "canton", "daml-2"}, "daml-2-docs"},
		{[]string{"search", "--source", "mai"}, "mail"},
		{[]string{"search", "--kind", "pac"}, "package_version"},
		{[]string{"show", "CIP-001"}, "CIP-0010 CIP-0011 CIP-0012 CIP-0013 CIP-0014 CIP-0015 CIP-0016 CIP-0017 " +
			"CIP-0018 CIP-0019"},
		{[]string{"--network", "sam"}, "sample"},
		{[]string{"network", "kinds", "cal"}, "calendar"},
		{[]string{"se"}, "serve search"},
		{[]string{"network", "ch"}, "check"},
		{[]string{"--network", "=", "sam"}, "sample"},
		{[]string{"serve", "--li"}, "--listen"},
		{[]string{"--network", "sample", "serve", "--ad"}, "--admin"},
		{[]string{"search", "--type", "ci"}, "cip"},
		{[]string{"completion", "f"}, "fish"},
		{[]string{"serve", "--net"}, "--network"},
	} {
		if got := completed(t, home, tt.words...); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.words, got, tt.want)
		}
	}
}

// TestTheManPageRenders reads it as a terminal would show it.
func TestTheManPageRenders(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff")
	}
	var page bytes.Buffer
	if code := runMain(t.Context(), []string{"man"}, nil, &page, io.Discard); code != 0 {
		t.Fatal(code)
	}
	cmd := exec.Command("groff", "-man", "-Tascii", "-P-cbu", "-ww")
	cmd.Stdin = &page
	var warnings bytes.Buffer
	cmd.Stderr = &warnings
	out, err := cmd.Output()
	if err != nil || warnings.Len() > 0 {
		t.Fatalf("%v: %.500s", err, warnings.String())
	}
	for _, want := range []string{"COMMANDS", "--accept-shrink", "ALMANAC_SERVER_DRAIN_DELAY", "EXIT STATUS"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestShells: the scripts of the shells that are here parse.
func TestShells(t *testing.T) {
	for _, shell := range manual.Shells {
		var script bytes.Buffer
		if code := runMain(t.Context(), []string{"completion", shell}, nil, &script, io.Discard); code != 0 {
			t.Fatalf("%s: %d", shell, code)
		}
		if !strings.Contains(script.String(), " complete -- ") {
			t.Errorf("%s: the script asks nothing:\n%s", shell, script.String())
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		cmd := exec.Command(shell, "-n")
		cmd.Stdin = &script
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
}
