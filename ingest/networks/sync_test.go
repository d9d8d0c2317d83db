package networks_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/ingest/snapshot"
	"almanac/testing/race"
)

// personal is an address that must not be left in any record.
var personal = regexp.MustCompile(`(?i)[a-z0-9]@[a-z0-9-]{2,}\.(?:com|org|net|io|global|xyz|me|ai)\b(?:[^/:.-]|$)`)

// TestCorpusPresetSyncs brings a whole snapshot of known content into a catalog as an
// operator would, twice.
func TestCorpusPresetSyncs(t *testing.T) {
	dir := corpusDir(t)
	race.Skip(t)
	if testing.Short() {
		t.Skip("reads a whole snapshot")
	}
	n, err := networks.Load("corpus")
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	p := ingest.New(ingest.Config{
		Store: store, Network: n, Now: time.Now, CorpusDir: dir, WorkDir: t.TempDir(),
		Connectors: ingest.Kinds(snapshot.Kind),
	})
	reports, err := p.Sync(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if r.Created == 0 || !r.Complete || r.Skipped*100 > r.Created {
			t.Errorf("%s: %+v", r.Source, r)
		}
	}
	records, _, err := store.List(t.Context(), catalog.ListQuery{WithBody: true})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[catalog.Kind]int{}
	drafts, proposals := 0, 0
	for _, r := range records {
		kinds[r.Kind]++
		switch {
		case r.Kind == catalog.KindCIP && strings.HasPrefix(r.Key, "PR-"):
			drafts++
		case r.Kind == catalog.KindGrant && r.Parent == 0:
			proposals++
		}
		if r.URL == "" {
			t.Errorf("%s has no address", r.Ref())
		}
		for _, text := range []string{r.Title, r.Author, r.Summary, r.Body, string(r.Data)} {
			for i := range len(text) {
				if around := text[max(0, i-20):min(len(text), i+60)]; text[i] == '@' && personal.MatchString(around) {
					t.Errorf("%s (%s) has an address in %q", r.Ref(), r.Path, around)
				}
			}
		}
	}
	for kind := range n.Descriptions {
		if kinds[catalog.Kind(kind)] == 0 {
			t.Errorf("the snapshot gave no %s", kind)
		}
	}
	if kinds[catalog.KindCIP] != 149 || drafts != 40 || proposals != 376 || kinds[catalog.KindDoc] < 1490 ||
		kinds[catalog.KindRelease] < 300 {
		t.Errorf("%d drafts, %d proposals without a parent, of each kind %v", drafts, proposals, kinds)
	}
	before, err := store.LastChange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if after, err := store.LastChange(t.Context()); err != nil || after != before {
		t.Errorf("the second sync changed records: %d → %d, %v", before, after, err)
	}
}
