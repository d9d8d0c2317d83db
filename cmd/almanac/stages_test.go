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
	for _, targets := range [][]string{{"race", "pages", "container"}, {"race+pages+container"}, {"pages", "container+race"}} {
		last, code := run(targets...)
		for _, want := range []string{"--- FAIL: TestTheLampIsLit/at_dusk", "lamp_test.go:12: it is dark",
			"the button Light does nothing", "targets: 1 passed, 2 failed"} {
			if !strings.Contains(last, want) {
				t.Errorf("%s: the end does not say %q:\n%s", targets, want, last)
			}
		}
		if code == 0 {
			t.Errorf("%s: it passes", targets)
		}
		log, err := os.ReadFile(filepath.Join(logs, "race.log"))
		if err != nil || !strings.Contains(string(log), "\nok  	almanac/q50") {
			t.Errorf("%s: the log is not whole: %v", targets, err)
		}
	}
	for _, targets := range [][]string{{"container", "vet"}, {"container+vet"}} {
		last, code := run(targets...)
		if code != 0 || !strings.Contains(last, "targets: 2 passed, 0 failed") || !strings.Contains(last, "ok, 1 skipped") {
			t.Errorf("%s: without a failure it ends with %d:\n%s", targets, code, last)
		}
	}
	// Nothing runs the lanes of a group.
	if err := os.WriteFile(filepath.Join(dir, "xargs"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if last, code := run("container", "vet+format"); code == 0 || !strings.Contains(last, "2 targets were not made") {
		t.Errorf("with targets that are not made it ends with %d:\n%s", code, last)
	}
}
