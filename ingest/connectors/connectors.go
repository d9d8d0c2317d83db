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
	"almanac/ingest/proposals"
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
	all := ingest.Registry{
		"calendar":        calendar.New,
		"curated":         curated.New,
		"docs":            docs.New,
		"feed":            feed.New,
		"fleet":           fleet.New,
		"forge":           forge.New,
		"forge-proposals": forge.NewProposals,
		"forum":           forum.New,
		"ledger":          ledger.New,
		"mail":            mail.New,
		"market":          market.New,
		"packages":        packages.New,
		"proposals":       proposals.New,
		"site":            site.New,
		"snapshot":        snapshot.Open,
		"video":           video.New,
		"whitepaper":      whitepaper.New,
	}
	all[Sample] = sample.Connector(anchor, all)
	return all
}
