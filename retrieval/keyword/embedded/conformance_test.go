package embedded_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/keyword/enginetest"
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
	enginetest.Run(t, enginetest.Options{
		New: func(t *testing.T) keyword.Engine {
			path := filepath.Join(t.TempDir(), "keyword")
			e := open(t, embedded.Config{Path: path})
			paths[e] = path
			return e
		},
		Reopen: func(t *testing.T, closed keyword.Engine) keyword.Engine {
			return open(t, embedded.Config{Path: paths[closed]})
		},
	})
}
