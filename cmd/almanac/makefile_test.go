package main

import (
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoTestIsLeftOut holds that a target of the Makefile runs what the race
// detector makes too slow: its lines name tests, which may be renamed.
func TestNoTestIsLeftOut(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]*regexp.Regexp{} // by package
	for _, line := range regexp.MustCompile(`(?m)^\t\$\(GO\) test (?:-[a-z]+ [0-9a-z]+ )*(?:-run '([^']+)' )?(\./[^$\n]*)$`).
		FindAllStringSubmatch(string(makefile), -1) {
		for _, path := range strings.Fields(line[2]) {
			run["almanac"+strings.TrimPrefix(path, ".")] = regexp.MustCompile(line[1])
		}
	}
	var found int
	for _, p := range ourPackages(t) {
		for _, name := range p.slowUnderRace(t) {
			found++
			if pattern := run[p.path]; pattern == nil || !pattern.MatchString(name) {
				t.Errorf("no line of the Makefile runs %s of %s without the race detector", name, p.path)
			}
		}
	}
	if found == 0 {
		t.Error("no test asks for the race detector")
	}
}

// TestWhatRaceLeavesOutStartsNoGoroutine reads the packages that are tested without the
// race detector, and those that they use.
func TestWhatRaceLeavesOutStartsNoGoroutine(t *testing.T) {
	all := map[string]pkg{}
	for _, p := range ourPackages(t) {
		all[p.path] = p
	}
	out, err := exec.Command("../../.ci/goroutines", "none").Output()
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Fields(string(out))
	if len(left) < 20 || slices.Contains(left, "almanac/ingest") {
		t.Errorf("it leaves out %v", left)
	}
	starting := map[string]bool{} // by file
	for _, path := range left {
		p := all[path]
		if names := p.slowUnderRace(t); len(names) > 0 {
			t.Errorf("%s is tested without the race detector: %v need not ask for it", path, names)
		}
		used := map[string]bool{}
		p.use(all, used)
		for _, to := range ours(p.tests) {
			all[to].use(all, used)
		}
		for path := range used {
			names, err := filepath.Glob(filepath.Join(all[path].dir, "*.go"))
			if err != nil || len(names) == 0 {
				t.Fatal(path, names, err)
			}
			for _, name := range names {
				if strings.HasSuffix(name, "_test.go") && path != p.path {
					continue
				}
				if _, known := starting[name]; !known {
					starting[name] = startsGoroutine(t, name)
				}
				if starting[name] {
					t.Errorf("%s starts a goroutine, for %s", name, p.path)
				}
			}
		}
	}
}

// use adds the package and those of ours that it imports to used.
func (p pkg) use(all map[string]pkg, used map[string]bool) {
	if !used[p.path] {
		used[p.path] = true
		for _, to := range ours(p.imports) {
			all[to].use(all, used)
		}
	}
}

// startsGoroutine reports whether a file has a go statement or calls what starts one.
func startsGoroutine(t *testing.T, name string) (starts bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.SelectorExpr:
			starts = starts || slices.Contains([]string{"Go", "Parallel", "AfterFunc", "NewServer"}, n.Sel.Name)
		}
		return !starts
	})
	return starts
}

// TestFilesOfOneSystemStandApart holds that the packages with files of one operating
// system or processor are those that the Makefile compiles for another one, and that they
// import none of ours.
func TestFilesOfOneSystemStandApart(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	ported := regexp.MustCompile(`(?m)^PORTED := (.+)$`).FindStringSubmatch(string(makefile))
	if ported == nil {
		t.Fatal("the Makefile has no PORTED")
	}
	var apart []string
	for _, p := range ourPackages(t) {
		if !forTests(p.path) && p.ofOneSystem(t) {
			apart = append(apart, "."+strings.TrimPrefix(p.path, "almanac"))
			if len(ours(p.imports)) > 0 {
				t.Errorf("%s has files of one system and imports %v", p.path, ours(p.imports))
			}
		}
	}
	if diff := cmp.Diff(strings.Fields(ported[1]), apart); diff != "" {
		t.Errorf("PORTED (-Makefile +packages):\n%s", diff)
	}
}

// ofOneSystem reports whether the package has a file that some systems or processors do
// without, tests aside.
func (p pkg) ofOneSystem(t *testing.T) bool {
	t.Helper()
	files, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		matches := 0
		for _, c := range [][2]string{{"linux", "amd64"}, {"windows", "arm64"}, {"darwin", "riscv64"}} {
			system := gobuild.Default
			system.GOOS, system.GOARCH = c[0], c[1]
			if match, err := system.MatchFile(p.dir, f.Name()); err != nil {
				t.Fatal(err)
			} else if match {
				matches++
			}
		}
		if matches%3 != 0 && !strings.HasSuffix(f.Name(), "_test.go") {
			return true
		}
	}
	return false
}

// testFiles are the package's tests, of all build constraints.
func (p pkg) testFiles(t *testing.T, set *token.FileSet) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// slowUnderRace names the package's tests that are skipped or shorter under
// the race detector.
func (p pkg) slowUnderRace(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range p.testFiles(t, token.NewFileSet()) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if id, ok := s.X.(*ast.Ident); ok && id.Name == "race" {
					names = append(names, f.Name.Name)
				}
				return true
			})
		}
	}
	return slices.Compact(names)
}
