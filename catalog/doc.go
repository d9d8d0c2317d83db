// Package catalog defines the service's data: records of every kind, the links,
// events, votes and snapshots around them, and the change log that index
// followers read. It defines the typed data of each kind, and how an entry is cleaned
// and hashed, which says what "unchanged" means.
//
// It imports no other package of this module. Package sqlstore keeps the data in a
// database, which sqlite and postgres open; pure derivations are in derive.
package catalog
