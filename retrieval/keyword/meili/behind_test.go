package meili_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
	"almanac/testing/httppipe"
	"almanac/testing/meilitest"
)

// behind is an engine on a server that others may change behind its back.
type behind struct {
	*meili.Engine
	server *meilitest.Server
	config meili.Config
	log    *strings.Builder
}

// newBehind returns one that is live and has changes up to 5.
func newBehind(t *testing.T) behind {
	t.Helper()
	b := behind{server: meilitest.New(), log: &strings.Builder{}}
	b.config = meili.Config{URL: "http://search.example.org", Index: "almanac", Generation: 1, Owner: "test",
		Transport: httppipe.Transport(t, b.server.Handler()), Log: slog.New(slog.NewTextHandler(b.log, nil))}
	b.Engine = begin(t, b.config, 0)
	write(t, b.Engine, 5, "amber", "quartz amber")
	if err := b.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.look(t, 5)
	finds(t, b.Engine, "amber", 1, 2)
	return b
}

// look is what a follower does every few seconds.
func (b behind) look(t *testing.T, want int64) {
	t.Helper()
	if at, err := b.Checkpoint(t.Context()); at != want || err != nil {
		t.Fatalf("checkpoint %d, %v, want %d", at, err, want)
	}
}

// says checks an error.
func says(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func (b behind) search(t *testing.T) error {
	_, err := b.Search(t.Context(), term("amber"), passage.Filter{}, 10)
	return err
}

// TestSettingsOfAnotherAreSaidAndRestored: whatever another program changes in them, no
// search is answered while the server is restoring ours, which takes it long.
func TestSettingsOfAnotherAreSaidAndRestored(t *testing.T) {
	for name, value := range map[string]any{
		"rankingRules": []any{"words", "typo"}, "searchableAttributes": []any{"title"},
		"filterableAttributes": []any{"owner"}, "stopWords": []any{"amber"}, "facetSearch": true,
		"synonyms": map[string]any{"amber": []any{"quartz"}}, "distinctAttribute": "kind", "dictionary": []any{"amber"},
		"separatorTokens": []any{"m"}, "nonSeparatorTokens": []any{" "}, "prefixSearch": "disabled",
		"typoTolerance": map[string]any{"enabled": map[string]any{}}, // of another version
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBehind(t)
				before := ""
				b.server.ChangeSettings(func(settings map[string]any) {
					before, settings[name] = fmt.Sprint(settings[name]), value
				})
				reader := b.config
				reader.ReadOnly = true
				_, err := open(t, reader).Checkpoint(t.Context())
				says(t, err, "index almanac of http://search.example.org does not have our settings")

				b.server.Hold(true)
				for range 2 {
					_, err := b.Checkpoint(t.Context())
					says(t, err, "restore the settings of index almanac: the server has not finished")
					says(t, b.search(t), "index almanac of http://search.example.org does not have our settings")
				}
				b.server.Hold(false)
				b.look(t, 5)
				finds(t, b.Engine, "amber", 1, 2)
				b.server.ChangeSettings(func(settings map[string]any) {
					if after := fmt.Sprint(settings[name]); after != before {
						t.Errorf("it is %s, and was %s", after, before)
					}
				})
				if n := strings.Count(b.log.String(), "another program has changed the settings"); n != 1 {
					t.Errorf("the log says it %d times:\n%s", n, b.log)
				}
			})
		})
	}
}

// TestSettingsThatAnotherRestoresAreLeft: the tasks of a server that came back empty, or
// settings that are ours again, hold up nothing.
func TestSettingsThatAnotherRestoresAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBehind(t)
		b.server.ChangeSettings(func(settings map[string]any) { settings["rankingRules"] = []any{"typo"} })
		b.server.Hold(true)
		_, err := b.Checkpoint(t.Context())
		says(t, err, "has not finished")
		b.server.Hold(false)
		b.server.Empty()
		_, err = b.Checkpoint(t.Context())
		says(t, err, "has forgotten task")
		b.look(t, 0)
		write(t, b.Engine, 5, "amber", "quartz amber")
		finds(t, b.Engine, "amber", 1, 2)
	})
}

// TestAnIndexWithoutItsMarkIsBuiltAgain: under either name, and with all documents or none.
func TestAnIndexWithoutItsMarkIsBuiltAgain(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, behind){
		"the mark": func(_ *testing.T, b behind) { b.server.Lose("mark") },
		"all documents": func(_ *testing.T, b behind) {
			for _, id := range []string{"mark", "65536", "131072"} {
				b.server.Lose(id)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBehind(t)
				lose(t, b)
				if err := b.search(t); !errors.Is(err, meili.ErrForeign) {
					t.Errorf("a search: %v", err)
				}
				b.look(t, 0)
				says(t, b.search(t), "it is being filled again: 0 of 5 changes")
				if left := b.server.Passages(); len(left) > 0 {
					t.Errorf("%v are left", left)
				}
				write(t, b.Engine, 5, "amber", "quartz amber")
				b.server.Lose("mark") // while it is built
				b.look(t, 0)
				write(t, b.Engine, 5, "amber", "quartz amber")
				if err := b.Promote(t.Context()); err != nil {
					t.Error(err)
				}
				finds(t, b.Engine, "amber", 1, 2)
				finds(t, begin(t, b.config, 5), "quartz", 2)
				if n := strings.Count(b.log.String(), "has lost its mark"); n != 2 {
					t.Errorf("the log says it %d times:\n%s", n, b.log)
				}
			})
		})
	}
}
