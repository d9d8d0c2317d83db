package stack

import (
	"strings"
	"testing"
	"time"

	"almanac/embed/remote"
	"almanac/retrieval/index"
)

// TestAnOriginIsReadBack holds that a model on a server is known again, and that its key is
// neither stored nor sent elsewhere.
func TestAnOriginIsReadBack(t *testing.T) {
	store := newConfig(t, 0).Store
	g, err := store.OpenGeneration(t.Context(), index.Fingerprint("buoy-talk@1"))
	if err != nil {
		t.Fatal(err)
	}
	c := Embed{URL: "http://models:8080", Kind: "openai", Model: "buoy-talk", Key: "hush", Pull: true,
		KeepAlive: 30 * time.Minute}
	want := origin{Embed: c, Model: "buoy-talk@1", Dimensions: 32, Complete: true}
	if err := want.save(t.Context(), store, g); err != nil {
		t.Fatal(err)
	}
	want.Embed.Key, want.Embed.Pull = "", false
	found, o, ok, err := latestComplete(t.Context(), store)
	if err != nil || !ok || found.ID != g.ID || o != want {
		t.Errorf("read as %+v of generation %d, %v, %v", o, found.ID, ok, err)
	}
	known, err := knownOf(t.Context(), store, c)
	if err != nil || known != (remote.Known{Model: "buoy-talk@1", Dimensions: 32}) {
		t.Errorf("the model is known as %+v, %v", known, err)
	}
	if text, err := store.Meta(t.Context(), metaOrigin(g)); err != nil || strings.Contains(text, "hush") {
		t.Errorf("stored as %s, %v", text, err)
	}
	if again := o.embed(c); again.Key != "hush" || again.Pull {
		t.Errorf("opened again as %+v", again)
	}
	c.URL = "http://elsewhere"
	if again := o.embed(c); again.Key != "" {
		t.Error("the key of another server is sent")
	}
}

func TestADamagedOriginIsAnError(t *testing.T) {
	cfg := newConfig(t, 0)
	g, err := cfg.Store.OpenGeneration(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Store.SetMeta(t.Context(), metaOrigin(g), "{"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), cfg); err == nil {
		t.Error("it is read")
	}
}
