package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	packageName = regexp.MustCompile(`^(?:Package|Command) \w+ `)
	pause       = regexp.MustCompile(`[:;] | \(`)
)

// mapOf lists the packages by directory, a line each with the beginning of its
// comment; those below another package, and test kits, are named in one line.
func mapOf(t *testing.T) string {
	var lines, below, kits []string
	end := func() {
		if below != nil {
			lines[len(lines)-1] += " Below it: " + strings.Join(below, ", ") + "."
			below = nil
		}
	}
	parent := "-"
	for _, p := range ourPackages(t) {
		path := strings.TrimPrefix(p.path, "almanac/")
		first, rest, _ := strings.Cut(path, "/")
		switch {
		case first == "docs" || first == "compose" || p.doc == "":
		case first == "testing":
			kits = append(kits, rest)
		case strings.Contains(rest, "/") && strings.HasPrefix(path, parent+"/"):
			below = append(below, "`"+strings.TrimPrefix(path, parent+"/")+"`")
		default:
			end()
			parent = path
			says := pause.Split(strings.TrimSuffix(packageName.ReplaceAllString(p.doc, ""), "."), 2)[0]
			lines = append(lines, fmt.Sprintf("- `%s` %s.", path, says))
		}
	}
	end()
	return strings.Join(lines, "\n") + "\n- `testing`: " + strings.Join(kits, " ") + "\n"
}

// TestTheMapIsWhatPackagesSay: the end of ARCHITECTURE.md is made of the package
// comments.
func TestTheMapIsWhatPackagesSay(t *testing.T) {
	const file, heading = "../../ARCHITECTURE.md", "## The map\n"
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(have), heading)
	intro, _, more := strings.Cut(rest, "- `")
	if !ok || !more {
		t.Fatalf("%s has no map below %q", file, heading)
	}
	want := before + heading + intro + mapOf(t)
	if *updateTour {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(have) != want {
		t.Errorf("%s differs from the package comments: make docs writes it", file)
	}
	for line := range strings.Lines(want) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 120 && strings.HasPrefix(line, "- `") && !strings.HasPrefix(line, "- `testing") {
			t.Errorf("%d characters: shorten the first sentence of the package comment: %s", n, line)
		}
	}
}
