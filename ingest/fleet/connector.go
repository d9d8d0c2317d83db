package fleet

import (
	"cmp"
	"context"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/text/dates"
)

// Kind is the kind of sources that network files call fleet.
var Kind = ingest.Kind[Options, struct{}]{
	Name: "fleet",
	Summary: "Reads the status reports of validators that a network publishes as JSON or CSV: which version " +
		"each runs and when it was last seen.",
	Example: `sources:
  - name: fleet
    kind: fleet
    every: 1h
    freshness: 6h
    options:
      urls: [https://status.example.org/validators.json]  # of the reports, JSON or CSV
      items: data.validators        # path of the list in JSON; default the document
      columns:                      # names of its columns; these are the defaults
        party: party                # party id
        name: name                  # name, where there is no party
        version: version            # version that it runs
        reported_at: reported_at    # when it reported the version
        last_seen: last_seen        # when it was seen alive
        sponsor: sponsor            # party or name of its sponsor
`,
	Open: func(o Options, env ingest.Environment) (ingest.Connector[struct{}], error) {
		return connector{o, env}, nil
	},
}

type connector struct {
	options Options
	env     ingest.Environment
}

// Sync implements ingest.Connector. Every run reads the whole reports.
func (c connector) Sync(ctx context.Context, none struct{}, out ingest.Sink) (struct{}, ingest.Outcome, error) {
	reports, complete, err := Read(ctx, c.env.HTTP, c.options, out)
	if err != nil {
		return none, ingest.Outcome{}, err
	}
	names := map[string]string{}
	for _, r := range reports {
		if r.Party != "" && r.Name != "" {
			names[r.Party] = r.Name
		}
	}
	for i, r := range reports {
		e, err := c.entry(r, names)
		if err != nil {
			return none, ingest.Outcome{}, err
		}
		if err := out.Put(ctx, e); err != nil {
			return none, ingest.Outcome{}, err
		}
		out.Progress(i+1, len(reports))
	}
	return none, ingest.Outcome{Complete: complete}, nil
}

func (c connector) entry(r Report, names map[string]string) (catalog.Entry, error) {
	v := catalog.Validator{Sponsor: cmp.Or(names[r.Sponsor], PartyName(r.Sponsor)), Version: r.Version,
		VersionReportedAt: dates.Format(r.ReportedAt)}
	title := cmp.Or(r.Name, PartyName(r.Party))
	body := title + " is a validator of " + c.env.Network.Title
	if v.Sponsor != "" {
		body += ", sponsored by " + v.Sponsor
	}
	return catalog.Record{
		Kind: catalog.KindValidator, Key: r.key(), Title: title, LastActivityAt: r.LastSeen, Body: body + ".",
	}.With(v)
}
