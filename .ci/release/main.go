// Command release builds what is published of a version into a directory: archives for each system, Debian and RPM
// packages, an image, a bill of materials, a Homebrew formula, the description for MCP registries, and checksums.
// Two builds of one commit are equal byte for byte.
//
//	go -C .ci/release run . -home github.com/OWNER/almanac [-out DIR] [-only linux/amd64,darwin/arm64]
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// targets are the systems that a release is built for.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"}}

type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// binary is what the program is called there.
func (t target) binary() string {
	if t.os == "windows" {
		return "almanac.exe"
	}
	return "almanac"
}

// release is one version that is being built.
type release struct {
	root string // of the repository
	out  string // where the files go
	work string // for what they are made of
	home string // where the project lives, as github.com/OWNER/almanac
	version
	targets []target
}

// version is what the program says of itself.
type version struct {
	Version string    `json:"version"`
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	r := release{}
	flag.StringVar(&r.home, "home", "example.org/almanac", "where the project lives, as github.com/OWNER/almanac")
	flag.StringVar(&r.out, "out", "dist", "directory of the result, below the repository's root; it is emptied")
	only := flag.String("only", "", "systems to build for, as linux/amd64,darwin/arm64; empty: all")
	dirty := flag.Bool("dirty", false, "build although files differ from the commit")
	flag.Parse()
	for _, t := range targets {
		if *only == "" || slices.Contains(strings.Split(*only, ","), t.String()) {
			r.targets = append(r.targets, t)
		}
	}
	if len(r.targets) == 0 {
		return fmt.Errorf("no system is called %q: there are %v", *only, targets)
	}
	root, err := output(ctx, ".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("a release is built in a clone of the repository: git rev-parse: %w", err)
	}
	r.root, r.out = root, filepath.Join(root, r.out)
	if changed, err := output(ctx, root, "git", "status", "--porcelain"); err != nil || changed != "" && !*dirty {
		return errors.Join(err, errors.New("files differ from the commit: commit them, or build with -dirty"))
	}
	if r.work, err = os.MkdirTemp("", "almanac-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	return r.make(ctx)
}

// make writes all files of the release.
func (r *release) make(ctx context.Context) error {
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	if err := r.describe(ctx); err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.build(ctx, t, r.path(t, t.binary())); err != nil {
			return err
		}
		if err := r.archive(t); err != nil {
			return fmt.Errorf("%s: archive: %w", t, err)
		}
		if t.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(t, format); err != nil {
				return fmt.Errorf("%s: %s: %w", t, format, err)
			}
		}
	}
	for what, write := range map[string]func() error{"bill of materials": r.bill, "image": r.image,
		"formula": r.formula, "registry": r.registry} {
		if err := write(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return r.checksums()
}

// describe builds the program for this machine and lets it say its version and write its manual and completions.
func (r *release) describe(ctx context.Context) error {
	here := target{runtime.GOOS, runtime.GOARCH}
	program := filepath.Join(r.work, "here", here.binary())
	if err := r.build(ctx, here, program); err != nil {
		return err
	}
	said, err := output(ctx, r.root, program, "version", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(said), &r.version)
	}
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	if r.Commit == "" {
		return errors.New("go build finds no commit here: build in a clone, not in a work tree beside one")
	}
	tags, err := output(ctx, r.root, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return fmt.Errorf("tags: %w", err)
	}
	if tag := "v" + r.Version; !slices.Contains(strings.Fields(tags), tag) {
		fmt.Printf("no tag %s is on this commit, %.12s: tag it before the files are published\n", tag, r.Commit)
	}
	for name, args := range map[string][]string{"almanac.1": {"man"}, "completions/almanac.bash": {"completion", "bash"},
		"completions/_almanac": {"completion", "zsh"}, "completions/almanac.fish": {"completion", "fish"}} {
		text, err := output(ctx, r.root, program, args...)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(filepath.Join(r.work, name), []byte(text+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// build compiles the program. The zones of time are in it, as some systems have none.
func (r *release) build(ctx context.Context, t target, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-tags", "timetzdata", "-ldflags", "-s -w", "-o", to,
		"./cmd/almanac")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", t, err, said)
	}
	fmt.Println("built for", t)
	return nil
}

// path is where a file for a target is made.
func (r *release) path(t target, name string) string {
	return filepath.Join(r.work, t.os+"_"+t.arch, name)
}

// checksums writes the SHA-256 of each file as sha256sum does.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		sum, err := sumOf(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum, e.Name())
	}
	fmt.Print(sums.String())
	return write(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()))
}

func sumOf(file string) ([sha256.Size]byte, error) {
	data, err := os.ReadFile(file)
	return sha256.Sum256(data), err
}

// write writes a file and the directories above it.
func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// output runs a command in a directory and returns what it prints, without white space around it.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
