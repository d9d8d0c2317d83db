package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const licenses = "THIRD_PARTY_LICENSES"

// TestTheLicensesOfAllLinkedModulesAreTold: whoever passes the program on passes these texts on. With -update it
// writes them.
func TestTheLicensesOfAllLinkedModulesAreTold(t *testing.T) {
	file := filepath.Join("..", "..", licenses)
	told, err := tellLicenses()
	if err != nil {
		t.Fatal(err)
	}
	if *updateTour {
		if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != told {
		t.Errorf("%v; it is not what the linked modules say: go test ./cmd/almanac -run Licenses -update writes it", err)
	}
}

// licenseFile is what files are called that a license says must be passed on.
var licenseFile = regexp.MustCompile(`(?i)^(?:licen[sc]e|copying|notice|patents)`)

// holder is a line that differs among copies of a license, of which the file has one.
var holder = regexp.MustCompile(`(?im)^[\s#*/]*(?:portions )?(?:copyright|©|\(c\))[^\[{\n]*$`)

// heading is what some copies begin with, and notWords is set otherwise in each.
var (
	heading  = regexp.MustCompile(`(?m)^[\s#]*(?:the )?(?:mit|bsd[ -]3-clause) license(?: \(mit\))?\s*$|all rights reserved\.?`)
	notWords = regexp.MustCompile(`[^a-z0-9]+`)
)

// tellLicenses returns each license of a module that is linked on Linux, once, behind the modules that have it.
func tellLicenses() (string, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	dirs, err := licenseFiles(out)
	if err != nil {
		return "", err
	}
	texts, whose := map[string]string{}, map[string][]string{} // by the words of the text
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		if len(dirs[name]) == 0 {
			return "", fmt.Errorf("%s has no license", name)
		}
		for _, file := range dirs[name] {
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			text := strings.ReplaceAll(string(data), "\r\n", "\n")
			of := name
			for _, line := range holder.FindAllString(text, -1) {
				of += "\n    " + strings.Join(strings.Fields(line), " ")
			}
			text = strings.Trim(holder.ReplaceAllString(text, ""), "\n")
			words, _, _ := strings.Cut(text, "END OF TERMS AND CONDITIONS")
			words = notWords.ReplaceAllString(heading.ReplaceAllString(strings.ToLower(words), ""), " ")
			if texts[words] == "" {
				texts[words] = text
			}
			if !slices.Contains(whose[words], of) {
				whose[words] = append(whose[words], of)
			}
		}
	}
	var b strings.Builder
	b.WriteString("The program contains these modules, under the licenses behind them.\n")
	all := slices.Sorted(maps.Keys(texts))
	slices.SortStableFunc(all, func(x, y string) int { return len(whose[y]) - len(whose[x]) })
	for _, words := range all {
		rule := strings.Repeat("-", 79)
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", rule, strings.Join(whose[words], "\n"), texts[words])
	}
	return b.String(), nil
}

// licenseFiles returns the license files of each module, of its root and of the directories of linked packages.
func licenseFiles(list []byte) (map[string][]string, error) {
	type pack struct {
		Dir      string
		Standard bool
		Module   *struct {
			Path, Dir string
			Main      bool
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dirs, seen := map[string][]string{}, map[string]bool{}
	read := func(name, dir string) error {
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if licenseFile.MatchString(e.Name()) && e.Type().IsRegular() && filepath.Ext(e.Name()) != ".go" {
				dirs[name] = append(dirs[name], filepath.Join(dir, e.Name()))
			}
		}
		return err
	}
	if err := read("the Go standard library", strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(list))); ; {
		var p pack
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return dirs, nil
		case err != nil:
			return nil, err
		case p.Standard || p.Module.Main:
			continue
		}
		if _, ok := dirs[p.Module.Path]; !ok {
			dirs[p.Module.Path] = nil
		}
		for dir := p.Dir; len(dir) >= len(p.Module.Dir); dir = filepath.Dir(dir) {
			if err := read(p.Module.Path, dir); err != nil {
				return nil, err
			}
		}
	}
}
