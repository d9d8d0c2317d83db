package gitrepo_test

import (
	"testing"

	"almanac/ingest/gitrepo"
)

func TestForge(t *testing.T) {
	const github, gitlab = "https://github.com/harbour/lips", "https://gitlab.example.org/harbour/sub/lips"
	for remote, want := range map[string]gitrepo.Addresses{
		github:                              {File: github + "/blob/{commit}/{path}", Pull: github + "/pull/{number}", Merges: true},
		github + ".git":                     {File: github + "/blob/{commit}/{path}", Pull: github + "/pull/{number}", Merges: true},
		github + "/":                        {File: github + "/blob/{commit}/{path}", Pull: github + "/pull/{number}", Merges: true},
		"ssh://git@github.com/harbour/lips": {File: github + "/blob/{commit}/{path}", Pull: github + "/pull/{number}", Merges: true},
		"ssh://git@GitHub.com:22/harbour/lips.git": {
			File: github + "/blob/{commit}/{path}", Pull: github + "/pull/{number}", Merges: true,
		},
		gitlab: {File: gitlab + "/-/blob/{commit}/{path}", Pull: gitlab + "/-/merge_requests/{number}"},
		"https://codeberg.org/harbour/lips": {
			File: "https://codeberg.org/harbour/lips/src/commit/{commit}/{path}",
			Pull: "https://codeberg.org/harbour/lips/pulls/{number}",
		},
		"http://forgejo.example.org:3000/harbour/lips": {
			File: "http://forgejo.example.org:3000/harbour/lips/src/commit/{commit}/{path}",
			Pull: "http://forgejo.example.org:3000/harbour/lips/pulls/{number}",
		},
		"https://git.example.org/harbour/lips":     {},
		"https://notgithub.com/harbour/lips":       {},
		"https://github.com/lips":                  {},
		"https://github.com":                       {},
		"https://ada:hush@github.com/harbour/lips": {},
		"../github/lips":                           {},
		"/srv/github.com/harbour/lips":             {},
		"":                                         {},
	} {
		if got, ok := gitrepo.Forge(remote); got != want || ok != (want.File != "") {
			t.Errorf("Forge(%q) = %+v, %v; want %+v", remote, got, ok, want)
		}
	}
}
