package forge_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/forge"
	"almanac/testing/connectortest"
)

func drafts(t testing.TB, api string, more map[string]any) connectortest.Config {
	options := map[string]any{
		"api": api, "token_env": "CAUSEWAY_FORGE_TOKEN", "repository": "causeway/proposals",
		"exclude": []string{"**template*"}, "bots": []string{"causeway-ci"},
	}
	maps.Copy(options, more)
	return connectortest.Config{Kind: forge.Proposals, Options: options}
}

func grants(t testing.TB, api string, more map[string]any) connectortest.Config {
	options := map[string]any{
		"repository": "causeway/grants", "kind": "grant", "paths": []string{"proposals/**"},
		"exclude": []string{"**/_template.md"}, "bulk_pulls": []int{4},
		"board": map[string]any{"owner": "causeway", "number": 4},
	}
	maps.Copy(options, more)
	return drafts(t, api, options)
}

func TestReadsDrafts(t *testing.T) {
	t.Parallel()
	s := connectortest.NewSource(t, drafts(t, serve(t, newHub(t)).URL, nil))
	got := s.Sync()
	want := []string{
		"cip CWP-0007", "cip CWP-0009", "cip PR-4", "cip PR-5",
		"comment causeway/proposals#discussion_r711", "comment causeway/proposals#issuecomment-701",
		"comment causeway/proposals#issuecomment-703",
	}
	if diff := cmp.Diff(want, got.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if !got.Complete || got.Skipped != 0 {
		t.Errorf("complete %t, problems:\n%s", got.Complete, problems(got))
	}
	draft := got.Get(t, catalog.KindCIP, "PR-4")
	data := connectortest.Data[catalog.CIP](t, draft)
	for what, pair := range map[string][2]any{
		"title":     {draft.Title, "Second Gauge"},
		"state":     {draft.State, "Draft"},
		"raw":       {data.RawStatus, "open"},
		"url":       {draft.URL, "https://forge.example.org/causeway/proposals/pull/4"},
		"path":      {draft.Path, "cwp-second-gauge/cwp-second-gauge.md"},
		"container": {draft.Container, "causeway/proposals"},
		"author":    {draft.Author, "Ada Quay"},
		"tags":      {draft.Tags, []string{"label:needs-champion", "status:open", "type:standards track"}},
		"created":   {draft.CreatedAt, date("2031-01-05T00:00:00Z")},
		"activity":  {draft.LastActivityAt, date("2031-05-20T08:00:00Z")},
		"pull state": {[]string{data.Pull.State, data.Pull.Author, data.Pull.MergedAt},
			[]string{"open", "ada-quay", ""}},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s of the draft (-want +got)\n%s", what, diff)
		}
	}
	if closed := got.Get(t, catalog.KindCIP, "PR-5"); closed.State != "Withdrawn" {
		t.Errorf("a draft that was closed is %s", closed.State)
	}
	numbered := got.Get(t, catalog.KindCIP, "CWP-0007")
	if numbered.State != "Final" || !strings.Contains(numbered.Body, "keeps still between two tides") ||
		!numbered.UpdatedAt.Equal(date("2031-02-02T08:00:00Z")) ||
		numbered.URL != "https://forge.example.org/causeway/proposals/blob/main/cwp-0007/cwp-0007.md" {
		t.Errorf("the numbered proposal: %+v", numbered)
	}
	for _, alias := range []string{"PR-1", "PR-2", "PR-3"} { // added, renumbered, changed
		if rec, err := s.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: alias}); err != nil ||
			rec.Key != "CWP-0007" {
			t.Errorf("%s leads to %q, %v", alias, rec.Key, err)
		}
	}
	for comment, parent := range map[string]string{"issuecomment-703": "CWP-0007", "issuecomment-701": "PR-4",
		"discussion_r711": "PR-4"} {
		if got.Get(t, catalog.KindComment, "causeway/proposals#"+comment).Parent != got.Get(t, catalog.KindCIP,
			parent).ID {
			t.Errorf("%s is not about %s", comment, parent)
		}
	}
	connectortest.Unchanged(t, s, got)
}

// A proposal is found by the number in its header and by its folder, as by
// package proposals, and what is not read is said.
func TestProposalsOfAnyLayout(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	texts := map[string]string{
		"cwps/0011-gauges/README.md": "---\ncwp: 11\ntitle: Gauges\nstatus: Final\n---\n\n## Abstract\n\nGauges.\n",
		"cwps/0011-gauges/annex.md":  "# Annex\n",
		"cwps/tide-tables.rst": "CWP: 12\nTitle: Tide\n  tables\nAuthor: Ada Quay <ada@causeway.example>\nStatus: Final\n" +
			"\nAbstract\n========\n\nTables of ``tides``.\n",
		"cwps/tide-tables-again.md": "---\ncwp: 12\ntitle: Tide tables\n---\n",
		"cwps/notes.md":             "# Notes\n",
		"cwps/gauge.png":            "png",
	}
	h.change(func() {
		p := h.projects["causeway/proposals"]
		for file, text := range texts {
			sha := fmt.Sprintf("%040x", len(text))
			h.blobs[sha] = text
			p.Tree["tree"] = append(p.Tree["tree"].([]any), object{"path": file, "type": "blob", "sha": sha})
		}
	})
	s := connectortest.NewSource(t, drafts(t, serve(t, h).URL, map[string]any{"paths": []string{"cwps/**"}}))
	got := s.Sync()
	if rec := got.Get(t, catalog.KindCIP, "CWP-0011"); rec.Title != "Gauges" || rec.Path != "cwps/0011-gauges/README.md" {
		t.Errorf("%+v", rec)
	}
	if rec := got.Get(t, catalog.KindCIP, "CWP-0012"); rec.Title != "Tide tables" || rec.Author != "Ada Quay" ||
		!strings.Contains(rec.Body, "\n## Abstract\n\nTables of `tides`.") {
		t.Errorf("%+v", rec)
	}
	want := "cwps/gauge.png: not read: its format is not one of those of proposals: .md, .markdown, .mediawiki, .rst, " +
		".txt\ncwps/notes.md: not read: it has no number: neither its header nor its name or folder says one\n" +
		"cwps/tide-tables-again.md: not read: a second file of CWP-0012 beside cwps/tide-tables.rst\n"
	if diff := cmp.Diff(want, problems(got)); diff != "" || got.Skipped != 3 {
		t.Errorf("skipped %d (-want +got)\n%s", got.Skipped, diff)
	}
}

func TestAMergedDraftBecomesAnAlias(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	s := connectortest.NewSource(t, drafts(t, serve(t, h).URL, nil))
	s.Sync()
	h.change(func() {
		p := h.projects["causeway/proposals"]
		i := slices.IndexFunc(p.Pulls, func(o object) bool { return o["number"] == 4.0 })
		p.Pulls[i]["state"], p.Pulls[i]["merged_at"], p.Pulls[i]["updated_at"] = "closed", "2031-06-02T08:00:00Z",
			"2031-06-02T08:00:00Z"
		file := p.Files["4"][0]
		p.Tree["tree"] = append(p.Tree["tree"].([]any),
			object{"path": "cwp-0010/cwp-0010.md", "type": "blob", "sha": file["sha"]})
		file["filename"] = "cwp-0010/cwp-0010.md" // it got its number before it was merged
	})
	got := s.Sync()
	if slices.Contains(got.Keys(), "cip PR-4") || !slices.Contains(got.Keys(), "cip CWP-0010") {
		t.Fatalf("%v\n%s", got.Keys(), problems(got))
	}
	if rec, err := s.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: "PR-4"}); err != nil ||
		rec.Key != "CWP-0010" {
		t.Errorf("PR-4 leads to %q, %v", rec.Key, err)
	}
	if got.Get(t, catalog.KindComment, "causeway/proposals#issuecomment-701").Parent != got.Get(t, catalog.KindCIP,
		"CWP-0010").ID {
		t.Error("what was said about the draft is not about the proposal it became")
	}
	connectortest.Unchanged(t, s, got)
}

func TestReadsGrants(t *testing.T) {
	t.Parallel()
	s := connectortest.NewSource(t, grants(t, serve(t, newHub(t)).URL, nil))
	got := s.Sync()
	want := []string{"comment causeway/grants#issuecomment-601", "proposal 2", "proposal 2/proposals/shared-gauge.md",
		"proposal 3", "proposal 5"}
	if diff := cmp.Diff(want, got.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	merged := got.Get(t, catalog.KindGrant, "2")
	main := got.Get(t, catalog.KindGrant, "2/proposals/shared-gauge.md")
	if main.Parent != merged.ID || !strings.Contains(main.Body, "240,000") ||
		main.URL != "https://forge.example.org/causeway/grants/blob/main/proposals/shared-gauge.md" {
		t.Errorf("a further file: %+v", main)
	}
	open := got.Get(t, catalog.KindGrant, "3")
	wantOpen := catalog.Grant{
		Number: 3, BoardStatus: "In review", RawStatus: "Submitted", Labels: []string{"wallet", "needs review"},
		Funding:    "90,000 TLY",
		Milestones: []catalog.Milestone{{Number: "1", Title: "Plans"}, {Number: "2", Title: "A gauge"}},
		Cites:      []string{"CWP-0007"},
		Files:      []string{"proposals/tide-wallet.md"},
	}
	data := connectortest.Data[catalog.Grant](t, open)
	wantOpen.Pull = data.Pull
	if diff := cmp.Diff(wantOpen, data); diff != "" {
		t.Errorf("open grant (-want +got)\n%s", diff)
	}
	if open.State != "open" || open.Category != "wallet" ||
		open.URL != "https://forge.example.org/causeway/grants/pull/3" || open.Author != "Jonas Reef" ||
		!slices.Contains(open.Tags, "label:needs review") {
		t.Errorf("open grant %+v", open)
	}
	data = connectortest.Data[catalog.Grant](t, merged)
	if merged.State != "closed" || !data.Merged || data.BoardStatus != "Funded" ||
		!slices.Contains(data.Labels, "approved") || data.Pull.State != "merged" ||
		data.Pull.MergedAt != "2031-03-01T08:00:00Z" {
		t.Errorf("merged grant %+v %+v", merged, data)
	}
	if rejected := connectortest.Data[catalog.Grant](t, got.Get(t, catalog.KindGrant, "5")); rejected.Merged ||
		rejected.BoardStatus != "" || rejected.Pull.State != "closed" {
		t.Errorf("closed grant %+v", rejected)
	}
	events, err := s.Store.Events(t.Context(),
		catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindGrant}, Field: "state"})
	if err != nil {
		t.Fatal(err)
	}
	wantChanges := []string{"5 open>closed 04-06", "5 >open 04-05", "3 >open 04-01", "2 open>merged 03-01",
		"2 >open 02-01"}
	var changes []string
	for _, e := range events {
		changes = append(changes, e.Ref.Key+" "+e.From+">"+e.To+e.At.Format(" 01-02"))
	}
	if diff := cmp.Diff(wantChanges, changes); diff != "" {
		t.Errorf("changes of state (-want +got)\n%s", diff)
	}
	connectortest.Unchanged(t, s, got)
}

// TestNamesAreAddedToTheProposalsOfAnotherSource: the numbered proposals come
// from a source before the forge in the network file, as from a clone.
func TestNamesAreAddedToTheProposalsOfAnotherSource(t *testing.T) {
	t.Parallel()
	s := connectortest.NewSource(t, drafts(t, serve(t, newHub(t)).URL, nil))
	open := func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) { return cloned{}, nil }
	p := ingest.New(ingest.Config{Store: s.Store, Network: connectortest.Causeway, WorkDir: t.TempDir(),
		Now: func() time.Time { return s.Clock }, Connectors: ingest.Registry{"clone": ingest.Constructor(open)}})
	if err := p.Run(t.Context(), network.Source{Name: "clone", Kind: "clone"}).Err; err != nil {
		t.Fatal(err)
	}
	got := s.Sync()
	rec := got.Get(t, catalog.KindCIP, "CWP-0007")
	if rec.Source != "clone" || rec.Title != "Quiet Hours, from the clone" || got.Foreign != 1 {
		t.Errorf("%d foreign, %+v", got.Foreign, rec)
	}
	if rec, err := s.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: "PR-3"}); err != nil ||
		rec.Source != "clone" {
		t.Errorf("PR-3 leads to %+v, %v", rec, err)
	}
	connectortest.Unchanged(t, s, got)
}

// cloned yields one numbered proposal.
type cloned struct{}

func (cloned) Sync(ctx context.Context, _ []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	return nil, ingest.Outcome{Complete: true}, out.Put(ctx, catalog.Entry{Record: catalog.Record{
		Kind: catalog.KindCIP, Key: "CWP-0007", Title: "Quiet Hours, from the clone", Body: "Text.",
	}})
}

func TestBadProposalOptions(t *testing.T) {
	tests := []struct {
		options map[string]any
		want    string
	}{
		{map[string]any{}, "the option repository is missing"},
		{map[string]any{"repository": "a/b", "kind": "grants"}, `did you mean "grant"?`},
		{map[string]any{"repository": "a/b", "board": map[string]any{"owner": "a"}},
			"board: the option number is missing"},
		{map[string]any{"repository": "a/b", "board": map[string]any{"owner": "a", "number": 1, "colum": "x"}},
			"unknown option"},
	}
	for _, tt := range tests {
		err := connectortest.Open(forge.Proposals, tt.options)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.options, err, tt.want)
		}
	}
}

func TestABoardOutOfReach(t *testing.T) {
	t.Parallel()
	server := serve(t, newHub(t))
	s := connectortest.NewSource(t, grants(t, server.URL,
		map[string]any{"board": map[string]any{"owner": "causeway", "number": 99}}))
	got := s.Sync()
	if len(got.Records) != 5 || !strings.Contains(problems(got), "read:project") {
		t.Errorf("%v\n%s", got.Keys(), problems(got))
	}
	s = connectortest.NewSource(t, grants(t, server.URL, nil))
	s.Sync()
	server.Fault("/graphql", -1, connectortest.Status(502))
	if got := s.Try(t.Context()); got.Err == nil || got.Updated != 0 {
		t.Errorf("a failing board removed the columns: %v, %d updated", got.Err, got.Updated)
	}
}
