package curated_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/curated"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a folder of files that tests change between syncs.
type folder map[string]string

func (f folder) Open(name string) (fs.File, error) {
	m := fstest.MapFS{}
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m.Open(name)
}

func source(t testing.TB, f folder) *connectortest.Source {
	return connectortest.NewSource(t, connectortest.Config{Kind: curated.Kind, Files: f})
}

// whole is a folder with one entry or two of every kind.
func whole() folder {
	return folder{
		"curated/projects.yaml": `
- slug: ferryline
  title: Ferryline
  description: Tickets that can be given away.
  category: consumer
  organisation: Spindrift Studio
  url: https://example.org/ferryline
  status: live
  tags: [tickets]
  repos: [spindrift/ferryline]
  packages: ["@spindrift/ferryline"]
  sdks: ["@causeway/client@2.6.1", sedge]
  apps: [00aa01]
  seeks: [wallet]
  implements: [CWP-7, PR-30]
  grants: [104]
  links: [{title: Docs, url: "https://example.org/ferryline/docs"}]
  verified: 2031-05-20
  text: Written in Sedge.
`,
		"curated/projects.csv": "title,description,category,tags\nTide Table,\"Says when, and how " +
			"high.\",data,tides;moon\n",
		"curated/apps.yaml": "- {provider: 'ferry::1220aa', name: Ferry tickets, category: consumer, description: " +
			"Buy one., url: 'https://example.org/ferryline', project: ferryline}\n",
		"curated/radar.yml": `
- title: Node 2.5 ends
  level: Important
  deadline: 2031-10-15
  announced: 2031-05-01
  affected: [node]
  versions: ["2.5.0"]
  action: Upgrade.
  url: https://example.org/2-5
  text: No more fixes. See CWP-9.
- {title: Gateway goes, level: ecosystem, deadline: third quarter, text: It goes.}
- {title: Switch, level: critical, deadline: '2031-07-01T14:00:00Z', text: It is switched.}
`,
		"curated/deprecations.csv": "name,category,replacement,since,install,note,patterns,state\n" +
			"GetTransactions,api,GetUpdates,2.3.0,,Read the types.,GetTransactions;getTransactions,\ncway " +
			"balance,cli,cway holdings,,npm i x,,,\nGetUpdates,api,,,,,,current\n",
		"curated/faq.yaml": "- {question: 'How long, until final?', answer: Two seconds., category: general, order: " +
			"1, tags: [finality], related: [{title: X, url: 'https://example.org/x'}]}\n",
		"curated/evm.yaml": "- concept: ERC-20\n  equivalent: Token standard (CWP-7).\n  aliases: [fungible token]\n " +
			" text: Four interfaces.\n  differences: [Consent comes first.]\n  evm_example: |\n    transfer(a, 1)\n  " +
			"example: use ```x```\n",
		"curated/apis.yaml": "- slug: grpc-ledger-api\n  title: gRPC Ledger API\n  description: Commands and " +
			"updates.\n  protocol: grpc\n  ports: [{number: 6401, purpose: gRPC}]\n" +
			"  endpoints: [{path: /v2}]\n  services: [{name: CommandService, description: submits, methods: " +
			"[Submit]}]\n",
		"curated/tool-servers.yaml": "- {title: Docs, purpose: Searches., endpoint: 'https://tools.example.org/mcp', " +
			"transport: http, connect: Add it., hosted: true, free: true, auth: none, tools: [search]}\n",
		"curated/onboarding.yaml": "- background: sui/move\n  text: Objects, but private.\n  steps:\n    - {title: " +
			"Tour, text: the language, kind: doc, key: docs/tour.md, minutes: 30}\n    - {title: Forum, url: " +
			"'https://forum.example.org'}\n",
		"curated/partners.yaml": "- {title: Tidegate, description: Payments., product: Tidegate 2, facts: " +
			"[{category: version, key: node, value: '2.6', as_of: 2031-05-01}], endpoints: [{method: POST, path: " +
			"/v1/payments, description: pay}]}\n",
		"curated/foundation.yaml": "- {slug: figures, title: In figures, section: About, url: " +
			"'https://www.example.org', updated: 2031-05-17, text: Thirteen., facts: [{category: network, key: " +
			"super_validators, value: '13', as_of: 2031-05-17}]}\n",
		"curated/README.md":      "Not read.",
		"curated/old/radar.yaml": "not read either",
	}
}

func TestRecords(t *testing.T) {
	s := source(t, whole())
	r := s.Sync()
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Locator, p.Message)
	}
	want := []string{
		"api_reference grpc-ledger-api", "deprecation cway-balance", "deprecation gettransactions",
		"deprecation getupdates", "evm_mapping erc-20", "faq how-long-until-final",
		"foundation figures", "onboarding sui-move", "partner tidegate", "project ferryline", "project tide-table",
		"radar gateway-goes", "radar node-2-5-ends", "radar switch", "tool_server docs",
	}
	if diff := cmp.Diff(want, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	links := func(rec catalog.Record) (out []string) {
		list, err := s.Store.LinksFrom(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range list {
			out = append(out, string(l.Relation)+" "+l.To.String())
		}
		slices.Sort(out)
		return out
	}

	ferry := r.Get(t, catalog.KindProject, "ferryline")
	if ferry.Category != "consumer" || ferry.Summary != "Tickets that can be given away." || ferry.State != "live" ||
		ferry.Path != "curated/projects.yaml" ||
		!strings.Contains(ferry.Body, "Written in Sedge.") ||
		!strings.Contains(ferry.Body, "Builds on: @causeway/client@2.6.1, sedge.") {
		t.Errorf("%+v", ferry)
	}
	labelled := map[string][]string{"tickets": ferry.Tags, "tides": r.Get(t, catalog.KindProject, "tide-table").Tags,
		"finality": r.Get(t, catalog.KindFAQ, "how-long-until-final").Tags}
	for label, tags := range labelled {
		if !slices.Contains(tags, catalog.Tag(catalog.TagLabel, label)) {
			t.Errorf("label %q is not among the tags %q", label, tags)
		}
	}
	project := catalog.Project{
		Organisation: "Spindrift Studio", Repos: []string{"spindrift/ferryline"},
		Packages: []string{"@spindrift/ferryline"},
		SDKs:     []catalog.Dependency{{Name: "@causeway/client", Version: "2.6.1"}, {Name: "sedge"}},
		Apps:     []string{"00aa01", "ferry::1220aa"}, Seeks: []string{"wallet"},
		Links: []catalog.NamedLink{{Title: "Docs", URL: "https://example.org/ferryline/docs"}}, Verified: "2031-05-20",
	}
	if diff := cmp.Diff(project, connectortest.Data[catalog.Project](t, ferry)); diff != "" {
		t.Errorf("project (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"implements cip CWP-0007", "implements cip PR-30", "references app 00aa01", "references app ferry::1220aa",
		"references proposal 104", "references repo spindrift/ferryline",
	}, links(ferry)); diff != "" {
		t.Errorf("links (-want +got)\n%s", diff)
	}
	tide := connectortest.Data[catalog.Project](t, r.Get(t, catalog.KindProject, "tide-table"))
	if tide.Repos == nil || tide.SDKs == nil || tide.Apps == nil || tide.Links == nil {
		t.Errorf("a list is nil: %+v", tide)
	}

	ends := r.Get(t, catalog.KindRadar, "node-2-5-ends")
	if ends.Category != "important" || ends.EndsAt.Format(time.RFC3339) != "2031-10-15T23:59:59Z" ||
		ends.CreatedAt.Format(time.DateOnly) != "2031-05-01" {
		t.Errorf("%+v", ends)
	}
	if diff := cmp.Diff([]string{"mentions cip CWP-0009"}, links(ends)); diff != "" {
		t.Errorf("radar links (-want +got)\n%s", diff)
	}
	words, at := r.Get(t, catalog.KindRadar, "gateway-goes"), r.Get(t, catalog.KindRadar, "switch")
	if !words.EndsAt.IsZero() || connectortest.Data[catalog.Radar](t, words).Deadline != "third quarter" ||
		at.EndsAt.Format(time.RFC3339) != "2031-07-01T14:00:00Z" {
		t.Errorf("%+v\n%+v", words, at)
	}

	old, err := s.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDeprecation, Key: "GetTransactions"})
	if err != nil || old.Key != "gettransactions" || old.Title != "GetTransactions" ||
		old.State != catalog.ItemDeprecated || old.Category != "api" || old.Summary != "Read the types." {
		t.Errorf("%+v, %v", old, err)
	}
	if d := connectortest.Data[catalog.Deprecation](t,
		r.Get(t, catalog.KindDeprecation, "cway-balance")); d.Install != "npm i x" ||
		!slices.Equal(d.Patterns, []string{"cway balance"}) {
		t.Errorf("%+v", d)
	}
	if rec := r.Get(t, catalog.KindDeprecation, "getupdates"); rec.State != catalog.ItemCurrent ||
		len(connectortest.Data[catalog.Deprecation](t, rec).Patterns) != 0 {
		t.Errorf("%+v", rec)
	}

	faq := r.Get(t, catalog.KindFAQ, "how-long-until-final")
	if faq.Title != "How long, until final?" || faq.Body != "Two seconds." ||
		connectortest.Data[catalog.FAQ](t, faq).Order != 1 {
		t.Errorf("%+v", faq)
	}
	erc, err := s.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindEVMMapping, Key: "fungible token"})
	if err != nil || erc.Key != "erc-20" || !strings.Contains(erc.Body, "````\nuse ```x```\n````") {
		t.Errorf("%s, %v", erc.Body, err)
	}
	api := r.Get(t, catalog.KindAPIReference, "grpc-ledger-api")
	if !strings.Contains(api.Body, "6401: gRPC") || !strings.Contains(api.Body, "`CommandService`: submits (Submit)") {
		t.Error(api.Body)
	}
	tools := r.Get(t, catalog.KindToolServer, "docs")
	if !connectortest.Data[catalog.ToolServer](t, tools).Callable() ||
		!slices.Equal(tools.Tags, []string{"access:callable", "access:free", "access:hosted"}) {
		t.Errorf("%+v", tools)
	}
	path := r.Get(t, catalog.KindOnboarding, "sui-move")
	if path.Title != "Sui/Move" || len(connectortest.Data[catalog.Onboarding](t, path).Steps) != 2 ||
		!strings.Contains(path.Body, "Tour: the language") {
		t.Errorf("%+v", path)
	}
	if diff := cmp.Diff([]string{"references doc docs/tour.md"}, links(path)); diff != "" {
		t.Errorf("path links (-want +got)\n%s", diff)
	}
	if f := connectortest.Data[catalog.Foundation](t,
		r.Get(t, catalog.KindFoundation, "figures")); f.Section != "About" || len(f.Facts) != 1 ||
		f.Facts[0].AsOf != "2031-05-17" {
		t.Errorf("%+v", f)
	}
	if p := connectortest.Data[catalog.Partner](t,
		r.Get(t, catalog.KindPartner, "tidegate")); p.Product != "Tidegate 2" || len(p.Endpoints) != 1 ||
		p.Packages == nil {
		t.Errorf("%+v", p)
	}
	connectortest.Unchanged(t, s, r)
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		f := whole()
		return connectortest.Upstream{
			Config: connectortest.Config{Kind: curated.Kind, Files: f, Options: map[string]any{}},
			Change: func() { f["curated/faq.yaml"] = strings.Replace(f["curated/faq.yaml"], "Two", "Three", 1) },
			Drop: func(s *connectortest.Source) {
				for name, text := range whole() {
					f[strings.Replace(name, "curated/", "by-hand/", 1)] = text
				}
				delete(f, "by-hand/partners.yaml")
				s.Options["dir"] = "by-hand"
			},
		}
	})
}

// TestBadEntries: a bad entry is skipped and reported by every run; the records
// of its file stay in the catalog.
func TestBadEntries(t *testing.T) {
	f := whole()
	s := source(t, f)
	s.Sync()
	f["curated/radar.yml"] = strings.Replace(f["curated/radar.yml"], "level: Important", "level: importent", 1)
	for range 2 { // even if nothing has changed since
		r := s.Sync()
		if r.Skipped != 1 || r.Deleted != 0 || r.Problems[0].Locator != "curated/radar.yml:3" ||
			r.Problems[0].Message != `level: unknown value "importent"; did you mean "important"?` {
			t.Errorf("%d deleted, %+v", r.Deleted, r.Problems)
		}
		r.Get(t, catalog.KindRadar, "node-2-5-ends")
	}
	tests := map[string]struct{ file, text, at, want string }{
		"twice": {"faq.yaml", "- {question: A b, answer: x}\n- {question: A B, answer: y}\n", ":2",
			`"a-b" is a duplicate; the first is at curated/faq.yaml:1; give this entry another slug`},
		"no slug": {"faq.yaml", "- {question: '???', answer: x}\n", ":1",
			"no slug can be made from its title; add one"},
		"proposal": {"projects.yaml", "- {title: A, description: B, implements: [ERC-20]}\n", ":1",
			`implements: "ERC-20" is not an improvement proposal; write CWP-0056 or PR-203`},
		"step": {"onboarding.yaml", "- {background: EVM, text: x, steps: [{title: A, kind: docs, key: b}]}\n",
			":1", `steps[1]: kind: unknown kind "docs"; did you mean "doc"?`},
		"half a step": {"onboarding.yaml", "- {background: EVM, text: x, steps: [{title: A, kind: doc}]}\n", ":1",
			"steps[1]: want both kind and key; they name the record to read"},
		"no steps": {"onboarding.yaml", "- {background: EVM, text: x}\n", ":1", "has no steps"},
		"port": {"apis.yaml", "- {slug: a, title: A, description: B, ports: [{number: 70000}]}\n", ":1",
			"ports: 70000 is not a port; want 1 to 65535"},
		"hosted": {"tool-servers.yaml",
			"- {title: A, purpose: B, transport: http, connect: C, hosted: true, free: true}\n", ":1",
			"has no endpoint, which a hosted server needs"},
		"stdio": {"tool-servers.yaml",
			"- {title: A, purpose: B, transport: stdio, connect: C, hosted: true, free: true, endpoint: " +
				"'https://example.org'}\n", ":1", "has an endpoint; with transport stdio it is started, not called"},
		"current": {"deprecations.csv", "name,category,state,replacement\nA,api,current,B\n", ":2",
			"state: is current, but the item is replaced or removed"},
		"date of fact": {"foundation.yaml",
			"- {title: A, text: B, facts: [{category: a, key: k, value: v, as_of: yesterday}]}\n", ":1",
			`facts: as_of of k: "yesterday" is not a date: want one such as 2031-06-17`},
		"two apps": {"apps.yaml", "- {provider: 'a::1', name: A}\n- {provider: 'a::1', name: B}\n", ":2",
			"there is already an application of a::1; give each an id"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := source(t, folder{"curated/" + tt.file: tt.text}).Sync()
			if len(r.Problems) != 1 || r.Problems[0].Locator != "curated/"+tt.file+tt.at ||
				r.Problems[0].Message != tt.want {
				t.Errorf("%+v\nwant %s", r.Problems, tt.want)
			}
		})
	}
}

// TestBadFiles: a file that cannot be read fails the run, and everything
// stays.
func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"emptied": "", "cut": "- {question: A, answer: ",
		"merge": "<<<<<<< ours\n- {question: A, answer: B}\n=======\n", "other": "questions: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := whole()
			s := source(t, f)
			before := s.Sync()
			f["curated/faq.yaml"] = text
			f["curated/radar.yml"] = strings.Replace(f["curated/radar.yml"], "No more fixes.", "Changed.", 1)
			r := s.Try(t.Context())
			if r.Err == nil || !strings.Contains(r.Err.Error(), "curated/faq.yaml:") || r.Changes != 0 ||
				r.Cursor != before.Cursor {
				t.Errorf("%v, %d changes", r.Err, r.Changes)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	tests := map[string]struct {
		files   folder
		options map[string]any
		want    string
	}{
		"missing": {folder{"a.yaml": ""}, nil, "folder curated: file does not exist"},
		"empty": {folder{"curated/a.txt": ""}, nil,
			"folder curated has no curated file: write one of apps, projects"},
		"large": {folder{"curated/faq.yaml": strings.Repeat("\n", 8<<20+1)}, nil,
			"curated/faq.yaml: is larger than 8 MB"},
		"outside": {folder{}, map[string]any{"dir": "../x"},
			`dir: "../x" is not a path in the network's folder: want a relative one`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := connectortest.NewSource(t,
				connectortest.Config{Kind: curated.Kind, Files: tt.files, Options: tt.options})
			if r := s.Try(t.Context()); r.Err == nil || !strings.Contains(r.Err.Error(), tt.want) {
				t.Errorf("%v\nwant %s", r.Err, tt.want)
			}
		})
	}
	c, err := open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Sync(t.Context(), nil, nil); err == nil ||
		!strings.Contains(err.Error(), "folder curated: file does not exist") {
		t.Errorf("without a folder: %v", err)
	}
	r := source(t, folder{"curated/radars.yaml": "[]", "curated/notes.csv": "", "curated/faq.yaml": "[]"}).Sync()
	if r.Warned != 2 || r.Problems[1].Message != "is not a curated file; did you mean radar.yaml?" ||
		!strings.HasPrefix(r.Problems[0].Message, "is not a curated file; known are") {
		t.Errorf("%+v", r.Problems)
	}
	r = source(t, folder{"curated/apps.yaml": "- {provider: 'a::1', name: A, project: lost}\n"}).Sync()
	if r.Warned != 1 || !strings.Contains(r.Problems[0].Message,
		`A belongs to the project "lost", which does not exist`) {
		t.Errorf("%+v", r.Problems)
	}
}

// open makes a connector without a catalog.
func open(files fs.FS) (ingest.Connector[[]byte], error) {
	return ingest.Kinds(curated.Kind).Connector(network.Source{Kind: "curated"},
		ingest.Environment{Network: connectortest.Causeway, Files: files})
}

// putter checks the locators of skipped items and ignores warnings and progress.
type putter struct {
	ingest.Sink
	t *testing.T
}

func (p putter) Skip(locator string, err error) {
	if !strings.HasPrefix(locator, "curated/") || err == nil {
		p.t.Errorf("skipped %q: %v", locator, err)
	}
}
func (p putter) Warn(string, string) {}
func (p putter) Progress(int, int)   {}

// FuzzFiles reads any text as every kind of file: no panic, and every record can
// be stored.
func FuzzFiles(f *testing.F) {
	for file, text := range whole() {
		f.Add(strings.TrimPrefix(file, "curated/"), text)
	}
	f.Add("apps.csv", "provider,name\na,b\n")
	f.Add("faq.csv", "question;answer;tags\n\"a\nb\";c;x\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		if !fs.ValidPath("curated/"+name) || strings.Contains(name, "/") {
			return
		}
		c, err := open(folder{"curated/" + name: text})
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = c.Sync(t.Context(), nil, checked{putter{t: t}})
	})
}

// checked is a putter that normalizes every entry, as a store does.
type checked struct{ putter }

func (c checked) Put(_ context.Context, e catalog.Entry) error {
	if _, err := e.Normalize(); err != nil {
		c.t.Errorf("%s: %v", e.Record.Ref(), err)
	}
	return nil
}
