// Package compose holds the tests of what starts, saves and restores the
// containers, and the stand-ins of their servers (stand_in_test.go).
package compose

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// docker is a command that writes down how it was called, and reports a
// project whose almanac is running or not.
const docker = `#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
*"ps --quiet"*) [ -z "$RUNNING" ] || echo 0123abcd ;;
*"tar -C /volumes/data -cz"*) cat "$VOLUME" ;;
*".restored"*) cat >"$RESTORED" ;;
esac
`

// make runs a target of a copy of the Makefile in an empty directory with that
// docker, and returns what it prints and what docker was called with.
func runMake(t *testing.T, environ []string, args ...string) (output string, calls []string, err error) {
	t.Helper()
	dir := t.TempDir()
	makefile, readErr := os.ReadFile("../Makefile")
	if readErr != nil {
		t.Fatal(readErr)
	}
	write(t, filepath.Join(dir, "Makefile"), makefile, 0o600)
	write(t, filepath.Join(dir, "docker"), []byte(docker), 0o700)
	log := filepath.Join(dir, "calls")
	write(t, log, nil, 0o600)
	cmd := exec.Command("make", append([]string{"--no-print-directory"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(environ, "PATH="+dir+":"+os.Getenv("PATH"), "CALLS="+log)...)
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(out), strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

func write(t *testing.T, name string, data []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, data, mode); err != nil {
		t.Fatal(err)
	}
}

// archive returns a compressed archive of one file.
func archive(t *testing.T, name string) []byte {
	t.Helper()
	body := make([]byte, 4096)
	if _, err := rand.Read(body); err != nil { // so that it does not shrink
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(body))})
	if err == nil {
		_, err = w.Write(body)
	}
	for _, closer := range []interface{ Close() error }{w, z} {
		if err == nil {
			err = closer.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compressed returns text as gzip makes it.
func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRestoreReadsTheFileFirst: whatever is no whole backup stops nothing and
// removes nothing.
func TestRestoreReadsTheFileFirst(t *testing.T) {
	t.Parallel()
	backup := archive(t, "./catalog.db")
	for name, content := range map[string][]byte{
		"nothing": nil, "no archive": compressed(t, "hi\n"), "an empty one": compressed(t, ""),
		"noise": compressed(t, rand.Text()), "another archive": archive(t, "./notes.txt"),
		"a part": backup[:len(backup)-1000], "no compression": []byte("catalog.db"),
	} {
		file := filepath.Join(t.TempDir(), "almanac.tar.gz")
		write(t, file, content, 0o600)
		out, calls, err := runMake(t, nil, "restore", "FILE="+file)
		if err == nil || len(strings.Join(calls, "")) > 0 || !strings.Contains(out, "is not a whole backup") {
			t.Errorf("%s: %v, docker was called with %q: %s", name, err, calls, out)
		}
	}
	for _, args := range [][]string{{"restore"}, {"restore", "FILE="}, {"restore", "FILE=missing.tar.gz"}} {
		out, calls, err := runMake(t, nil, args...)
		if err == nil || len(strings.Join(calls, "")) > 0 || strings.Contains(out, "gzip:") {
			t.Errorf("%q: %v, docker was called with %q: %s", args, err, calls, out)
		}
	}
}

// TestRestore puts back what the file has, and empties the engines by their
// paths: the names of volumes are the project's.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backup, file, restored := archive(t, "./catalog.db"), filepath.Join(dir, "b.tar.gz"), filepath.Join(dir, "restored")
	write(t, file, backup, 0o600)
	out, calls, err := runMake(t, []string{"RESTORED=" + restored, "COMPOSE_PROJECT_NAME=other"},
		"restore", "FILE="+file)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(restored); err != nil || !bytes.Equal(got, backup) {
		t.Errorf("the volume gets %d bytes of %d, %v", len(got), len(backup), err)
	}
	all := strings.Join(calls, "\n")
	order := -1
	for _, want := range []string{" down", " up volumes", "--user 10001:10001", "--user 1000:1000", " up --detach"} {
		at := strings.Index(all, want)
		if at <= order {
			t.Errorf("%q is missing, or not in its place: %s", want, all)
		}
		order = at
	}
	if strings.Contains(all, "volume rm") || strings.Contains(all, "almanac_") {
		t.Errorf("volumes are named: %s", all)
	}
}

// TestBackup saves the volume, and starts almanac again if it was running.
func TestBackup(t *testing.T) {
	t.Parallel()
	for _, running := range []string{"", "yes"} {
		dir := t.TempDir()
		volume, file := filepath.Join(dir, "volume"), filepath.Join(dir, "b.tar.gz")
		write(t, volume, archive(t, "./catalog.db"), 0o600)
		out, calls, err := runMake(t, []string{"VOLUME=" + volume, "RUNNING=" + running}, "backup", "FILE="+file)
		info, statErr := os.Stat(file)
		if err != nil || statErr != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v: %s", err, statErr, out)
		}
		if started := strings.Contains(strings.Join(calls, "\n"), " start almanac"); started != (running != "") {
			t.Errorf("running %q: it is started: %v", running, started)
		}
	}
	out, calls, err := runMake(t, []string{"VOLUME=/nonexistent", "RUNNING=yes"}, "backup", "FILE=b.tar.gz")
	if err == nil || !strings.Contains(strings.Join(calls, "\n"), " start almanac") {
		t.Errorf("a copy that fails: %v, %q: %s", err, calls, out)
	}
}

// TestRefillAndReset: one keeps the catalog and starts the stack again, the other
// removes it and leaves the stack down.
func TestRefillAndReset(t *testing.T) {
	t.Parallel()
	for target, removes := range map[string]bool{"refill": false, "reset": true} {
		out, calls, err := runMake(t, nil, target)
		if err != nil {
			t.Fatalf("%s: %v: %s", target, err, out)
		}
		all := strings.Join(calls, "\n")
		if !strings.Contains(all, "find /volumes/meilisearch /volumes/qdrant -mindepth 1 -delete") {
			t.Errorf("%s leaves the engines as they are: %s", target, all)
		}
		if strings.Contains(all, "find /volumes/data") != removes || strings.Contains(all, " up --detach") == removes {
			t.Errorf("%s: %s", target, all)
		}
	}
}

// TestNothingPrivateIsBuilt: what operators keep beside the code is neither sent
// to the build of the image nor shown as new files.
func TestNothingPrivateIsBuilt(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"../.dockerignore": {"compose/.env", "compose/secrets", "compose/network", "compose/corpus",
			"compose/compose.override.yaml", "almanac-*.tar.gz*"},
		"../.gitignore": {"/almanac-*.tar.gz*"},
		".gitignore":    {"/.env", "/secrets/", "/network/", "/corpus/", "/compose.override.yaml"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains("\n"+string(text), "\n"+line+"\n") {
				t.Errorf("%s does not have %s", file, line)
			}
		}
	}
}
