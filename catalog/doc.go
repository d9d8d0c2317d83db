// Package catalog defines the service's data: records of every kind, the links,
// events, votes and snapshots around them, and the change log that index
// followers read. It defines the Store that keeps them, the typed data of each
// kind, and how an entry is cleaned and hashed, so that all stores agree on
// what "unchanged" means.
//
// It imports no other package of this module. SQL lives in the packages below it
// (sqlite), pure derivations in derive, and the suite every Store must pass in
// testing/catalogtest.
package catalog
