package stack

import (
	"encoding/json"
	"testing"
	"time"

	"almanac/embed/remote"
	"almanac/retrieval/index"
)

// stored is an origin as earlier versions stored it: their configuration of
// the model, field by field.
const stored = `{"Embed":{"URL":"http://models:8080","Kind":"openai","Model":"buoy-talk","Key":"","Pull":true,` +
	`"KeepAlive":1800000000000},"Model":"buoy-talk@1","Dimensions":32,"Complete":true}`

func TestOriginsOfEarlierVersionsAreRead(t *testing.T) {
	store := newConfig(t, 0).Store
	g, err := store.OpenGeneration(t.Context(), index.Fingerprint("buoy-talk@1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SetMeta(t.Context(), metaOrigin(g), stored); err != nil {
		t.Fatal(err)
	}
	want := origin{
		Embed: source{"http://models:8080", "openai", "buoy-talk", 30 * time.Minute},
		Model: "buoy-talk@1", Dimensions: 32, Complete: true,
	}
	found, o, ok, err := latestComplete(t.Context(), store)
	if err != nil || !ok || found.ID != g.ID || o != want {
		t.Errorf("read as %+v of generation %d, %v, %v", o, found.ID, ok, err)
	}
	c := Embed{URL: "http://models:8080", Kind: "openai", Model: "buoy-talk", Key: "k"}
	known, err := knownOf(t.Context(), store, c)
	if err != nil || known != (remote.Known{Model: "buoy-talk@1", Dimensions: 32}) {
		t.Errorf("the model is known as %+v, %v", known, err)
	}
}

// TestOriginsAreStoredAsBefore holds the names that earlier versions read, and
// that no key is stored.
func TestOriginsAreStoredAsBefore(t *testing.T) {
	store := newConfig(t, 0).Store
	g, err := store.OpenGeneration(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	c := Embed{URL: "http://models:8080", Kind: "openai", Model: "buoy-talk", Key: "hush", Pull: true,
		KeepAlive: 30 * time.Minute}
	o := origin{Embed: sourceOf(c), Model: "buoy-talk@1", Dimensions: 32, Complete: true}
	if err := o.save(t.Context(), store, g); err != nil {
		t.Fatal(err)
	}
	text, err := store.Meta(t.Context(), metaOrigin(g))
	if err != nil {
		t.Fatal(err)
	}
	var have, want map[string]any
	if err := json.Unmarshal([]byte(text), &have); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(stored), &want); err != nil {
		t.Fatal(err)
	}
	delete(want["Embed"].(map[string]any), "Key")
	delete(want["Embed"].(map[string]any), "Pull")
	if a, b := marshal(t, have), marshal(t, want); a != b {
		t.Errorf("stored %s, want %s", a, b)
	}
	if again := o.Embed.config(c); again.Key != "hush" || again.Pull {
		t.Errorf("opened again as %+v", again)
	}
	c.URL = "http://elsewhere"
	if again := o.Embed.config(c); again.Key != "" {
		t.Error("the key of another server is sent")
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
