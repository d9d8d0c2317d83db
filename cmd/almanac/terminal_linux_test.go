package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// copied is what stays one line so that it can be copied: commands, paths, addresses.
var copied = regexp.MustCompile("`[^`]+`|\\S{24,}")

// TestATerminalIsWideEnough runs what prints for people on a terminal of 80 columns.
func TestATerminalIsWideEnough(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, environ(home), "show", "CIP-1") // loads the sample
	mine := filepath.Join(home, "mine.yaml")
	writeFile(t, mine, `name: mine
title: Mine
sources:
  - {name: handbook, kind: docs, options: {folder: nowhere, url: "https://docs.example.org/{page}"}}
  - {name: letters, kind: mail, options: {files: ["none/*.mbox"]}}
`)
	for _, command := range [][]string{
		{"config"}, {"doctor"}, {"eval"}, {"search", "who votes on a proposal"},
		{"tools", "list"}, {"network", "kinds"}, {"network", "check", mine},
		{"sync", "--network", mine}, {"doctor", "--network", mine}, {"profile", "list"},
		{"profile", "diff", "default", "transformer"},
	} {
		for line := range strings.Lines(onTerminal(t, environ(home), command...)) {
			line = strings.TrimRight(line, "\r\n")
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(strings.TrimSpace(line), "almanac ") &&
				!copied.MatchString(line) {
				t.Errorf("%s: %d columns: %s", strings.Join(command, " "), utf8.RuneCountInString(line), line)
			}
		}
	}
}

// onTerminal runs the program with a terminal as standard output, and returns what is shown there.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), program(t), args...)
	cmd.Env, cmd.Stdout = append(slices.Clone(env), "NO_COLOR=1"), slave
	var errOut strings.Builder
	cmd.Stderr = &errOut
	shown := make(chan string, 1)
	go func() {
		out, _ := io.ReadAll(master) // it ends with an error when nobody has the terminal open any more
		shown <- string(out)
	}()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := slave.Close(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // some of the commands fail
	out := <-shown
	if out == "" {
		t.Errorf("%s shows nothing: %s", strings.Join(args, " "), &errOut)
	}
	return out
}
