package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"almanac/testing/soak"
)

// previous is the commit that was the release before this one, 0.1.0.
const previous = "f2d254b2"

func TestTheVersionSaysWhichBuildItIs(t *testing.T) {
	env := environ(t.TempDir())
	line, structured := must(t, env, "version"), must(t, env, "version", "--json")
	var b build
	if err := json.Unmarshal([]byte(structured), &b); err != nil {
		t.Fatal(err)
	}
	if b.Version != release || b.Go != runtime.Version() || b.System != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("version --json: %+v", b)
	}
	if line != b.String()+"\n" || line != must(t, env, "--version") {
		t.Errorf("version: %q, want %q", line, b)
	}
	if b.Commit == "" || b.Date == "" {
		t.Skip("this build has no commit: version control is not there, or go build does not ask it")
	}
	if want := b.Version + "+" + b.Commit[:12]; !strings.HasPrefix(line, "almanac "+want) ||
		!strings.Contains(line, "("+b.Date[:10]+")") {
		t.Errorf("version: %q, want %s and the day", line, want)
	}
}

// TestDocumentsNameThisVersion: images in docs/deploy.md have the tag of this one, and the newest section of the change
// log with a version is of it.
func TestDocumentsNameThisVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`\b(?:almanac|NAME):(\d+\.\d+\.\d+)`).FindAllSubmatch(text, -1)
	if len(tags) < 2 {
		t.Errorf("%d tags of images", len(tags))
	}
	for _, tag := range tags {
		if string(tag[1]) != release {
			t.Errorf("docs/deploy.md has the image %s of another version than %s", tag[0], release)
		}
	}
	changes, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d\S*) - \d{4}-\d\d-\d\d$`).FindSubmatch(changes)
	if len(newest) == 0 || string(newest[1]) != release {
		t.Errorf("the newest version of CHANGELOG.md is %q, and the program is %s", newest, release)
	}
}

// TestAnUpgradeKeepsWhatThereIs starts the release before on a directory, then this one, then that one again.
func TestAnUpgradeKeepsWhatThereIs(t *testing.T) {
	soak.Only(t, "it builds the release before")
	before := filepath.Join(t.TempDir(), "almanac")
	command(t, checkout(t, previous), nil, "go", "build", "-o", before, "./cmd/almanac")
	env := environ(t.TempDir(), "ALMANAC_EMBED_MODEL=") // of each program its default: that one knows no names
	server := startProgram(t, env, before)
	server.ready(t)
	const question = "who votes on a proposal"
	answered := server.search(t, question)
	_, errOut, code := almanac(t, env, "search", question)
	if code == 0 || !strings.Contains(errOut, "an older almanac serves this directory") {
		t.Errorf("beside the server of the release before: exit code %d, %s", code, errOut)
	}
	if out := must(t, env, "doctor"); !strings.Contains(out, "an older almanac serves this directory and goes on") {
		t.Errorf("doctor beside the server of the release before: %s", out)
	}
	if again := server.search(t, question); again.Total != answered.Total {
		t.Errorf("that server finds %d results instead of %d behind it", again.Total, answered.Total)
	}
	server.stop(t)

	if out := must(t, env, "doctor"); !strings.Contains(out, "to which a copy was updated") ||
		!strings.Contains(out, "builds the index again") {
		t.Errorf("doctor before the upgrade: %s", out)
	}
	must(t, env, "sync")
	if out := must(t, env, "search", question); !strings.Contains(out, "0001") {
		t.Errorf("after the upgrade: %s", out)
	}
	must(t, env, "doctor")
	_, errOut, code = execute(t, nil, env, before, "search", question)
	if code == 0 || !oneSentence(errOut) || !strings.Contains(errOut, "newer") {
		t.Errorf("the release before on the directory of this one: exit code %d, %s", code, errOut)
	}
}

// TestGoInstallsIt gives the module a path that the go command can look up and installs it from there.
func TestGoInstallsIt(t *testing.T) {
	soak.Only(t, "it compiles all packages under other names")
	version := module.Version{Path: "home.example/network/almanac", Version: "v" + release}
	src, proxy := checkout(t, "HEAD"), t.TempDir()
	command(t, src, nil, filepath.Join(src, ".ci", "rehome"), version.Path)
	dir := filepath.Join(proxy, version.Path, "@v", version.Version)
	writeFile(t, filepath.Join(filepath.Dir(dir), "list"), version.Version+"\n")
	writeFile(t, dir+".info", `{"Version": "`+version.Version+`"}`)
	goMod, err := os.ReadFile(filepath.Join(src, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir+".mod", string(goMod))
	packed, err := os.Create(dir + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromDir(packed, version, src); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	modules := command(t, src, nil, "go", "env", "GOMODCACHE")
	command(t, t.TempDir(), []string{"GOBIN=" + bin, "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw -trimpath",
		"GONOSUMDB=*", "GOPROXY=file://" + proxy + ",file://" + modules + "/cache/download"},
		"go", "install", version.Path+"/cmd/almanac@"+version.Version)
	out, _, _ := execute(t, nil, environ(t.TempDir()), filepath.Join(bin, "almanac"), "version")
	if out != "almanac "+release+"\n" {
		t.Errorf("version of what was installed: %q", out)
	}
}

// TestTwoBuildsAreEqual builds a release in two places.
func TestTwoBuildsAreEqual(t *testing.T) {
	soak.Only(t, "it builds a release twice")
	var builds [2]map[string][]byte
	for i := range builds {
		src := filepath.Join(t.TempDir(), "a place of its own")
		command(t, ".", nil, "git", "clone", "--quiet", "--no-local", filepath.Join("..", ".."), src)
		said := command(t, filepath.Join(src, ".ci", "release"), nil, "go", "run", ".", "-only", "linux/amd64,windows/arm64")
		tagged := slices.Contains(strings.Fields(command(t, src, nil, "git", "tag", "--points-at", "HEAD")), "v"+release)
		if strings.Contains(said, "no tag v"+release+" is on this commit") == tagged {
			t.Errorf("the commit has the tag: %v, and the release says %s", tagged, said)
		}
		builds[i] = map[string][]byte{}
		files, err := filepath.Glob(filepath.Join(src, "dist", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if builds[i][filepath.Base(f)], err = os.ReadFile(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	installs, err := os.ReadFile(filepath.Join("..", "..", "docs", "deploy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range regexp.MustCompile(`almanac[_-]\*\S*(?:amd64|x86_64)\.(?:deb|rpm|tar\.gz)`).FindAllString(
		string(installs), -1) {
		if strings.Contains(pattern, "darwin") { // which is not built here
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(builds[0])), func(name string) bool {
			ok, _ := filepath.Match(pattern, name)
			return ok
		}) {
			t.Errorf("docs/deploy.md installs %s, and the files are %v", pattern, slices.Sorted(maps.Keys(builds[0])))
		}
	}
	if len(builds[0]) < 9 || len(builds[0]) != len(builds[1]) {
		t.Errorf("files of the builds: %d and %d", len(builds[0]), len(builds[1]))
	}
	for name, data := range builds[0] {
		if !bytes.Equal(data, builds[1][name]) {
			t.Errorf("%s: %d and %d bytes, and they differ", name, len(data), len(builds[1][name]))
		}
	}
}

// TestTheServiceIsAsSystemdWantsIt lets systemd read the unit.
func TestTheServiceIsAsSystemdWantsIt(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	unit, err := os.ReadFile(filepath.Join("..", "..", "packaging", "almanac.service"))
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "almanac.service")
	writeFile(t, at, strings.ReplaceAll(string(unit), "/usr/bin/almanac", program(t)))
	if said := command(t, ".", nil, analyze, "verify", "--man=no", at); said != "" {
		t.Errorf("systemd-analyze: %s", said)
	}
}

// checkout writes the files of a commit into a new directory, or skips the test if it is not there.
func checkout(t *testing.T, commit string) string {
	t.Helper()
	if err := exec.Command("git", "cat-file", "-e", commit).Run(); err != nil {
		t.Skipf("commit %s is not in this copy of the repository", commit)
	}
	dir := t.TempDir()
	packed := filepath.Join(t.TempDir(), "commit.tar")
	command(t, filepath.Join("..", ".."), nil, "git", "archive", "--output", packed, commit)
	command(t, dir, nil, "tar", "-xf", packed)
	return dir
}

// command runs a command in a directory, with settings besides the environment, and returns what it printed.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
