package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"almanac/ingest/networks"
)

// layers says what each layer may import besides itself and what is open to all: cmd → api → retrieval → {catalog, embed},
// ingest → catalog.
var layers = map[string]string{
	"cmd": "api retrieval catalog embed ingest", "api": "retrieval catalog skills", "retrieval": "catalog embed",
	"ingest": "catalog", "catalog": "", "embed": "", "text": "", "skills": "", "docs": "ingest catalog",
	"testing": "api cmd retrieval catalog embed ingest",
}

// open may be imported by all, and imports nothing else.
var open = regexp.MustCompile(`^almanac/(text/.*|catalog/network|ingest/folder|ingest/outbound)$`)

// byTheClock are packages whose answers and records depend on a time that they are given.
var byTheClock = regexp.MustCompile(`^(api/(cips|community|devfund|ecosystem|kb|library|onboarding|operations|releases|` +
	`search|versions)|catalog/derive|ingest/(calendar|curated|docs|feed|fleet|forge|forum|ledger|mail|market|packages|` +
	`proposals?|sample|site|video|whitepaper))/`)

var sleeps = regexp.MustCompile(`\btime\.Sleep\(`)

// maySleep says of a test file that it sleeps in a bubble, kills a process at any moment, or measures.
var maySleep = regexp.MustCompile(`synctest\.|\.Kill\(\)|\*testing\.B\b`)

// root is the repository.
const root = "../.."

// linesOf runs a command in the repository and returns the lines that it prints.
func linesOf(t *testing.T, name string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// fileOf reads a file of the repository.
func fileOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestImportsGoOneWay(t *testing.T) {
	overview := fileOf(t, "ARCHITECTURE.md")
	for _, line := range linesOf(t, "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "almanac/...") {
		imports := strings.Fields(line)
		path := strings.TrimPrefix(imports[0], "almanac/")
		from, _, _ := strings.Cut(path, "/")
		may, known := layers[from]
		if len(imports) > 1 && from != "testing" && from != "docs" && !strings.Contains(overview, "`"+path+"`") &&
			!strings.Contains(overview, "`"+filepath.Base(path)+"`") {
			t.Errorf("the map in ARCHITECTURE.md does not name %s", path)
		}
		for _, to := range imports[1:] {
			below, ours := strings.CutPrefix(to, "almanac/")
			layer, _, _ := strings.Cut(below, "/")
			if ours && !open.MatchString(to) && (!known || open.MatchString(imports[0]) ||
				layer != from && !slices.Contains(strings.Fields(may), layer)) {
				t.Errorf("%s imports %s: %s may only import %q", path, to, from, may)
			}
		}
	}
}

// TestLicensesAreTold: whoever passes the program on passes the licenses of its modules on.
func TestLicensesAreTold(t *testing.T) {
	told := fileOf(t, "THIRD_PARTY_LICENSES")
	for _, module := range linesOf(t, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/almanac") {
		if module != "almanac" && module != "" && !strings.Contains(told, "\n"+module+"\n") {
			t.Errorf("add the license of %s to THIRD_PARTY_LICENSES", module)
		}
	}
}

func TestCodeHasNoClockAndNoNetworkOfItsOwn(t *testing.T) {
	network := regexp.MustCompile(`(?i)\b(` + strings.Join(slices.DeleteFunc(networks.Names(), func(name string) bool {
		return name == "sample" || name == "corpus"
	}), "|") + `)`)
	for _, name := range linesOf(t, "git", "ls-files", "*.go") {
		text := fileOf(t, name)
		switch test := strings.HasSuffix(name, "_test.go"); {
		case test && sleeps.MatchString(text) && !maySleep.MatchString(text):
			t.Errorf("%s sleeps: wait for a state (testing/wait), or use testing/synctest", name)
		case !test && byTheClock.MatchString(name) && strings.Contains(text, "time.Now"):
			t.Errorf("%s calls time.Now: it is given the time", name)
		case !test && network.MatchString(text):
			t.Errorf("%s names %s: facts of a network are in its YAML", name, network.FindString(text))
		}
	}
}

var (
	linked  = regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	code    = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`]+`")
	titled  = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	unnamed = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksLead follows the relative links of the documentation, with their headings.
func TestLinksLead(t *testing.T) {
	for _, page := range linesOf(t, "git", "ls-files", "*.md", ":!ingest", ":!*testdata*") {
		for _, link := range linked.FindAllStringSubmatch(code.ReplaceAllString(fileOf(t, page), ""), -1) {
			path, heading, _ := strings.Cut(link[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil || heading != "" &&
				!slices.Contains(anchors(fileOf(t, target)), heading) {
				t.Errorf("%s: the link %s leads nowhere", page, link[1])
			}
		}
	}
}

// anchors returns the headings of a page as forges name them.
func anchors(text string) (all []string) {
	for _, heading := range titled.FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(unnamed.ReplaceAllString(heading[1], ""))
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

// TestWhatFailedStandsAtTheEnd: .ci/stages names targets that failed and why, and fails with them.
func TestWhatFailedStandsAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	maker := filepath.Join(dir, "make")
	writeFile(t, maker, "#!/bin/sh\necho \"ok it is lit\"\n[ $2 = vet ] || { echo 'not ok dark'; exit 1; }\n")
	if err := os.Chmod(maker, 0o755); err != nil {
		t.Fatal(err)
	}
	for targets, want := range map[string]string{"vet": "1 passed, 0 failed", "vet race": "1 passed, 1 failed",
		"race pages+vet": "not ok dark"} {
		cmd := exec.Command(filepath.Join(root, ".ci", "stages"), strings.Fields(targets)...)
		cmd.Env = append(os.Environ(), "MAKE="+maker, "LOGS="+filepath.Join(dir, "logs"))
		out, err := cmd.CombinedOutput()
		if _, end, _ := strings.Cut(string(out), "== how long"); (err == nil) != (targets == "vet") || !strings.Contains(end, want) {
			t.Errorf("%s: %v, and the end lacks %q:\n%s", targets, err, want, out)
		}
	}
}
