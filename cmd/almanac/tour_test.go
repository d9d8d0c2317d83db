package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"
)

var updateTour = flag.Bool("update", false, "write the answers in docs/tour.md")

// TestTheTourIsReal runs the commands in the console blocks of docs/tour.md over
// the sample and compares their output, except for dates: those of the sample
// hang on today. Nothing of it may change with the hour: a window of days must
// not begin on a day of the sample on which something happened. `| jq -r '…'` is
// done by gojq.
func TestTheTourIsReal(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the sample; not with -short")
	}
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "tour.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, commands := "", 0
	for day := ""; day != today(); { // again if it has changed meanwhile
		day = today()
		got, commands = tour(t, string(page))
	}
	if commands < 6 {
		t.Errorf("the page has %d commands", commands)
	}
	if *updateTour {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	dates := regexp.MustCompile(`\b20\d\d-\d\d-\d\d`)
	if diff := cmp.Diff(dates.ReplaceAllString(string(page), "DATE"), dates.ReplaceAllString(got, "DATE")); diff != "" {
		t.Errorf("docs/tour.md is not what the program says; go test -run Tour -update writes it (-page +now):\n%s",
			diff)
	}
}

// today is the day of the sample's first load, if it is loaded now.
func today() string { return time.Now().UTC().Format(time.DateOnly) }

// tour returns a page with the present output of its commands, and how many they are.
func tour(t *testing.T, page string) (now string, commands int) {
	t.Helper()
	env := environ(t.TempDir(), "ALMANAC_DATA_DIR="+t.TempDir())
	must(t, env, "sync")
	block := regexp.MustCompile("(?s)```console\n(.*?)```\n")
	now = block.ReplaceAllStringFunc(page, func(text string) string {
		var out strings.Builder
		for _, command := range consoleCommands(block.FindStringSubmatch(text)[1]) {
			commands++
			out.WriteString("$ " + command + "\n" + tourOutput(t, env, command))
		}
		return "```console\n" + out.String() + "```\n"
	})
	return now, commands
}

// consoleCommands returns the commands of a block: lines that begin with $, with
// the lines that follow a backslash.
func consoleCommands(block string) (commands []string) {
	continued := false
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands = append(commands, command)
		} else if continued {
			commands[len(commands)-1] += "\n" + line
		} else {
			continue
		}
		continued = strings.HasSuffix(line, `\`)
	}
	return commands
}

// tourOutput runs almanac … | jq -r '…'.
func tourOutput(t *testing.T, env []string, command string) string {
	t.Helper()
	program, filter, _ := strings.Cut(strings.ReplaceAll(command, "\\\n", ""), " | jq -r ")
	out := must(t, env, shellWords(program)[1:]...)
	if filter == "" {
		return out
	}
	query, err := gojq.Parse(strings.Trim(filter, " '"))
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	var answer any
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	var lines strings.Builder
	for results := query.Run(answer); ; {
		v, ok := results.Next()
		if !ok {
			return lines.String()
		}
		switch v := v.(type) {
		case error:
			t.Fatalf("%s: %v", command, v)
		case string:
			lines.WriteString(v + "\n")
		default:
			text, err := gojq.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(text, '\n'))
		}
	}
}

// shellWords splits a command at spaces outside of quotes.
func shellWords(command string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`).FindAllString(command, -1) {
		words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(m))
	}
	return words
}
