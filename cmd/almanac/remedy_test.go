package main

import (
	"strings"
	"testing"
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
