package embedded_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/testing/keywordtest"
)

func TestMain(m *testing.M) {
	if flushForever() {
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, c embedded.Config) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	paths := map[keyword.Engine]string{}
	keywordtest.Run(t, keywordtest.Options{
		New: func(t *testing.T) keyword.Engine {
			path := filepath.Join(t.TempDir(), "keyword")
			e := open(t, embedded.Config{Path: path})
			paths[e] = path
			return e
		},
		Reopen: func(t *testing.T, e keyword.Engine) keyword.Engine {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, embedded.Config{Path: paths[e]})
		},
	})
}
