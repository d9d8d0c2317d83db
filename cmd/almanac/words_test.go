package main

import (
	"io"
	"strings"
	"testing"
)

// TestWordsFollowFlags: what the program does not know is an argument, and a search is asked
// under each name that tools know its arguments by.
func TestWordsFollowFlags(t *testing.T) {
	for line, want := range map[string]string{
		"search lock gate":                          "search -- lock gate",
		"search lock --limit 3 gate":                "search --limit 3 -- lock gate",
		"--data d search --explain lock":            "--data d search --explain -- lock",
		"search lock -gate":                         "search -gate -- lock",
		"search --query lock --top-k 3 --csv":       "search --limit 3 --csv -- lock",
		"search --topic=lock --max_results=3":       "search --limit=3 -- lock",
		"search --q -lock":                          "search -- -lock",
		"search --colour red lock":                  "search --colour -- red lock",
		"search -- --limit":                         "search -- --limit",
		"search --help":                             "search --help",
		"tools call search --query lock --data d":   "tools call --data d -- search --query lock",
		"--data=d tools call search --query -x":     "--data=d tools call -- search --query -x",
		"tools call get_upgrade_status --version 2": "tools call -- get_upgrade_status --version 2",
		"tools call get_cip id=7 --help":            "tools call --help -- get_cip id=7",
		"tools call get_cip id=7 --network a.yaml":  "tools call --network a.yaml -- get_cip id=7",
		"tools call get_cip --network":              "tools call --network -- get_cip",
		"tools list search":                         "tools list search",
		"show --lines 7":                            "show --lines 7",
		"--version":                                 "--version",
		"complete -- almanac tools call search --d": "complete -- almanac tools call search --d",
	} {
		var root cli
		parser, _, err := newParser(&root, io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wordsLast(parser.Model, strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
