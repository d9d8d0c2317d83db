// Package ingest brings the content of sources into the catalog.
//
// A Connector knows one kind of source and yields entries; the Pipeline does
// for all of them what must not depend on the source: it checks entries, hides
// mail addresses, finds mentions of proposals, issues and pull requests, writes
// batches, moves the cursor in the last batch's transaction and tombstones what
// vanished. The Scheduler decides when a source runs.
//
// The promises of a run:
//
//   - A bad item is counted, reported with its locator and left out; it never
//     stops the run, and what the catalog holds of it stays.
//   - The cursor moves only with the last write of a complete run, so a run
//     that was cut short is repeated from where the one before ended.
//   - Tombstones touch the source's own records, only after a complete listing
//     or where the connector says that they are gone, and never more than a
//     fifth of them unless that was accepted.
//   - No mail address reaches the catalog in a title, body, summary, snippet,
//     author, vote, event or string of data. Keys, aliases, paths and web
//     addresses are stored as they are: connectors keep addresses out of them.
//   - A run that finds nothing new writes no record.
//
// The connectors, one package each below this one, import it; the list of them
// is made by whoever builds a Registry.
package ingest
