package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maker stands in for make: each target prints what a tool does that fails or passes.
const maker = `#!/bin/sh
case $2 in
race)
	for i in $(seq 50); do echo "ok  	almanac/p$i	1.2s"; done
	echo '--- FAIL: TestTheLampIsLit (0.01s)'
	echo '    --- FAIL: TestTheLampIsLit/at_dusk (0.00s)'
	echo '        lamp_test.go:12: it is dark'
	echo 'FAIL'
	echo 'FAIL	almanac/lamp	0.3s'
	for i in $(seq 50); do echo "ok  	almanac/q$i	1.2s"; done
	echo 'FAIL'
	exit 1 ;;
pages)
	echo 'ok  the lamp is shown'
	echo 'Error: the button Light does nothing'
	exit 1 ;;
*)
	echo 'SKIPPED: there is no engine' ;;
esac
`

// TestWhatFailedStandsAtTheEnd holds what `make test` says of targets that fail, and
// that the others are made all the same.
func TestWhatFailedStandsAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	stub := filepath.Join(dir, "make")
	if err := os.WriteFile(stub, []byte(maker), 0o755); err != nil {
		t.Fatal(err)
	}
	logs := filepath.Join(dir, "logs")
	run := func(targets ...string) (last string, code int) {
		cmd := exec.Command("../../.ci/stages", targets...)
		cmd.Env = append(os.Environ(), "MAKE="+stub, "LOGS="+logs)
		out, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return strings.Join(lines[max(0, len(lines)-19):], "\n"), code // and one of make's own
	}
	last, code := run("race", "pages", "container")
	for _, want := range []string{"--- FAIL: TestTheLampIsLit/at_dusk", "lamp_test.go:12: it is dark",
		"the button Light does nothing", "targets: 1 passed, 2 failed"} {
		if !strings.Contains(last, want) {
			t.Errorf("the end does not say %q:\n%s", want, last)
		}
	}
	if code == 0 {
		t.Error("it passes")
	}
	if log, err := os.ReadFile(filepath.Join(logs, "race.log")); err != nil || !strings.Contains(string(log), "almanac/q50") {
		t.Errorf("the log is not whole: %v", err)
	}
	last, code = run("container", "vet")
	if code != 0 || !strings.Contains(last, "targets: 2 passed, 0 failed") || !strings.Contains(last, "ok, 1 skipped") {
		t.Errorf("without a failure it ends with %d:\n%s", code, last)
	}
}
