package main

import (
	"strings"
	"testing"

	"almanac/cmd/config"
)

func TestRemedy(t *testing.T) {
	for message, want := range map[string]string{
		"GET http://127.0.0.1: address refused: prohibited IP address: 127.0.0.1": "sync.allow",
		"manual shrank too much: 30 of its 36":                                    "--accept-shrink docs",
		"fetch: the repository has no branch main; it has master":                 "option branch",
		"something nobody thought of":                                             "--log-level debug docs",
	} {
		if got := remedy("docs", message); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestProposedCommandsRunAsTheyStand(t *testing.T) {
	a := &app{file: "my conf.yaml", origins: config.Origins{"network.name": config.Flag, "data.dir": config.Flag}}
	a.config.Network.Name, a.config.Data.Dir = "./it's.yaml", "data"
	const options = ` --config 'my conf.yaml' --network './it'\''s.yaml' --data data`
	for text, want := range map[string]string{
		"run `almanac sync` first":                       "run `almanac sync" + options + "` first",
		"`almanac sync --accept-shrink docs`":            "`almanac sync" + options + " --accept-shrink docs`",
		"`almanac profile publish default@3`":            "`almanac profile" + options + " publish default@3`",
		"`almanac network check --reach FILE` asks it":   "`almanac network check --reach './it'\\''s.yaml'` asks it",
		"`almanac network kinds docs`, `almanac --help`": "`almanac network kinds docs`, `almanac --help`",
	} {
		if got := a.here(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	a = &app{origins: config.Origins{"network.name": config.Default}}
	a.config.Network.Name = "sample"
	const want = "`almanac sync`, `almanac network check sample`"
	if got := a.here("`almanac sync`, `almanac network check FILE`"); got != want {
		t.Errorf("without options: %s", got)
	}
}
