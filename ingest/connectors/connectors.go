// Package connectors lists all connectors. Only programs and tests import it.
package connectors

import (
	"time"

	"almanac/ingest"
	"almanac/ingest/calendar"
	"almanac/ingest/curated"
	"almanac/ingest/docs"
	"almanac/ingest/feed"
	"almanac/ingest/fleet"
	"almanac/ingest/forge"
	"almanac/ingest/forum"
	"almanac/ingest/ledger"
	"almanac/ingest/mail"
	"almanac/ingest/market"
	"almanac/ingest/packages"
	"almanac/ingest/proposal"
	"almanac/ingest/sample"
	"almanac/ingest/site"
	"almanac/ingest/snapshot"
	"almanac/ingest/video"
	"almanac/ingest/whitepaper"
)

// Sample is the connector kind of the sources of a fictional network.
const Sample = "sample"

// All returns the kinds of sources that a network file can name. anchor is the
// day that the dates of a fictional network are relative to.
func All(anchor time.Time) ingest.Registry {
	all := ingest.Kinds(calendar.Kind, curated.Kind, docs.Kind, feed.Kind, fleet.Kind, forge.Kind, forge.Proposals,
		forum.Kind, ledger.Kind, mail.Kind, market.Kind, packages.Kind, proposal.Kind, site.Kind, snapshot.Kind,
		video.Kind, whitepaper.Kind)
	all[Sample] = sample.Connector(anchor, all)
	return all
}
