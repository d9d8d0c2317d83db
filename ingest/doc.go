// Package ingest brings the content of sources into the catalog.
//
// A Connector reads one kind of source and yields entries; the Pipeline does
// what must be the same for every source: it validates entries, hides mail
// addresses, finds mentions of proposals, issues and pull requests, writes
// batches, moves the cursor in the last batch's transaction and tombstones
// vanished records. The Scheduler decides when a source runs.
//
// A run guarantees:
//
//   - A bad item is counted, reported with its locator and skipped; it never
//     stops the run, and its record in the catalog stays.
//   - The cursor moves only with the last write of a complete run, so an
//     interrupted run is repeated from the same cursor.
//   - Only the source's own records become tombstones, only after a complete
//     listing or if the connector reports them gone, and never more than a
//     fifth of them unless the operator accepts that.
//   - A source that the network no longer names is given up, once every source of
//     the network has had the chance to take over what it yields too.
//   - No mail address reaches the catalog in a title, body, summary, snippet,
//     author, vote, event or string of data. Keys, aliases, paths and web
//     addresses are stored unchanged: connectors keep mail addresses out of them.
//   - A run that finds nothing new writes no record.
//
// Each connector is a package below this one and imports it; whoever builds a
// Registry lists them.
package ingest
