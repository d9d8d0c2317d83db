package sample_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	votes   map[int64][]catalog.Vote  // of the threads
	events  []catalog.Event           // newest first
	drafts  map[string]catalog.Record // by PR-n, also those that became proposals

	snapshots map[string][]catalog.Snapshot // by series, newest first
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
	if c.reports, err = pipeline(anchor).Sync(ctx, nil); err != nil {
		return c, err
	}
	if c.records, _, err = store.List(ctx, catalog.ListQuery{WithBody: true}); err != nil {
		return c, err
	}
	c.byRef, c.drafts, c.votes = map[catalog.Ref]catalog.Record{}, map[string]catalog.Record{},
		map[int64][]catalog.Vote{}
	for _, r := range c.records {
		c.byRef[r.Ref()] = r
		links, err := store.LinksFrom(ctx, r.ID)
		if err != nil {
			return c, err
		}
		c.links = append(c.links, links...)
		if r.Kind == catalog.KindMailThread {
			if c.votes[r.ID], err = store.VotesOn(ctx, r.ID); err != nil {
				return c, err
			}
		}
	}
	if c.events, err = store.Events(ctx, catalog.EventQuery{Field: "status"}); err != nil {
		return c, err
	}
	for n := range 60 {
		key := fmt.Sprintf("PR-%d", n)
		if r, err := store.Get(ctx, catalog.Ref{Kind: catalog.KindCIP, Key: key}); err == nil {
			c.drafts[key] = r
		}
	}
	c.snapshots = map[string][]catalog.Snapshot{}
	for _, series := range []string{catalog.SeriesNetwork, catalog.SeriesMarket, catalog.SeriesStats} {
		if c.snapshots[series], err = store.Snapshots(ctx, series, 1000); err != nil {
			return c, err
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

// numbered returns the proposals that have a number.
func (c contents) numbered(t *testing.T) map[string]catalog.CIP {
	t.Helper()
	all := map[string]catalog.CIP{}
	for _, r := range c.records {
		if r.Kind == catalog.KindCIP && !strings.HasPrefix(r.Key, "PR-") {
			all[r.Key] = decode[catalog.CIP](t, r)
		}
	}
	return all
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
			// these never name all
			whole := r.Complete || slices.Contains([]string{"blog", "talks", "ledger", "operations"}, r.Source)
			if r.Err != nil || !whole || r.Created == 0 || r.Skipped+r.Warned+r.Foreign > 0 {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("yields_every_kind", func(t *testing.T) {
		got, all := map[catalog.Kind]int{}, map[string]bool{} // of the sources; with what is derived from them
		for _, r := range c.records {
			all[string(r.Kind)] = true
			if r.Source == catalog.DerivedSource || r.Source == "curated" || r.Source == "operations" {
				continue // they have one record for each entry of a file
			}
			got[r.Kind]++
			if r.Title == "" || r.Body == "" || r.Summary == "" && summarised[r.Kind] {
				t.Errorf("%s (%s) lacks title, text or summary", r.Ref(), r.Path)
			}
			if !address.MatchString(r.URL) {
				t.Errorf("%s has address %q", r.Ref(), r.URL)
			}
		}
		want := map[catalog.Kind]int{ // the world may grow
			catalog.KindCIP: 16 + 4, catalog.KindAttachment: 3, catalog.KindGrant: 8 + 1, catalog.KindDoc: 29 + 2,
			catalog.KindRelease: 10 + 4, catalog.KindRepo: 2 + 3, catalog.KindIssue: 16, catalog.KindPull: 11,
			catalog.KindComment: 34, catalog.KindDiscussion: 4,
			catalog.KindTopic: 17, catalog.KindPost: 66, catalog.KindMailThread: 19, catalog.KindMailMessage: 45,
			catalog.KindBlog: 8, catalog.KindFoundation: 9, catalog.KindWhitepaper: 2, catalog.KindVideo: 6,
			catalog.KindVoteRequest: 8, catalog.KindValidator: 13 + 58 + 1, catalog.KindApp: 6, catalog.KindAsset: 4,
			catalog.KindPool:           5,
			catalog.KindPackageVersion: 11 + 7,
		}
		for kind, least := range want {
			if got[kind] < least {
				t.Errorf("%d records are a %s, want at least %d", got[kind], kind, least)
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
	t.Run("has_something_recent", func(t *testing.T) {
		week := anchor.AddDate(0, 0, -14)
		recent := map[catalog.Kind]int{}
		for _, r := range c.records {
			if r.CreatedAt.After(week) {
				recent[r.Kind]++
			}
		}
		changes := 0
		for _, e := range c.events {
			if e.At.After(week) {
				changes++
			}
		}
		for _, kind := range []catalog.Kind{
			catalog.KindCIP, catalog.KindGrant, catalog.KindRelease, catalog.KindIssue, catalog.KindPull,
			catalog.KindDiscussion, catalog.KindComment,
			catalog.KindTopic, catalog.KindPost, catalog.KindMailThread, catalog.KindMailMessage, catalog.KindBlog,
			catalog.KindVideo,
		} {
			if recent[kind] == 0 {
				t.Errorf("nothing of the last two weeks is a %s", kind)
			}
		}
		if changes < 3 {
			t.Errorf("of the last two weeks: %d changes of status", changes)
		}
	})
}

func TestProposals(t *testing.T) {
	c := synced(t)
	all := c.numbered(t)
	t.Run("every_status_appears", func(t *testing.T) {
		states, raw := map[string]bool{}, map[string]bool{}
		for key, d := range all {
			states[c.byRef[catalog.Ref{Kind: catalog.KindCIP, Key: key}].State] = true
			raw[d.RawStatus] = true
		}
		for _, s := range network.Statuses {
			if !states[s] {
				t.Errorf("no proposal is %s", s)
			}
		}
		for word := range c.network.Proposals.StatusMap {
			if !raw[word] {
				t.Errorf("no proposal calls itself %s", word)
			}
		}
	})
	t.Run("what_they_require_exists", func(t *testing.T) {
		for _, r := range c.records {
			if r.Kind != catalog.KindCIP {
				continue
			}
			d := decode[catalog.CIP](t, r)
			for _, key := range slices.Concat(d.Requires, d.Replaces, d.SupersededBy) {
				if _, ok := all[key]; !ok {
					t.Errorf("%s names %s, which is not there", r.Key, key)
				}
			}
		}
	})
	t.Run("requirements_form_a_diamond_of_depth_three", func(t *testing.T) {
		dvp := all["CIP-0010"]
		both := slices.Equal(dvp.Requires, []string{"CIP-0006", "CIP-0007"}) &&
			slices.Contains(all["CIP-0006"].Requires, "CIP-0005") &&
			slices.Contains(all["CIP-0007"].Requires, "CIP-0005")
		if !both || !slices.Contains(all["CIP-0005"].Requires, "CIP-0003") {
			t.Errorf("CIP-0010 requires %v, CIP-0006 %v, CIP-0007 %v, CIP-0005 %v", dvp.Requires,
				all["CIP-0006"].Requires, all["CIP-0007"].Requires, all["CIP-0005"].Requires)
		}
	})
	t.Run("one_replaced_another", func(t *testing.T) {
		if !slices.Equal(all["CIP-0002"].SupersededBy, []string{"CIP-0009"}) ||
			!slices.Equal(all["CIP-0009"].Replaces, []string{"CIP-0002"}) {
			t.Errorf("%+v\n%+v", all["CIP-0002"], all["CIP-0009"])
		}
	})
	t.Run("drafts_are_open_withdrawn_or_have_become_a_proposal", func(t *testing.T) {
		got := map[string]string{}
		for _, key := range []string{"PR-26", "PR-27", "PR-30", "PR-32", "PR-36"} {
			got[key] = c.drafts[key].Key + " " + c.drafts[key].State
		}
		want := map[string]string{
			"PR-26": "CIP-0014 Draft", "PR-27": "PR-27 Withdrawn", "PR-30": "PR-30 Draft", "PR-32": "PR-32 Draft",
			"PR-36": "PR-36 Draft",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if d := decode[catalog.CIP](t, c.drafts["PR-30"]); !slices.Equal(d.Requires, []string{"CIP-0007"}) {
			t.Errorf("PR-30 requires %v", d.Requires)
		}
	})
	t.Run("attachments_have_the_size_listed", func(t *testing.T) {
		files := texts(t, anchor)
		roles := map[string]bool{}
		for _, r := range c.records {
			if r.Kind != catalog.KindAttachment {
				continue
			}
			d := decode[catalog.Attachment](t, r)
			roles[d.Role] = true
			if int(d.Bytes) != len(files[r.Path]) || r.Parent == 0 {
				t.Errorf("%s: listed with %d bytes, has %d; parent %d", r.Path, d.Bytes, len(files[r.Path]), r.Parent)
			}
		}
		if !roles["vote_record"] || !roles["proposal"] || !roles["other"] {
			t.Errorf("roles %v", roles)
		}
	})
}

func TestHistory(t *testing.T) {
	c := synced(t)
	all := c.numbered(t)
	rank := map[string]int{"Draft": 1, "Review": 2, "Final": 3}
	backwards, viaIndex := 0, 0
	last := map[string]catalog.Event{}
	for _, e := range slices.Backward(c.events) { // oldest first
		if before, ok := last[e.Ref.Key]; ok && (e.RawFrom != before.RawTo || !e.At.After(before.At)) {
			t.Errorf("%s: %s → %s at %s does not follow %s → %s at %s", e.Ref.Key, e.RawFrom, e.RawTo, e.At,
				before.RawFrom, before.RawTo, before.At)
		}
		if rank[e.To] > 0 && rank[e.To] < rank[e.From] {
			backwards++
		}
		if e.Via == "index" {
			viaIndex++
		}
		if e.At.After(anchor) || e.URL == "" || e.Subject == "" {
			t.Errorf("%+v", e)
		}
		last[e.Ref.Key] = e
	}
	for key, d := range all {
		if last[key].RawTo != d.RawStatus {
			t.Errorf("the history of %s ends in %q, its header says %q", key, last[key].RawTo, d.RawStatus)
		}
	}
	if backwards < 3 || viaIndex == 0 {
		t.Errorf("%d moves backwards, %d changes from the index table; want some", backwards, viaIndex)
	}
}

func TestGrants(t *testing.T) {
	c := synced(t)
	states := map[string]int{}
	for _, r := range c.records {
		if r.Kind != catalog.KindGrant || r.Parent != 0 {
			continue
		}
		d := decode[catalog.Grant](t, r)
		state := r.State
		if d.Merged {
			state = "merged"
		}
		states[state]++
		if d.Funding == "" || len(d.Milestones) < 2 {
			t.Errorf("%s: funding %q, milestones %v", r.Path, d.Funding, d.Milestones)
		}
	}
	if states["open"] < 3 || states["merged"] < 3 || states["closed"] < 2 || len(states) != 3 {
		t.Errorf("states %v", states)
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	docRole      = regexp.MustCompile("`[^`<]*<([^`>]+)>`")
	pullMention  = regexp.MustCompile(`\bPR-\d+\b`)
	ownAddress   = regexp.MustCompile(`https://example\.org/(causeway-\w+/\w+)/blob/\w+/([\w./-]+)`)
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
	files := texts(t, anchor)
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
				if _, ok := c.drafts[key]; !ok && !strings.HasSuffix(name, ".jsonl") {
					t.Errorf("%s mentions %s, which is not there", name, key)
				}
			}
		}
	})
	t.Run("relative_links", func(t *testing.T) {
		checked := 0
		for name, text := range files {
			targets := markdownLink.FindAllStringSubmatch(text, -1)
			if path.Ext(name) == ".rst" {
				targets = docRole.FindAllStringSubmatch(text, -1)
			}
			for _, m := range targets {
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
	t.Run("addresses_of_its_own_repositories", func(t *testing.T) {
		known := map[string]bool{}
		for row := range strings.Lines(files["manifest.jsonl"]) {
			var l struct {
				Repo string `json:"source_repo"`
				Path string `json:"source_path"`
			}
			if err := json.Unmarshal([]byte(row), &l); err != nil {
				t.Fatal(err)
			}
			known[l.Repo+" "+l.Path] = true
		}
		for _, r := range c.records {
			if r.Kind == catalog.KindAttachment {
				known[r.Container+" "+r.Key] = true
			}
			if r.Kind == catalog.KindRepo {
				known[r.Key+" README.md"] = true
			}
		}
		for name, text := range files {
			for _, m := range ownAddress.FindAllStringSubmatch(text, -1) {
				if !known[m[1]+" "+m[2]] {
					t.Errorf("%s names %s, which is not there", name, m[0])
				}
			}
		}
	})
}

func TestDocs(t *testing.T) {
	c := synced(t)
	repositories, formats, included := map[string]bool{}, map[string]bool{}, 0
	for _, r := range c.records {
		if r.Kind != catalog.KindDoc {
			continue
		}
		d := decode[catalog.Doc](t, r)
		repositories[r.Container], formats[d.Format] = true, true
		included += len(d.Includes)
		if strings.Contains(r.Body, "import ") && strings.Contains(r.Body, "<Install") ||
			strings.Contains(r.Body, ".. ") {
			t.Errorf("%s has markup left", r.Path)
		}
	}
	if len(repositories) < 5 || len(formats) < 3 || included < 2 {
		t.Errorf("repositories %v, formats %v, %d includes", slices.Sorted(maps.Keys(repositories)), formats, included)
	}
	old := c.byRef[catalog.Ref{Kind: catalog.KindDoc, Key: "docs/node-2.4/upgrade/major-upgrade.md"}]
	if d := decode[catalog.Doc](t, old); d.Version != "2.4" {
		t.Errorf("the older copy has version %q", d.Version)
	}
}

func TestReleases(t *testing.T) {
	c := synced(t)
	security, breaking, prerelease := 0, 0, 0
	for _, r := range c.records {
		if r.Kind != catalog.KindRelease {
			continue
		}
		d := decode[catalog.Release](t, r)
		if d.Version == "" || r.CreatedAt.IsZero() {
			t.Errorf("%s: version %q, date %s", r.Path, d.Version, r.CreatedAt)
		}
		security += strings.Count(r.Body, "## Security\n")
		breaking += strings.Count(r.Body, "## Breaking changes\n")
		if d.Prerelease {
			prerelease++
		}
	}
	if security < 2 || breaking < 4 || prerelease < 2 {
		t.Errorf("%d with a security fix, %d with breaking changes, %d before a release", security, breaking,
			prerelease)
	}
}

// TestEveryAddressOfItsServersLeadsSomewhere holds what texts link to against
// what the servers of the fiction answer and the forge has pages of.
func TestEveryAddressOfItsServersLeadsSomewhere(t *testing.T) {
	c := synced(t)
	pages := map[string]bool{}
	for _, r := range c.records {
		pages[strings.TrimSuffix(r.URL, "/")] = true
	}
	served := texts(t, anchor)
	named := regexp.MustCompile(
		`https://(?:(?:forum|blog|www|video|lists)\.causeway\.)example\.org(/[\w./-]*)?|https://example\.org/[\w-]+/[\w-]+/(?:issues|discussions)/\d+`)
	checked := 0
	for _, r := range c.records {
		for _, target := range named.FindAllString(r.Body, -1) {
			target = strings.TrimRight(target, "./")
			checked++
			if !pages[target] && served["web/"+strings.TrimPrefix(target, "https://")] == "" {
				t.Errorf("%s links to %s, which is not there", r.Ref(), target)
			}
		}
	}
	if checked < 5 {
		t.Errorf("%d addresses", checked)
	}
	numbered := regexp.MustCompile(`(?:^|[\s(])#(\d+)\b`)
	for _, r := range c.records {
		if r.Kind != catalog.KindIssue && r.Kind != catalog.KindPull && r.Kind != catalog.KindComment &&
			r.Kind != catalog.KindDiscussion && r.Kind != catalog.KindRelease {
			continue
		}
		for _, m := range numbered.FindAllStringSubmatch(r.Body, -1) {
			key := r.Container + "#" + m[1]
			if _, issue := c.byRef[catalog.Ref{Kind: catalog.KindIssue, Key: key}]; !issue {
				if _, pull := c.byRef[catalog.Ref{Kind: catalog.KindPull, Key: key}]; !pull {
					t.Errorf("%s mentions %s, which is not there", r.Ref(), key)
				}
			}
		}
	}
}

func TestForum(t *testing.T) {
	c := synced(t)
	solved, code, liked, unanswered := 0, 0, int64(0), 0
	for _, r := range c.records {
		switch r.Kind {
		case catalog.KindTopic:
			if decode[catalog.Topic](t, r).Accepted > 0 {
				solved++
			}
			if r.Replies == 0 && r.Views > 1500 && r.State == "open" {
				unanswered++
			}
		case catalog.KindPost:
			code += decode[catalog.Post](t, r).CodeBlocks
			liked += r.Votes
		}
	}
	if solved < 4 || code < 10 || liked < 100 || unanswered < 2 {
		t.Errorf("%d solved, %d pieces of code, %d likes, %d much read and never answered", solved, code, liked,
			unanswered)
	}
}

// TestVotes holds the votes that mails cast against the proposals' outcome.
func TestVotes(t *testing.T) {
	c := synced(t)
	want := map[string]map[string]int{
		"Vote on CIP-0006: Upgrading packages without migrating contracts": {"in_favour": 12, "abstain": 1},
		"Vote on CIP-0012: Raise the relay quorum to eleven of fifteen": {"in_favour": 5, "against": 7,
			"abstain": 1},
		"Vote on CIP-0017: Independent sources for the conversion rate": {"in_favour": 11, "against": 1, "abstain": 1},
		"Vote on CIP-0018: Notice before a vetting ends":                {"in_favour": 10, "against": 2, "abstain": 1},
		"Vote on CIP-0020: Votes of five days":                          {"in_favour": 6, "against": 6, "abstain": 1},
		"Vote on CIP-0021: Handling of security advisories":             {"in_favour": 13},
		"Vote on CIP-0023: Application rewards by traffic":              {"in_favour": 10, "against": 2, "abstain": 1},
	}
	got := map[string]map[string]int{}
	for _, r := range c.records {
		if r.Kind == catalog.KindMailThread && r.Category == "vote" {
			got[r.Title] = map[string]int{}
			for _, v := range c.votes[r.ID] {
				got[r.Title][v.Choice]++
			}
		}
	}
	if len(got) < 2 {
		t.Errorf("%d threads are votes", len(got))
	}
	for title, votes := range got {
		if diff := cmp.Diff(want[title], votes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", title, diff)
		}
	}
}

func TestTranscripts(t *testing.T) {
	with := 0
	for _, r := range synced(t).records {
		if r.Kind != catalog.KindVideo {
			continue
		}
		d := decode[catalog.Video](t, r)
		if d.HasTranscript {
			with++
			if len(d.Cues) < 10 || d.Transcript == "" || d.Language != "en" {
				t.Errorf("%s: %d cues, %s, %s", r.Key, len(d.Cues), d.Transcript, d.Language)
			}
		}
	}
	if with < 15 {
		t.Errorf("%d recordings have a transcript", with)
	}
}

// TestAnOlderCopyIsNearlyTheSame keeps one pair of pages for the collapsing
// of near-duplicates, and one of versions that both belong in an answer.
func TestAnOlderCopyIsNearlyTheSame(t *testing.T) {
	c := synced(t)
	similarity := func(page string) float64 {
		shingles := func(directory string) map[string]bool {
			words := strings.Fields(c.byRef[catalog.Ref{Kind: catalog.KindDoc, Key: directory + page}].Body)
			set := map[string]bool{}
			for i := range max(0, len(words)-4) {
				set[strings.Join(words[i:i+5], " ")] = true
			}
			return set
		}
		old, current := shingles("docs/node-2.4/"), shingles("docs/node/")
		both := 0
		for s := range old {
			if current[s] {
				both++
			}
		}
		return float64(both) / float64(len(old)+len(current)-both)
	}
	if s := similarity("operate/key-management.md"); s < 0.92 || s == 1 {
		t.Errorf("the pages on keys are alike by %.2f; want them nearly the same", s)
	}
	if s := similarity("upgrade/major-upgrade.md"); s < 0.4 || s > 0.85 {
		t.Errorf("the pages on upgrades are alike by %.2f; want two versions of one page", s)
	}
}
