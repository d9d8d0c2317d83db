// Package fleet reads the status reports of validators that a network publishes
// as JSON or CSV: which version each runs and when it was last seen.
//
// JSON is a list of objects, one per validator, or an object of them by party.
// items and columns are paths in it (package table), such as node.version. CSV
// has its column names in the first line and is separated by commas, semicolons
// or tabs. Times are RFC 3339 or nearly so ("2006-01-02 15:04:05" in UTC), as
// HTTP writes them, dates in UTC, or Unix seconds or milliseconds. If several
// addresses list a validator, its latest report is used.
//
// A validator becomes a record of kind validator, keyed by its party id, or by
// its name if it has no party. One that is no longer listed is removed, if all
// addresses could be read. Times are kept to the hour, so that a heartbeat every
// minute is not a change every minute.
//
// This kind is for networks without a Scan API. Otherwise the validators'
// records belong to the source of kind ledger, because a record has one owner:
// pass these options to that source, as its option fleet.
package fleet
