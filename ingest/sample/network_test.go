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
	"almanac/ingest/networks"
	"almanac/ingest/sample"
)

// contents is what a sync of the sample leaves in a catalog.
type contents struct {
	network network.Network
	reports []ingest.Report
	again   []ingest.Report // of a second sync
	moved   []ingest.Report // of a third, at a later anchor
	records []catalog.Record
	byRef   map[catalog.Ref]catalog.Record
	links   []catalog.Link
	events  []catalog.Event           // newest first
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
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: func() time.Time { return anchor }})
	if err != nil {
		return c, err
	}
	defer store.Close()
	pipeline := func(at time.Time) *ingest.Pipeline {
		return ingest.New(ingest.Config{
			Store: store, Network: c.network, Now: func() time.Time { return at }, WorkDir: dir,
			Connectors: ingest.Registry{"sample": sample.Connector(at)},
		})
	}
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
	if c.events, err = store.Events(ctx, catalog.EventQuery{Field: "status"}); err != nil {
		return c, err
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
	c.moved, err = pipeline(anchor.AddDate(0, 0, 20)).Sync(ctx, nil)
	return c, err
}

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

func TestSync(t *testing.T) {
	c := synced(t)
	t.Run("skips_and_warns_of_nothing", func(t *testing.T) {
		for _, r := range c.reports {
			if r.Err != nil || !r.Complete || r.Created == 0 || r.Skipped+r.Warned+r.Foreign > 0 {
				t.Errorf("%+v", r)
			}
		}
	})
	t.Run("yields_every_kind", func(t *testing.T) {
		got := map[catalog.Kind]int{}
		for _, r := range c.records {
			got[r.Kind]++
			if r.Title == "" || r.Body == "" || r.Summary == "" && r.Kind != catalog.KindAttachment {
				t.Errorf("%s (%s) lacks title, text or summary", r.Ref(), r.Path)
			}
			if !strings.HasPrefix(r.URL, "https://example.org/") || strings.ContainsAny(r.URL, "{} ") {
				t.Errorf("%s has address %q", r.Ref(), r.URL)
			}
		}
		want := map[catalog.Kind]int{
			catalog.KindCIP: 16 + 4, catalog.KindAttachment: 3, catalog.KindProposal: 8 + 1, catalog.KindDoc: 29 + 2,
			catalog.KindRelease: 10, catalog.KindRepo: 4,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		for kind := range c.network.Descriptions {
			if got[catalog.Kind(kind)] == 0 {
				t.Errorf("the network describes %s and has none", kind)
			}
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
			if r.Created+r.Deleted+r.Skipped+r.Warned > 0 || r.Updated == 0 && r.Source != "ecosystem" {
				t.Errorf("%+v", r)
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
		if recent[catalog.KindCIP] == 0 || recent[catalog.KindProposal] == 0 || recent[catalog.KindRelease] < 2 || changes < 3 {
			t.Errorf("of the last two weeks: %v, %d changes of status", recent, changes)
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
		for _, s := range c.network.Proposals.Statuses {
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
			slices.Contains(all["CIP-0006"].Requires, "CIP-0005") && slices.Contains(all["CIP-0007"].Requires, "CIP-0005")
		if !both || !slices.Contains(all["CIP-0005"].Requires, "CIP-0003") {
			t.Errorf("CIP-0010 requires %v, CIP-0006 %v, CIP-0007 %v, CIP-0005 %v", dvp.Requires, all["CIP-0006"].Requires, all["CIP-0007"].Requires, all["CIP-0005"].Requires)
		}
	})
	t.Run("one_replaced_another", func(t *testing.T) {
		if !slices.Equal(all["CIP-0002"].SupersededBy, []string{"CIP-0009"}) || !slices.Equal(all["CIP-0009"].Replaces, []string{"CIP-0002"}) {
			t.Errorf("%+v\n%+v", all["CIP-0002"], all["CIP-0009"])
		}
	})
	t.Run("drafts_are_open_withdrawn_or_have_become_a_proposal", func(t *testing.T) {
		got := map[string]string{}
		for _, key := range []string{"PR-26", "PR-27", "PR-30", "PR-32", "PR-36"} {
			got[key] = c.drafts[key].Key + " " + c.drafts[key].State
		}
		want := map[string]string{
			"PR-26": "CIP-0014 Draft", "PR-27": "PR-27 Withdrawn", "PR-30": "PR-30 Draft", "PR-32": "PR-32 Draft", "PR-36": "PR-36 Draft",
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
			t.Errorf("%s: %s → %s at %s does not follow %s → %s at %s", e.Ref.Key, e.RawFrom, e.RawTo, e.At, before.RawFrom, before.RawTo, before.At)
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
		if r.Kind != catalog.KindProposal || r.Parent != 0 {
			continue
		}
		d := decode[catalog.Proposal](t, r)
		state := r.State
		if d.Merged {
			state = "merged"
		}
		states[state]++
		if d.Funding == "" || len(d.Milestones) < 2 {
			t.Errorf("%s: funding %q, milestones %v", r.Path, d.Funding, d.Milestones)
		}
	}
	if diff := cmp.Diff(map[string]int{"open": 3, "merged": 3, "closed": 2}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

var (
	markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	docRole      = regexp.MustCompile("`[^`<]*<([^`>]+)>`")
	pullMention  = regexp.MustCompile(`\bPR-\d+\b`)
	ownAddress   = regexp.MustCompile(`https://example\.org/(causeway-\w+/\w+)/blob/\w+/([\w./-]+)`)
)

func TestEveryReferenceLeadsSomewhere(t *testing.T) {
	c := synced(t)
	files := texts(t, anchor)
	t.Run("mentions_of_proposals", func(t *testing.T) {
		mentions := 0
		for _, l := range c.links {
			mentions++
			if _, ok := c.byRef[l.To]; !ok {
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
				found := slices.ContainsFunc([]string{to, to + ".md", to + ".rst"}, func(f string) bool { return files[f] != "" })
				if !found || anchor != "" && !strings.Contains(strings.ToLower(files[to]), "# "+strings.ReplaceAll(anchor, "-", " ")+"\n") {
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
		if strings.Contains(r.Body, "import ") && strings.Contains(r.Body, "<Install") || strings.Contains(r.Body, ".. ") {
			t.Errorf("%s has markup left", r.Path)
		}
	}
	if len(repositories) < 5 || len(formats) < 3 || included != 2 {
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
	if security != 2 || breaking < 4 || prerelease != 1 {
		t.Errorf("%d with a security fix, %d with breaking changes, %d before a release", security, breaking, prerelease)
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
