package forge_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/forge"
	"almanac/ingest/proposal"
	"almanac/testing/connectortest"
	"almanac/testing/gitrepotest"
	"almanac/text/options"
)

// harbour is a repository of proposals that one source reads with git and one
// through the API of its forge.
type harbour struct {
	*gitrepotest.Repo
	t    testing.TB
	api  *project // at the forge
	hub  *hub
	name string // of the repository
}

func newHarbour(t testing.TB, h *hub, name string) *harbour {
	p := &project{Repo: object{"html_url": "https://forge.example.org/" + name, "default_branch": "main"},
		Tree: object{"truncated": false}, Files: map[string][]object{}}
	h.projects[name] = p
	return &harbour{gitrepotest.New(t), t, p, h, name}
}

// blob makes the forge serve a file of a commit, and returns its hash.
func (r *harbour) blob(commit, file string) string {
	sha := r.Git("rev-parse", commit+":"+file)
	r.hub.blobs[sha] = r.Git("cat-file", "blob", sha)
	return sha
}

// push updates what the forge says of the branch.
func (r *harbour) push() {
	var tree []any
	for _, file := range strings.Fields(r.Git("ls-tree", "-r", "--name-only", "main")) {
		tree = append(tree, object{"path": file, "type": "blob", "sha": r.blob("main", file)})
	}
	r.api.Tree["tree"] = tree
}

// pull makes a pull request that adds a file. The host has a merge reference for
// it if git can see that it is open.
func (r *harbour) pull(number int, mergeable bool, file, text string, more object) {
	r.t.Helper()
	r.Git("checkout", "--quiet", "--detach")
	head := r.Commit("work on it", map[string]string{file: text})
	r.Git("update-ref", fmt.Sprintf("refs/pull/%d/head", number), head)
	if mergeable {
		r.Git("update-ref", fmt.Sprintf("refs/pull/%d/merge", number), head)
	}
	pull := object{"number": number, "state": "open", "html_url": fmt.Sprintf("https://forge.example.org/%s/pull/%d",
		r.name, number), "user": object{"login": "ada-quay"}, "created_at": stamp(r.Clock, time.Hour),
		"updated_at": stamp(r.Clock, 2*time.Hour), "head": object{"sha": head},
		"base": object{"sha": r.Git("rev-parse", "main")}}
	for name, value := range more {
		pull[name] = value
	}
	r.api.Pulls = append(r.api.Pulls, pull)
	r.api.Files[strconv.Itoa(number)] = []object{{"filename": file, "status": "added", "sha": r.blob(head, file),
		"changes": 9}}
	r.Git("checkout", "--quiet", "main")
}

func stamp(t time.Time, after time.Duration) string { return t.Add(after).Format(time.RFC3339) }

func labelled(names ...string) []object {
	var list []object
	for _, name := range names {
		list = append(list, object{"name": name})
	}
	return list
}

// world is a network whose proposals and grants are each read by two sources,
// in this order: texts, drafts, grants, board.
type world struct {
	t        testing.TB
	store    *sqlstore.Store
	pipeline *ingest.Pipeline
	grants   *harbour
	hub      *hub
}

func grantText(title, label string) string {
	return fmt.Sprintf("# Grant proposal: %s\n\n**Author:** Ada Quay\n**Label:** %s\n\n## Abstract\n\n%s\n", title, label,
		strings.Repeat("The keepers of the "+strings.ToLower(title)+" ask for oil and a dry shed. ", 8))
}

func newWorld(t testing.TB) *world {
	h := &hub{projects: map[string]*project{}, blobs: map[string]string{}, size: 2, left: -1, board: object{
		"owner": "causeway", "number": 4.0, "items": []any{}}}
	column := func(number int, name string) {
		h.board["items"] = append(h.board["items"].([]any), object{"content": object{"number": number,
			"repository": object{"nameWithOwner": "causeway/grants"}}, "fieldValueByName": object{"name": name}})
	}
	fund := newHarbour(t, h, "causeway/grants")
	fund.Commit("Start", map[string]string{"README.md": "# Grants"})
	at := fund.Clock
	// 2 is merged, and its commit says so.
	fund.pull(2, false, "proposals/lamps.md", grantText("Lamps", "Tooling"), object{"state": "closed",
		"labels": labelled("Security", "tooling"), "created_at": stamp(at, time.Minute), "merged_at": stamp(at, 90*time.Hour),
		"closed_at": stamp(at, 90*time.Hour), "merge_commit_sha": "7a"})
	fund.Commit("Lamps (#2)", map[string]string{"proposals/lamps.md": grantText("Lamps", "Tooling")})
	// 3 is merged, and no commit says so.
	fund.pull(3, false, "proposals/ropes.md", grantText("Ropes", "TBD"), object{"state": "closed",
		"labels": labelled("Security"), "merged_at": stamp(at, 200*time.Hour), "closed_at": stamp(at, 200*time.Hour)})
	fund.Commit("Ropes", map[string]string{"proposals/ropes.md": grantText("Ropes", "TBD")})
	// 4 is open and in conflict with the branch.
	fund.pull(4, false, "proposals/oars.md", grantText("Oars", "TBD"), object{"labels": labelled("Wallets")})
	// 5 was closed long after its last commit.
	fund.pull(5, false, "proposals/nets.md", grantText("Nets", "TBD"), object{"state": "closed",
		"labels": labelled("Wallets"), "closed_at": stamp(at, 900*time.Hour)})
	fund.pull(6, true, "proposals/sails.md", grantText("Sails", "Tooling"), nil)
	column(2, "Funded")
	column(4, "In review")
	fund.push()

	cwps := newHarbour(t, h, "causeway/proposals")
	text := func(title, status string) string {
		return fmt.Sprintf("<pre>\n  Title: %s\n  Author: Ada Quay\n  Status: %s\n  Type: Process\n</pre>\n\n"+
			"## Abstract\n\n%s\n", title, status, strings.Repeat("The keepers of "+title+" have a duty at dusk. ", 12))
	}
	cwps.Commit("Start", map[string]string{"README.md": "# Proposals"})
	cwps.pull(1, false, "cwp-0001/cwp-0001.md", text("Tides", "Final"), object{"state": "closed",
		"merged_at": stamp(cwps.Clock, time.Hour)})
	cwps.Commit("Tides (#1)", map[string]string{"cwp-0001/cwp-0001.md": text("Tides", "Final")})
	cwps.pull(2, false, "cwp-buoys/cwp-buoys.md", text("Buoys", "Draft"), object{"labels": labelled("Needs champion")})
	cwps.pull(3, false, "cwp-piers/cwp-piers.md", text("Piers", "Draft"), object{"state": "closed",
		"closed_at": stamp(cwps.Clock, time.Hour)})
	cwps.push()

	url := serve(t, h).URL
	source := func(name, connector, kind string, given map[string]any) network.Source {
		if given["kind"] = kind; kind == "grant" {
			given["paths"] = []string{"proposals/**"}
		}
		return network.Source{Name: name, Kind: connector, Options: options.Of(given)}
	}
	git := func(name, kind string, r *harbour) network.Source {
		return source(name, "proposals", kind, map[string]any{"repository": r.Dir, "name": r.name,
			"url": map[string]any{"pull": "https://forge.example.org/{repo}/pull/{number}"}})
	}
	api := func(name, kind string, r *harbour, board any) network.Source {
		return source(name, "forge-proposals", kind, map[string]any{"api": url, "board": board,
			"token_env": "CAUSEWAY_FORGE_TOKEN", "repository": r.name})
	}
	n := connectortest.Causeway
	n.Sources = []network.Source{git("texts", "cip", cwps), api("drafts", "cip", cwps, nil), git("grants", "grant", fund),
		api("board", "grant", fund, map[string]any{"owner": "causeway", "number": 4})}

	dir := t.TempDir()
	now := func() time.Time { return connectortest.Now }
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &world{t, store, ingest.New(ingest.Config{Store: store, Network: n, Now: now, WorkDir: dir,
		HTTP:       connectortest.Client(t),
		Connectors: ingest.Kinds(proposal.Kind, forge.Proposals)}), fund, h}
}

// sync runs the named sources, all if there are no names.
func (w *world) sync(names ...string) {
	w.t.Helper()
	reports, err := w.pipeline.Sync(w.t.Context(), names)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range reports {
		if r.Skipped > 0 {
			w.t.Errorf("%s: %v", r.Source, r.Problems)
		}
	}
}

func (w *world) records(kind catalog.Kind) []catalog.Record {
	w.t.Helper()
	list, _, err := w.store.List(w.t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{kind}, Order: catalog.ByKey})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *world) events(kind catalog.Kind) []catalog.Event {
	w.t.Helper()
	events, err := w.store.Events(w.t.Context(), catalog.EventQuery{Ref: catalog.Ref{Kind: kind}})
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// state is what is known of proposals, drafts and grants, a line each.
func (w *world) state() []string {
	w.t.Helper()
	var lines []string
	for _, r := range w.records(catalog.KindGrant) {
		d := connectortest.Data[catalog.Grant](w.t, r)
		lines = append(lines, fmt.Sprintf("%s of %s: %s %s merged=%t board=%q category=%q labels=%q tags=%q first=%t", r.Key,
			r.Source, r.State, d.Pull.State, d.Merged, d.BoardStatus, r.Category, d.Labels, r.Tags, d.Pull.FirstCommit != ""))
	}
	for _, r := range w.records(catalog.KindCIP) {
		d := connectortest.Data[catalog.CIP](w.t, r)
		lines = append(lines, fmt.Sprintf("%s of %s: %s %s tags=%q", r.Key, r.Source, r.State, d.RawStatus, r.Tags))
	}
	return lines
}

var known = []string{
	`2 of grants: closed merged merged=true board="Funded" category="tooling" labels=["tooling" "security"] ` +
		`tags=["label:security" "label:tooling"] first=true`,
	`3 of grants: closed merged merged=true board="" category="security" labels=["security"] ` +
		`tags=["label:security"] first=true`,
	`4 of grants: open open merged=false board="In review" category="wallets" labels=["wallets"] ` +
		`tags=["label:wallets"] first=true`,
	`5 of grants: closed closed merged=false board="" category="wallets" labels=["wallets"] ` +
		`tags=["label:wallets"] first=true`,
	`6 of grants: open open merged=false board="" category="tooling" labels=["tooling"] tags=["label:tooling"] first=true`,
	`CWP-0001 of texts: Final Final tags=["status:final" "type:process"]`,
	`PR-2 of texts: Draft open tags=["label:needs champion" "status:open" "type:process"]`,
	`PR-3 of texts: Withdrawn closed tags=["status:closed" "type:process"]`,
}

// TestARepositoryReadTwice reads repositories with git and through the API, in
// every order: what only the forge knows is there, and each event once.
func TestARepositoryReadTwice(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string][][]string{
		"in order":               {nil},
		"git alone first":        {{"texts", "grants"}, nil},
		"the forge first":        {{"drafts", "board"}, nil},
		"again and again, mixed": {{"board"}, {"texts"}, {"drafts"}, {"grants"}, {"board"}, {"drafts"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, names := range runs {
				w.sync(names...)
			}
			if diff := cmp.Diff(known, w.state()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var events []string
			for _, e := range w.events(catalog.KindGrant) {
				events = append(events, fmt.Sprintf("%s %s %s", e.Ref.Key, e.To, e.At.Format("01-02 15:04")))
			}
			if diff := cmp.Diff([]string{
				"5 closed 02-09 00:00", "3 merged 01-10 20:00", "6 open 01-09 13:00", "5 open 01-08 13:00",
				"4 open 01-07 13:00", "2 merged 01-06 06:00", "3 open 01-05 13:00", "2 open 01-02 12:01",
			}, events); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			if n := len(w.events(catalog.KindCIP)); n != 1 {
				t.Errorf("%d events of proposals", n)
			}
			w.figures()
			before, err := w.store.LastChange(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w.sync()
			if after, err := w.store.LastChange(t.Context()); err != nil || after != before {
				t.Errorf("another sync moved the change log from %d to %d, %v", before, after, err)
			}
		})
	}
}

// figures checks what is computed from the grants.
func (w *world) figures() {
	w.t.Helper()
	labels := map[string]string{} // label → outcomes
	for _, r := range w.records(catalog.KindGrant) {
		d, err := catalog.Decode[catalog.Grant](r)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, tag := range r.Tags {
			if label, ok := strings.CutPrefix(tag, catalog.TagLabel+":"); ok {
				labels[label] += d.Outcome(r.State) + " "
			}
		}
	}
	if labels["security"] != "merged merged " || labels["wallets"] != "open closed " &&
		labels["wallets"] != "closed open " {
		w.t.Errorf("labels %v", labels)
	}
	to := map[string]int{}
	for _, e := range w.events(catalog.KindGrant) {
		to[e.To]++
	}
	if to["open"] != 5 || to["merged"] != 2 || to["closed"] != 1 {
		w.t.Errorf("changes of state %v", to)
	}
}

// TestTheSourcesOfARepositoryGoOn changes the repository in turns: neither source
// drops what the other knows.
func TestTheSourcesOfARepositoryGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sync()
	w.grants.pull(7, true, "proposals/anchors.md", grantText("Anchors", "TBD"), object{"labels": labelled("Security")})
	w.grants.Commit("Better lamps",
		map[string]string{"proposals/lamps.md": grantText("Lamps", "Tooling") + "\nBrighter.\n"})
	w.sync("grants")
	if diff := cmp.Diff(known[:5], w.state()[:5]); diff != "" {
		t.Errorf("after git alone (-want +got)\n%s", diff)
	}
	w.hub.change(func() {
		w.grants.push()
		i := slices.IndexFunc(w.grants.api.Pulls, func(o object) bool { return o["number"] == 5 })
		w.grants.api.Pulls[i]["labels"] = []object{} // a maintainer took it away
		w.hub.board["items"] = w.hub.board["items"].([]any)[:1]
	})
	w.sync("board")
	want := slices.Clone(known[:5])
	want[2] = strings.Replace(want[2], `"In review"`, `""`, 1)
	want[3] = `5 of grants: closed closed merged=false board="" category="" labels=[] tags=[] first=true`
	want = append(want, `7 of grants: open open merged=false board="" category="security" labels=["security"] `+
		`tags=["label:security"] first=true`)
	if diff := cmp.Diff(want, w.state()[:6]); diff != "" {
		t.Errorf("after the forge (-want +got)\n%s", diff)
	}
	if lamps := w.get("2"); !strings.Contains(lamps.Body, "Brighter.") {
		t.Error("the text is not that of git")
	}
}

func (w *world) get(key string) catalog.Record {
	w.t.Helper()
	r, err := w.store.Get(w.t.Context(), catalog.Ref{Kind: catalog.KindGrant, Key: key})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// TestWhatTheForgeKnewGoesWithIt takes a source away: its facts and events go,
// and what git says is there again.
func TestWhatTheForgeKnewGoesWithIt(t *testing.T) {
	t.Parallel()
	alone, w := newWorld(t), newWorld(t)
	alone.sync("texts", "grants")
	w.sync()
	for _, source := range []string{"drafts", "board"} {
		live, err := w.store.LiveKeys(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		b := catalog.Batch{Source: source}
		for _, id := range live {
			b.Delete = append(b.Delete, id)
		}
		if _, err := w.store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(alone.state(), w.state()); diff != "" {
		t.Errorf("(-git alone +without the forge)\n%s", diff)
	}
	if diff := cmp.Diff(alone.events(catalog.KindGrant), w.events(catalog.KindGrant)); diff != "" {
		t.Errorf("events (-git alone +without the forge)\n%s", diff)
	}
}
