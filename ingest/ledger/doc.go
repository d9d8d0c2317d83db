// Package ledger reads the state and the governance of a ledger network from
// its Scan API: the read-only HTTP API of the Splice applications, which every
// super validator serves.
//
// It yields:
//
//   - vote_request: governance vote requests, open and closed, keyed by the
//     tracking contract id, with every vote. One that the API no longer lists
//     stays: it is history.
//   - validator: validators, keyed by party id. Those with a licence and the
//     super validators are approved; super validators that the rules list as
//     offboarded are offboarded. A validator without a licence is removed: the
//     ledger no longer has it.
//   - app: featured app rights, keyed by contract id. A revoked one is removed.
//   - the snapshot of series network.
//
// # Agreement
//
// Data that changes slowly is requested from every Scan: threshold, members,
// packages, sequencers, versions, open vote requests, the newest results,
// featured apps. The value of most Scans is used, or in a tie that of the first
// in the options; a warning names the difference. An app is removed only by a
// majority. The latest round is the last one that most Scans have reached. A Scan
// that does not respond is not used in the run. Licences, older results and
// rewards are read from the first Scan that has them: thousands of contracts,
// some of which change at every moment, are never the same on two.
//
// # Versions
//
// Endpoints come and go with versions of the API. If one does not exist, its data
// is nil, a warning names it, and the records that depend on it stay. Lists
// without page tokens (old versions of voteresults) are paged by date.
//
// # Few writes
//
// An active validator's licence changes every few minutes. Its record is written
// when something other than its activity changes, or when its stored activity is
// older than the option liveness; the same holds for apps and their rewards.
//
// Without the state of the previous run everything is read again, and records that
// vanished meanwhile are not detected.
//
// A closed request whose only vote was its requester's has no tracking id; then
// it is identified by requester, deadline, reason and action, and keyed by their
// digest if it was never seen open.
package ledger
