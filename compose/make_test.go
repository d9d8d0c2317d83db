// Package compose holds the tests of what starts, saves and restores the
// containers, and the stand-ins of their servers (stand_in_test.go).
package compose

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// docker is a command that writes down how it was called, and reports a
// project whose almanac is running or not. What runs in a shell with the volumes, or
// in almanac's container, does so in the directory VOLUMES if that is set.
const docker = `#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in
*"ps --all --quiet $OTHER") [ -z "$OTHER" ] || echo 0123abcd ;;
*"config --services") echo "$SERVICES" ;;
*"ps --quiet"*) [ -z "$RUNNING" ] || echo 0123abcd ;;
*"tar -C /volumes/data -cz"*) cat "$VOLUME" ;;
*" almanac doctor "*)
  [ -n "$VOLUMES" ] || exit 0
  while [ "$1" != almanac ]; do shift; done
  shift
  exec "$ALMANAC" $(echo "$*" | sed "s#/data/#$VOLUMES/data/#") --network sample ;;
*" -euc "*)
  [ -n "$VOLUMES" ] || exit 0
  for script; do :; done
  exec sh -euc "$(echo "$script" | sed "s#/volumes#$VOLUMES#g")" ;;
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

// noise is a text that does not shrink.
func noise(t *testing.T) []byte {
	t.Helper()
	body := make([]byte, 4096)
	if _, err := rand.Read(body); err != nil {
		t.Fatal(err)
	}
	return body
}

// archive returns a compressed archive of one file.
func archive(t *testing.T, name string, body []byte) []byte {
	t.Helper()
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
	backup := archive(t, "./catalog.db", noise(t))
	for name, content := range map[string][]byte{
		"nothing": nil, "no archive": compressed(t, "hi\n"), "an empty one": compressed(t, ""),
		"noise": compressed(t, rand.Text()), "another archive": archive(t, "./notes.txt", noise(t)),
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

// stack is a stack of containers whose volumes are directories.
type stack struct{ volumes, almanac string }

// newStack has data in its volumes, and the program.
func newStack(t *testing.T) stack {
	t.Helper()
	s := stack{t.TempDir(), filepath.Join(t.TempDir(), "almanac")}
	for _, dir := range []string{"data", "meilisearch", "qdrant"} {
		if err := os.Mkdir(filepath.Join(s.volumes, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(s.volumes, dir, "catalog.db"), []byte("the good one"), 0o600)
	}
	build := exec.Command("go", "build", "-o", s.almanac, "../cmd/almanac")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // also under the race detector: as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// restore runs the target.
func (s stack) restore(t *testing.T, backup []byte) (output, calls string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	write(t, file, backup, 0o600)
	output, list, err := runMake(t, []string{"VOLUMES=" + s.volumes, "ALMANAC=" + s.almanac,
		"COMPOSE_PROJECT_NAME=other"}, "restore", "FILE="+file)
	return output, strings.Join(list, "\n"), err
}

// files are those of a volume.
func (s stack) files(t *testing.T, volume string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.volumes, volume))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestRestore puts back what the file has, when almanac can open it and not before,
// and empties the engines by their paths: the names of volumes are the project's.
func TestRestore(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	holds := func() string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(s.volumes, "data", "catalog.db"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, content := range map[string][]byte{"nothing": nil, "noise": noise(t), "a page of zeros": make([]byte, 4096)} {
		out, calls, err := s.restore(t, archive(t, "./catalog.db", content))
		if err == nil || !strings.Contains(out, "nothing was changed") || strings.Contains(calls, " down") {
			t.Errorf("a catalog of %s: %v: %s\n%s", name, err, out, calls)
		}
		if files := s.files(t, "data"); holds() != "the good one" || len(files) != 1 || len(s.files(t, "qdrant")) != 1 {
			t.Fatalf("a catalog of %s: the volume has %q", name, files)
		}
	}

	dir := t.TempDir() // a catalog as the program makes it
	out, err := exec.Command(s.almanac, "doctor", "--network", "sample", "--data", dir).CombinedOutput()
	catalog, readErr := os.ReadFile(filepath.Join(dir, "catalog.db"))
	if readErr != nil {
		t.Fatalf("%v, %v: %s", err, readErr, out)
	}
	text, all, err := s.restore(t, archive(t, "./catalog.db", catalog))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got := holds(); got == "the good one" || !strings.HasPrefix(got, "SQLite format 3") {
		t.Errorf("the volume holds %.20q", got)
	}
	for volume, want := range map[string][]string{"data": {"catalog.db", "catalog.db.lock"}, "meilisearch": nil, "qdrant": nil} {
		if files := s.files(t, volume); !slices.Equal(files, want) {
			t.Errorf("%s has %q, want %q", volume, files, want)
		}
	}
	order := -1
	for _, want := range []string{" up volumes", "--user 10001:10001", " almanac doctor --catalog", " down",
		"--user 1000:1000", " up --detach"} {
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
		write(t, volume, archive(t, "./catalog.db", noise(t)), 0o600)
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

// TestStacksChangePlaces: what the other stack left is stopped before one starts, since both
// publish the same ports.
func TestStacksChangePlaces(t *testing.T) {
	t.Parallel()
	for target, other := range map[string]string{"up": "caddy", "scale": "almanac"} {
		for _, there := range []string{"", other} {
			out, calls, err := runMake(t, []string{"OTHER=" + there}, target)
			if err != nil {
				t.Fatalf("%s: %v: %s", target, err, out)
			}
			all := strings.Join(calls, "\n")
			down, up := strings.Index(all, "--profile * down"), strings.Index(all, " up --detach")
			if (down >= 0) != (there != "") || down > up {
				t.Errorf("%s beside %q: %s", target, there, all)
			}
		}
	}
}

// TestScaleReplacesOneServerAfterTheOther: what runs is left alone until each server, in
// turn, is replaced and healthy; what watches is started where it is wanted.
func TestScaleReplacesOneServerAfterTheOther(t *testing.T) {
	t.Parallel()
	out, calls, err := runMake(t, []string{"SERVICES=almanac\nprometheus"}, "scale")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	calls = slices.DeleteFunc(calls, func(c string) bool { return !strings.Contains(c, " up ") })
	want := []string{"up --detach --build --no-recreate caddy", "up --detach --no-deps --wait reader1",
		"up --detach --no-deps --wait reader2", "up --detach --no-deps --wait writer", "up --detach caddy prometheus"}
	if !slices.EqualFunc(calls, want, strings.HasSuffix) {
		t.Errorf("docker is called with %q, want %q", calls, want)
	}
}

// TestAReplacedPasswordIsInItsAddress: an address is made again when the password in it was.
func TestAReplacedPasswordIsInItsAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makefile, err := filepath.Abs("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	secrets := func() (all map[string]string) {
		t.Helper()
		cmd := exec.Command("make", "--no-print-directory", "-f", makefile, "secrets")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all = map[string]string{}
		for _, name := range []string{"redis_password", "redis_url", "postgres_password", "catalog_url", "qdrant_key"} {
			text, err := os.ReadFile(filepath.Join(dir, "compose", "secrets", name))
			if err != nil {
				t.Fatal(err)
			}
			all[name] = strings.TrimSpace(string(text))
		}
		return all
	}
	first := secrets()
	if again := secrets(); !maps.Equal(first, again) {
		t.Errorf("keys change by themselves: %q, before %q", again, first)
	}
	for password, address := range map[string]string{"redis_password": "redis_url", "postgres_password": "catalog_url"} {
		if err := os.Remove(filepath.Join(dir, "compose", "secrets", password)); err != nil {
			t.Fatal(err)
		}
		now := secrets()
		if now[password] == first[password] || !strings.Contains(now[address], ":"+now[password]+"@") {
			t.Errorf("%s is %q, and %s %q", password, now[password], address, now[address])
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
