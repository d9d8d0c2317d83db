package static_test

import (
	"strings"
	"testing"
)

func TestCountTokens(t *testing.T) {
	e := newEmbedder(t)
	for text, want := range map[string]int{
		"": 0, " \n": 0, "hello world": 2, "Hello, world!": 4, "embeddings": 4, strings.Repeat("hello ", 1000): 1000,
	} {
		if got := e.CountTokens(text); got != want {
			t.Errorf("%.20q has %d tokens, want %d", text, got, want)
		}
	}
}
