package api_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// now is the clock of the fixture.
var now = time.Date(2030, 5, 15, 12, 0, 0, 0, time.UTC)

// ago is a moment so many days before now.
func ago(days int) time.Time { return now.AddDate(0, 0, -days) }

// item is a record of the invented network of Tidewater, with its kind's data
// and what hangs on it.
type item struct {
	catalog.Record
	data    any
	parent  catalog.Ref
	aliases []string
	links   []catalog.Link
	votes   []catalog.Vote
}

func ref(kind catalog.Kind, key string) catalog.Ref { return catalog.Ref{Kind: kind, Key: key} }

// cites makes links to proposals.
func cites(relation catalog.Relation, keys ...string) []catalog.Link {
	var links []catalog.Link
	for _, k := range keys {
		links = append(links,
			catalog.Link{Relation: relation, To: ref(catalog.KindCIP, k), Snippet: "as " + k + " says"})
	}
	return links
}

// longText is longer than two answers hold, in characters of one to four bytes.
var longText = "# Almanac of tides\n\n" + strings.Repeat("Ebbe, flût, 潮汐 und 🌊 follow the moon. ", 3_000) + "The end."

// improvement proposals and their attachments; "cips" owns them.
func proposals() []item {
	cip := func(key, title, state, kind string, created int, d catalog.CIP, links ...catalog.Link) item {
		number := strings.TrimPrefix(key, "CIP-")
		d.RawStatus = cmp.Or(d.RawStatus, state)
		if number != key {
			d.Number = number
		}
		return item{Record: catalog.Record{Kind: catalog.KindCIP, Key: key, Title: title, State: state, Category: kind,
			Author: strings.Join(d.Authors, ", "),
			URL:    "https://forge.example/tide/cips/" + key, Path: "cips/" + strings.ToLower(key) + ".md",
			Container: "tide/cips",
			Tags:      []string{catalog.Tag(catalog.TagStatus, d.RawStatus), catalog.Tag(catalog.TagType, kind)},
			CreatedAt: ago(created), UpdatedAt: ago(created / 2), Body: key + ": " + title + "\n\n## Abstract\n\n" +
				title + " for the harbour.", Summary: "About " + strings.ToLower(title) + "."},
			data: d, links: links}
	}
	process := cip("CIP-0001", "Proposal process", "Final", "Process", 400,
		catalog.CIP{Authors: []string{"Ida Kelp"}, Created: "2029-04", TLDRAt: "2029-04-10T00:00:00+02:00"})
	berths := cip("CIP-0007", "Berth tokens", "Final", "Standards Track", 300,
		catalog.CIP{RawStatus: "Active", Authors: []string{"Ida Kelp", "Bo Reef"},
			Requires: []string{"CIP-0001"}, Header: map[string]string{"Requires": "1"}},
		cites(catalog.Requires, "CIP-0001")...)
	berths.aliases = []string{"PR-12"}
	oracle := cip("CIP-0056", "Tide oracle", "Review", "Standards Track", 80,
		catalog.CIP{RawStatus: "Approved", Authors: []string{"Bo Reef"},
			Requires: []string{"CIP-0007", "CIP-0100"}}, cites(catalog.Requires, "CIP-0007", "CIP-0100")...)
	buoys := cip("CIP-0057", "Buoy registry", "Draft", "Governance", 70, catalog.CIP{Requires: []string{"CIP-0058"}},
		cites(catalog.Requires, "CIP-0058")...)
	lights := cip("CIP-0058", "Lighthouse fees", "Draft", "Governance", 60,
		catalog.CIP{Requires: []string{"CIP-0057", "CIP-0056"}},
		append(cites(catalog.Requires, "CIP-0057", "CIP-0056"), cites(catalog.Cites, "CIP-0056")...)...)
	bare := cip("CIP-0060", "Withdrawn whistle", "Withdrawn", "Governance", 50, catalog.CIP{})
	bare.URL, bare.Summary, bare.Body = "", "", ""
	draft := cip("PR-203", "Fog signals", "Draft", "Standards Track", 3,
		catalog.CIP{RawStatus: "open", Requires: []string{"CIP-0056", "PR-12"}},
		cites(catalog.Requires, "CIP-0056", "PR-12")...)
	closed := cip("PR-204", "Closed channel", "Withdrawn", "", 40, catalog.CIP{RawStatus: "closed"})

	berth := ref(catalog.KindCIP, "CIP-0007")
	vote := item{Record: catalog.Record{Kind: catalog.KindAttachment, Key: "cips/0007/vote.pdf", Title: "vote.pdf",
		Path: "cips/0007/vote.pdf", Source: "cips"},
		data: catalog.Attachment{Filename: "vote.pdf", MediaType: "application/pdf", Role: "vote_record", Bytes: 2048,
			Pages: 2}, parent: berth, links: cites(catalog.Mentions, "CIP-0007")}
	figure := item{Record: catalog.Record{Kind: catalog.KindAttachment, Key: "cips/0007/berths.txt",
		Title: "berths.txt", Path: "cips/0007/berths.txt", Body: "Twelve berths."},
		data: catalog.Attachment{Filename: "berths.txt", MediaType: "text/plain", Role: "figure", Bytes: 14,
			TextLayer: true}, parent: berth}
	return []item{process, berths, oracle, buoys, lights, bare, draft, closed, vote, figure}
}

// grants are proposals to the development fund.
func grants() []item {
	grant := func(key, title, state string, created int, d catalog.Grant, links ...catalog.Link) item {
		return item{Record: catalog.Record{Kind: catalog.KindGrant, Key: key, Title: title, State: state,
			Author: "reefworks", URL: "https://forge.example/tide/fund/pull/" + key,
			Path: "grants/" + key + ".md", CreatedAt: ago(created), Body: "# " + title + "\n\nMilestone one."}, data: d,
			links: links}
	}
	tug := grant("31", "Tug telemetry", "open", 20,
		catalog.Grant{Number: 31, Cites: []string{"CIP-0056"}, Labels: []string{"tooling"},
			Milestones: []catalog.Milestone{{Number: "1", Title: "Sensors"}}}, cites(catalog.Cites, "CIP-0056")...)
	pilot := grant("32", "Pilot wallet", "closed", 90,
		catalog.Grant{Number: 32, BoardStatus: "Delivered", Merged: true, Funding: "1,000 shells"})
	appendix := grant("32#appendix", "Pilot wallet: appendix", "closed", 90, catalog.Grant{Number: 32})
	appendix.parent, appendix.Path = ref(catalog.KindGrant, "32"), "grants/32-appendix.md"
	anchor := grant("33", "Anchor bridge", "open", 4, catalog.Grant{Number: 33})
	return []item{tug, pilot, appendix, anchor}
}

// documents are the documentation, of two sources, and papers, posts, talks.
func documents() []item {
	doc := func(source, path, title, body string) item {
		return item{Record: catalog.Record{Kind: catalog.KindDoc, Key: source + "/" + path, Title: title,
			Source: source, Container: "harbour/" + source, Path: path,
			URL: "https://docs.example/" + strings.ReplaceAll(path, " ", "%20"), Body: body, UpdatedAt: ago(10)},
			data: catalog.Doc{Format: "markdown", Section: "guide", Description: "All on " + title}}
	}
	berths := doc("docs", "guide/berths.md", "Book a berth",
		"# Book a berth\n\nCall the quartermaster to reserve a mooring.\n\n## Errors\n\nMOORING_TAKEN means that a "+
			"ship lies there already.")
	berths.links = cites(catalog.Mentions, "CIP-0056", "PR-12")
	return []item{
		berths,
		doc("docs", "guide/tides and moons.md", "Almanac of tides", longText),
		doc("ops-docs", "run/fog.md", "Run in fog", "# Run in fog\n\nSound the horn every two minutes."),
		{Record: catalog.Record{Kind: catalog.KindWhitepaper, Key: "tidal-consensus", Title: "Tidal consensus",
			Source: "site", Summary: "How the tide orders ships.", Body: "Ships vote by flag.", CreatedAt: ago(500)},
			data: catalog.Whitepaper{Pages: 12, PDF: "https://site.example/tidal.pdf", TextLayer: true}},
		{Record: catalog.Record{Kind: catalog.KindBlog, Key: "spring-tide", Title: "Spring tide", Source: "site",
			URL: "https://site.example/blog/spring-tide", Body: "The oracle of CIP-56 is near.", CreatedAt: ago(2)},
			data: catalog.Blog{Authors: []string{"Ida Kelp"}}, links: cites(catalog.Mentions, "CIP-0056")},
		{Record: catalog.Record{Kind: catalog.KindVideo, Key: "vHarbour001", Title: "Harbour tour", Source: "site",
			URL: "https://video.example/vHarbour001", Body: "welcome aboard", Summary: "A tour.", CreatedAt: ago(30)},
			data: catalog.Video{HasTranscript: true}, links: cites(catalog.Mentions, "CIP-0056")},
		{Record: catalog.Record{Kind: catalog.KindFoundation, Key: "about", Title: "About the foundation",
			Source: "site", Body: "It keeps the lights on."}, data: catalog.Foundation{}},
	}
}

// talk is what the community says: forum, mail, forge.
func talk() []item {
	topic, thread := ref(catalog.KindTopic, "1234"), ref(catalog.KindMailThread, "cip-discuss-42")
	mentions := cites(catalog.Mentions, "CIP-0056")
	at := func(kind catalog.Kind, source, key, title, body string, days int) catalog.Record {
		return catalog.Record{Kind: kind, Key: key, Title: title, Source: source, Body: body, Container: "tide/pilot",
			URL: "https://" + source + ".example/" + key, Author: "bo", CreatedAt: ago(days)}
	}
	pilot := item{
		Record: at(catalog.KindRelease, "forge", "tide/pilot@1.2.0", "Pilot 1.2.0",
			"## Fixes\n\nThe rudder no longer jams in a gale. It closes a vulnerability of the lock.", 1),
		data: catalog.Release{Version: "1.2.0"},
	}
	pilot.Tags = []string{catalog.TagSecurity}
	published := item{Record: at(catalog.KindPackageVersion, "forge", "npm:pilot@1.2.0", "pilot 1.2.0", "", 1),
		data: catalog.PackageVersion{Name: "pilot", Version: "1.2.0"}}
	published.Container, published.Tags = "npm",
		[]string{catalog.Tag(catalog.TagPackage, "pilot"), catalog.Tag(catalog.TagDist, "latest")}
	return []item{
		{Record: at(catalog.KindTopic, "forum", "1234", "When is the tide oracle live?", "Asking for a ferry.", 6),
			data: catalog.Topic{Posts: 2}, links: mentions},
		{Record: at(catalog.KindPost, "forum", "1234/1", "When is the tide oracle live?", "Asking for a ferry.", 6),
			data: catalog.Post{Number: 1}, parent: topic},
		{Record: at(catalog.KindPost, "forum", "1234/2", "Re: When is the tide oracle live?", "After CIP-56.", 5),
			data: catalog.Post{Number: 2}, parent: topic, links: mentions},
		{Record: at(catalog.KindMailThread, "mail", "cip-discuss-42", "Oracle questions", "", 8),
			data: catalog.MailThread{Messages: 1}, links: mentions,
			votes: []catalog.Vote{{Voter: "Ida Kelp", Choice: "in_favour", CastAt: ago(8)},
				{Voter: "Bo Reef", Choice: "abstain", Reason: "too early", CastAt: ago(7)}}},
		{Record: at(catalog.KindMailMessage, "mail", "cip-discuss-42/1", "Oracle questions", "Who feeds the gauge?", 8),
			data: catalog.MailMessage{Number: 1}, parent: thread, links: mentions},
		{Record: at(catalog.KindIssue, "forge", "tide/pilot#5", "Gauge reads zero", "The gauge shows zero at ebb.", 15),
			data: catalog.Issue{Number: 5}, links: append(mentions, mentions...)},
		{Record: at(catalog.KindPull, "forge", "tide/pilot#6", "Read the gauge twice", "Implements CIP-56.", 14),
			data:  catalog.Pull{Number: 6},
			links: append(cites(catalog.Implements, "CIP-0056"), mentions...)},
		{Record: at(catalog.KindDiscussion, "forge", "D_kw1", "Which gauge?", "Brass or glass?", 25),
			data: catalog.Discussion{Number: 7}},
		{Record: at(catalog.KindComment, "forge", "C_kw2", "Re: Which gauge?", "Brass.", 24), data: catalog.Comment{},
			parent: ref(catalog.KindDiscussion, "D_kw1")},
		{Record: at(catalog.KindRepo, "forge", "tide/pilot", "tide/pilot", "# Pilot\n\nSteers ships.", 700),
			data: catalog.Repo{FullName: "tide/pilot", Issues: 1, Pulls: 1}},
		pilot,
		{Record: at(catalog.KindRelease, "forge", "tide/pilot@1.3.0-rc.1", "Pilot 1.3.0-rc.1", "Tries a new rudder.",
			0), data: catalog.Release{Version: "1.3.0-rc.1", Prerelease: true}},
		published,
	}
}

// curated has one record of each kind that has no operation yet.
func curated() []item {
	at := func(kind catalog.Kind, key, title, body string) catalog.Record {
		return catalog.Record{Kind: kind, Key: key, Title: title, Source: "curated", Body: body}
	}
	radar := item{Record: at(catalog.KindRadar, "gauge-v1", "Gauge API 1 ends", "Move to version 2."),
		data: catalog.Radar{Affected: []string{"gauge"}}}
	radar.CreatedAt = ago(12)
	radar.Category, radar.EndsAt = "critical", ago(-30)
	upgrade := item{Record: at(catalog.KindOperation, "op-1", "Upgrade of the gauges", ""),
		data: catalog.Operation{Environments: []string{"mainnet"}, Validators: true}}
	upgrade.Category, upgrade.State, upgrade.StartsAt, upgrade.EndsAt = "upgrade", "scheduled", ago(-3), ago(-4)
	upgrade.Tags = []string{catalog.Tag(catalog.TagEnvironment, "mainnet"), catalog.TagValidators}
	party := item{Record: at(catalog.KindOperation, "op-2", "Harbour party", ""), data: catalog.Operation{AllDay: true}}
	party.Category, party.State, party.StartsAt = "other", "scheduled", ago(-1)
	vote := item{
		Record: at(catalog.KindVoteRequest, "vote-1", "Raise the light", "It is dark."),
		links:  cites(catalog.Cites, "CIP-0001"),
		data: catalog.VoteRequest{Outcome: "accepted", Proposals: []string{"CIP-0001"},
			Votes: []catalog.Ballot{{Voter: "Buoy keepers", Choice: "in_favour"}}},
		votes: []catalog.Vote{{Voter: "Buoy keepers", Choice: "in_favour", CastAt: ago(3)},
			{Voter: "Reef", Choice: "against", CastAt: ago(2)}},
	}
	vote.Category, vote.State, vote.Tags = "set_light", "closed", []string{catalog.Tag(catalog.TagOutcome, "accepted")}
	ferry := item{Record: at(catalog.KindApp, "app-1", "Ferry tickets", ""),
		data: catalog.App{Provider: "ferry::1", Project: "ferryline", Users: new(int64(12))}}
	ferry.Category = "Transport"
	sextant := item{Record: at(catalog.KindDeprecation, "sextant", "sextant", ""),
		data: catalog.Deprecation{Replacement: "gauge"}}
	sextant.State, sextant.Category = catalog.ItemDeprecated, "tool"
	project := item{Record: at(catalog.KindProject, "ferryline", "Ferryline", ""), data: catalog.Project{}}
	project.Summary = "Sells tickets for ferries."
	return []item{
		radar, project, upgrade, party,
		ferry,
		{Record: at(catalog.KindValidator, "buoy::1", "Buoy keepers", ""), data: catalog.Validator{}},
		vote,
		{Record: at(catalog.KindAsset, "SHL", "Shell", ""),
			data: catalog.Asset{Native: true, Supply: new(7.0), Provenance: catalog.ChainDerived}},
		{Record: at(catalog.KindPool, "lagoon/shl-fsh", "SHL/FSH", ""),
			data: catalog.Pool{Base: "SHL", Quote: "FSH", FeeRate: new(0.003)}},
		sextant,
		{Record: at(catalog.KindFAQ, "ebb", "What is an ebb?", "Falling water."), data: catalog.FAQ{}},
		{Record: at(catalog.KindEVMMapping, "gas", "Gas", "Traffic."), data: catalog.EVMMapping{}},
		{Record: at(catalog.KindAPIReference, "gauge-api", "Gauge API", ""),
			data: catalog.APIReference{Ports: []catalog.Port{{Number: 7575}}}},
		{Record: at(catalog.KindEndpoint, "api/gauges.yaml#/gauges GET", "GET /gauges", "Lists gauges."),
			data: catalog.APIEndpoint{Method: "GET", Route: "/gauges", Line: 4}},
		{Record: at(catalog.KindToolServer, "moon", "Moon server", ""), data: catalog.ToolServer{}},
		{Record: at(catalog.KindOnboarding, "evm", "EVM", "Ahoy."),
			data: catalog.Onboarding{Steps: []catalog.Step{{Title: "Read", Kind: catalog.KindDoc,
				Key: "docs/guide/berths.md"}}}},
		{Record: at(catalog.KindPartner, "compass", "Compass", ""), data: catalog.Partner{}},
	}
}

// events are the status changes; CIP-0099 has no file.
func events() []catalog.Event {
	change := func(key, from, to string, days int, via string) catalog.Event {
		return catalog.Event{Ref: ref(catalog.KindCIP, key), Field: "status", At: ago(days), From: from, To: to,
			RawFrom: from, RawTo: to, Via: via,
			URL: "https://forge.example/commit/" + key, Subject: key + " is " + to}
	}
	return []catalog.Event{
		change("CIP-0007", "", "Draft", 300, "header"), change("CIP-0007", "Draft", "Review", 200,
			"header"), change("CIP-0007", "Review", "Final", 7, "header"),
		change("CIP-0056", "", "Draft", 80, "header"), change("CIP-0056", "Draft", "Review", 0, "header"),
		change("CIP-0099", "", "Draft", 30, "index"), change("CIP-0099", "Draft", "Withdrawn", 9, "index"),
	}
}

// spelled writes a batch in another network's spelling.
func spelled(t testing.TB, b catalog.Batch, spell func(string) string) (out catalog.Batch) {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(spell(string(raw))), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fill writes everything; the records of one source come in one batch.
func fill(t testing.TB, store *sqlstore.Store, spell func(string) string) {
	t.Helper()
	bySource := map[string]catalog.Batch{"cips": {Events: events()}}
	order := []string{"cips", "grants", "docs", "ops-docs", "site", "forum", "mail", "forge", "curated"}
	for fallback, items := range map[string][]item{"cips": proposals(), "grants": grants(),
		"": append(append(documents(), talk()...), curated()...)} {
		for _, i := range items {
			i.Source = cmp.Or(i.Source, fallback)
			var err error
			if i.Data, err = catalog.Encode(i.data); err != nil {
				t.Fatal(err)
			}
			b := bySource[i.Source]
			b.Entries = append(b.Entries, catalog.Entry{Record: i.Record, Parent: i.parent, Aliases: i.aliases,
				Links: i.links, Votes: i.votes})
			bySource[i.Source] = b
		}
	}
	for _, source := range order {
		b := bySource[source]
		b.Source = source
		if _, err := store.Apply(t.Context(), spelled(t, b, spell)); err != nil {
			t.Fatal(err)
		}
	}
	hour := time.Hour
	for _, s := range []struct {
		series string
		at     time.Time
		state  any
	}{
		{catalog.SeriesNetwork, now.Add(-2 * hour), catalog.NetworkState{ValidatorCount: new(11)}},
		{catalog.SeriesNetwork, now.Add(-hour),
			catalog.NetworkState{ValidatorCount: new(12), Validators: []string{"Buoy keepers"}}},
		{catalog.SeriesMarket, now.Add(-hour), catalog.MarketState{PriceUSD: new(0.5)}},
	} {
		data, err := catalog.Encode(s.state)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.PutSnapshot(t.Context(),
			catalog.Snapshot{Series: s.series, CapturedAt: s.at, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []catalog.SourceState{
		{Name: "cips", LastRun: now.Add(-hour), LastSuccess: now.Add(-hour), Freshness: 2 * hour},
		{Name: "grants", LastRun: now.Add(-hour), LastSuccess: now.Add(-30 * hour),
			Error: "open /var/secret/grants: permission denied"},
		{Name: "docs", LastRun: now.Add(-hour), LastSuccess: now.Add(-hour), Freshness: 2 * hour},
		{Name: "ops-docs", LastRun: now.Add(-3 * hour), LastSuccess: now.Add(-3 * hour), Freshness: 12 * hour},
		{Name: "forum", LastRun: now.Add(hour), LastSuccess: now.Add(hour)},
	} {
		if err := store.SetSource(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}
