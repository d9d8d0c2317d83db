package embedded_test

import (
	"path/filepath"
	"testing"

	"almanac/retrieval/vector"
	"almanac/retrieval/vector/embedded"
	"almanac/testing/vectortest"
)

func open(t testing.TB, c embedded.Config) *embedded.Index {
	t.Helper()
	x, err := embedded.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func TestConformance(t *testing.T) {
	paths := make(map[vector.Index]string)
	config := func(path string) embedded.Config {
		return embedded.Config{Path: path, Dimensions: vectortest.Dimensions, Model: "test"}
	}
	vectortest.Run(t, vectortest.Options{
		New: func(t *testing.T) vector.Index {
			path := filepath.Join(t.TempDir(), "vectors")
			x := open(t, config(path))
			paths[x] = path
			return x
		},
		Reopen: func(t *testing.T, closed vector.Index) vector.Index {
			x := open(t, config(paths[closed]))
			paths[x] = paths[closed]
			return x
		},
	})
}
