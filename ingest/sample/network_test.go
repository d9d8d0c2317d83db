package sample_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

// contents is what a sync of the sample leaves in a catalog.
type contents struct {
	network network.Network
	reports []ingest.Report
	again   []ingest.Report // of a second sync
	moved   []ingest.Report // of a third, at a later anchor
	records []catalog.Record
	later   []catalog.Record // after it
	byRef   map[catalog.Ref]catalog.Record
	links   []catalog.Link
	drafts  map[string]catalog.Record // by PR-n, also those that became proposals
}

var synced = func() func(*testing.T) contents {
	var once sync.Once
	var c contents
	var err error
	return func(t *testing.T) contents {
		t.Helper()
		once.Do(func() { c, err = load(t.TempDir()) })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}()

// load syncs the sample through the pipeline, as an operator would.
func load(dir string) (c contents, err error) {
	ctx := context.Background()
	if c.network, err = networks.Load("sample"); err != nil {
		return c, err
	}
	store, err := sqlite.Open(ctx,
		sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: func() time.Time { return anchor }})
	if err != nil {
		return c, err
	}
	defer store.Close()
	pipeline := func(at time.Time) *ingest.Pipeline {
		return ingest.New(ingest.Config{
			Store: store, Network: c.network, Now: func() time.Time { return at }, WorkDir: dir,
			Connectors: connectors.All(at),
		})
	}
	defer os.Setenv("PATH", os.Getenv("PATH"))
	os.Setenv("PATH", "") // a machine without git
	if c.reports, err = pipeline(anchor).Sync(ctx, nil); err != nil {
		return c, err
	}
	if c.records, _, err = store.List(ctx, catalog.ListQuery{WithBody: true}); err != nil {
		return c, err
	}
	c.byRef, c.drafts = map[catalog.Ref]catalog.Record{}, map[string]catalog.Record{}
	for _, r := range c.records {
		c.byRef[r.Ref()] = r
		links, err := store.LinksFrom(ctx, r.ID)
		if err != nil {
			return c, err
		}
		c.links = append(c.links, links...)
	}
	for n := range 60 {
		key := fmt.Sprintf("PR-%d", n)
		if r, err := store.Get(ctx, catalog.Ref{Kind: catalog.KindCIP, Key: key}); err == nil {
			c.drafts[key] = r
		}
	}
	if c.again, err = pipeline(anchor).Sync(ctx, nil); err != nil {
		return c, err
	}
	for _, src := range c.network.Sources { // as the program does when the anchor moves
		if _, err := store.Apply(ctx, catalog.Batch{Source: src.Name, Cursor: new("")}); err != nil {
			return c, err
		}
	}
	if c.moved, err = pipeline(anchor.AddDate(0, 0, moved)).Sync(ctx, nil); err != nil {
		return c, err
	}
	c.later, _, err = store.List(ctx, catalog.ListQuery{WithBody: true})
	return c, err
}

// moved is by how many days the anchor moves.
const moved = 20

func decode[T any](t *testing.T, r catalog.Record) T {
	t.Helper()
	v, err := catalog.Decode[T](r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var (
	address = regexp.MustCompile(`^https://(?:[a-z]+\.causeway\.)?example\.org(?:/[^{} ]*)?$`)
	// summarised are the kinds whose records always have a summary.
	summarised = map[catalog.Kind]bool{
		catalog.KindCIP: true, catalog.KindGrant: true, catalog.KindDoc: true, catalog.KindRelease: true,
		catalog.KindRepo: true,
		catalog.KindBlog: true, catalog.KindFoundation: true, catalog.KindWhitepaper: true, catalog.KindVideo: true,
	}
)

func TestSync(t *testing.T) {
	c := synced(t)
	t.Run("skips_and_warns_of_nothing", func(t *testing.T) {
		for _, r := range c.reports {
			whole := r.Complete || r.Source == "operations" // which names those of some months
			if r.Err != nil || !whole || r.Created == 0 || r.Skipped+r.Warned+r.Foreign > 0 {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("yields_every_kind", func(t *testing.T) {
		all := map[string]bool{} // with what is derived
		for _, r := range c.records {
			all[string(r.Kind)] = true
			if r.Source == catalog.DerivedSource || r.Source == "curated" || r.Source == "operations" {
				continue // they have one record for each entry of a file
			}
			if r.Title == "" || r.Body == "" || r.Summary == "" && summarised[r.Kind] {
				t.Errorf("%s (%s) lacks title, text or summary", r.Ref(), r.Path)
			}
			if !address.MatchString(r.URL) {
				t.Errorf("%s has address %q", r.Ref(), r.URL)
			}
		}
		for _, info := range catalog.Kinds {
			if !all[string(info.Kind)] && info.Kind != catalog.KindEndpoint { // its tests describe APIs of their own
				t.Errorf("nothing is a %s", info.Kind)
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(all)),
			slices.Sorted(maps.Keys(c.network.Descriptions))); diff != "" {
			t.Errorf("what the network describes (-has +describes):\n%s", diff)
		}
	})
	t.Run("reads_nothing_twice", func(t *testing.T) {
		for _, r := range c.again {
			if r.Created+r.Updated+r.Deleted > 0 {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("moves_with_a_later_anchor", func(t *testing.T) {
		for _, r := range c.moved {
			static := r.Source == "ecosystem"
			if r.Created > 0 && r.Source != "operations" || r.Deleted+r.Skipped+r.Warned > 0 || r.Updated == 0 &&
				!static {
				t.Errorf("%+v", r)
			}
		}
		// The weeks go on: what recurs is keyed by its days.
		recurring := func(r catalog.Record) bool {
			return r.Kind == catalog.KindOperation && strings.HasPrefix(r.Key, "operators-call")
		}
		after := map[catalog.Ref]catalog.Record{}
		for _, r := range c.later {
			after[r.Ref()] = r
		}
		before := slices.DeleteFunc(slices.Clone(c.records), recurring)
		if n := len(slices.DeleteFunc(slices.Clone(c.later), recurring)); n != len(before) {
			t.Errorf("%d records have become %d", len(before), n)
		}
		for _, r := range before {
			then := after[r.Ref()]
			for _, at := range [][2]time.Time{{r.CreatedAt, then.CreatedAt}, {r.UpdatedAt, then.UpdatedAt},
				{r.LastActivityAt, then.LastActivityAt}} {
				if want := at[0].AddDate(0, 0, moved); !at[0].IsZero() && !at[1].Equal(want) {
					t.Errorf("%s: %s became %s, want %s", r.Ref(), at[0], at[1], want)
				}
			}
		}
	})
	t.Run("dates_nothing_in_the_future", func(t *testing.T) {
		for _, r := range c.records {
			for _, at := range []time.Time{r.CreatedAt, r.UpdatedAt, r.LastActivityAt} {
				if at.After(anchor) {
					t.Errorf("%s is dated %s", r.Ref(), at)
				}
			}
		}
	})
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	pullMention  = regexp.MustCompile(`\bPR-\d+\b`)
)

// featured says whether a reference names a featured application by its
// provider.
func (c contents) featured(t *testing.T, to catalog.Ref) bool {
	return slices.ContainsFunc(c.records, func(r catalog.Record) bool {
		return r.Kind == catalog.KindApp && r.Kind == to.Kind && decode[catalog.App](t, r).Provider == to.Key
	})
}

// planned says whether a record is an operation that has not begun: what it
// is about need not be there yet.
func (c contents) planned(id int64) bool {
	return slices.ContainsFunc(c.records, func(r catalog.Record) bool {
		return r.ID == id && r.Kind == catalog.KindOperation && r.StartsAt.After(anchor)
	})
}

// atNumber says whether what a number of a repository names is there: an issue,
// a pull request or a grant's.
func (c contents) atNumber(to catalog.Ref) bool {
	_, number, ok := strings.Cut(to.Key, "#")
	for _, ref := range []catalog.Ref{{Kind: catalog.KindIssue, Key: to.Key}, {Kind: catalog.KindPull, Key: to.Key},
		{Kind: catalog.KindGrant, Key: number}} {
		if _, there := c.byRef[ref]; ok && there {
			return true
		}
	}
	return false
}

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	c := synced(t)
	files := map[string]string{} // of sources whose records are files
	for _, r := range c.records {
		if slices.Contains([]string{"cips", "grants", "docs", "release-notes"}, r.Source) {
			files[r.Path] = r.Body
		}
	}
	t.Run("mentions_of_proposals", func(t *testing.T) {
		mentions := 0
		for _, l := range c.links {
			mentions++
			if _, ok := c.byRef[l.To]; !ok && !c.featured(t, l.To) && !c.planned(l.From) && !c.atNumber(l.To) {
				t.Errorf("record %d %s %s, which is not there", l.From, l.Relation, l.To)
			}
		}
		if mentions < 60 {
			t.Errorf("%d links; want the sample to refer to itself more", mentions)
		}
		for name, text := range files {
			for _, key := range pullMention.FindAllString(text, -1) {
				if _, ok := c.drafts[key]; !ok {
					t.Errorf("%s mentions %s, which is not there", name, key)
				}
			}
		}
	})
	t.Run("relative_links", func(t *testing.T) {
		checked := 0
		for name, text := range files {
			for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
				target, anchor, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				checked++
				to := path.Join(path.Dir(name), target)
				if target == "" {
					to = name
				}
				found := slices.ContainsFunc([]string{to, to + ".md", to + ".rst"},
					func(f string) bool { return files[f] != "" })
				if !found || anchor != "" && !strings.Contains(strings.ToLower(files[to]), "# "+
					strings.ReplaceAll(anchor, "-", " ")+"\n") {
					t.Errorf("%s links to %s, which is not there", name, m[1])
				}
			}
		}
		if checked < 20 {
			t.Errorf("%d relative links", checked)
		}
	})
}
