// Package ledger reads the state and the governance of a ledger network from
// its Scan API: the read-only HTTP API of the Splice applications, which every
// super validator serves.
//
//	sources:
//	  - name: ledger
//	    kind: ledger
//	    every: 15m
//	    freshness: 1h
//	    options:
//	      environment: mainnet          # what the network calls the one that is read
//	      scans:                        # bases of its Scans; two or more are checked against each other
//	        - https://scan.one.example.org/api/scan
//	        - https://scan.two.example.org/api/scan
//	        - https://scan.three.example.org/api/scan
//	      environments:                 # others, of which only what is deployed is read
//	        testnet: [https://scan.test.example.org/api/scan]
//	      links:                        # pages of an explorer; {id} is the record's key
//	        vote_request: https://explorer.example.org/governance/{id}
//	        validator: https://explorer.example.org/party/{id}
//	        app: https://explorer.example.org/apps/{id}
//	      names:                        # of parties, where the party id does not tell
//	        "a1b2c3::1220ab…": Foghorn Labs
//	      liveness: 6h                  # how far activity and rewards may run ahead of the records
//	      fleet:                        # where validators report versions, if they do: see package fleet
//	        urls: [https://status.example.org/validators.json]
//	      curated: curated              # folder with the file apps, which describes applications: see package curated
//
// It yields:
//
//   - vote_request: governance vote requests, open and closed, keyed by the
//     tracking contract id, with every vote. One that the API stops listing
//     stays: it is history.
//   - validator: validators, keyed by party id. Approved are those with a
//     licence and the super validators, offboarded the super validators that
//     the rules list as such. A validator whose licence is gone vanishes: the
//     ledger says nothing of it any more.
//   - app: featured app rights, keyed by contract id. One that is revoked
//     vanishes.
//   - the snapshot of series network.
//
// # Agreement
//
// Every Scan is asked for what changes slowly: threshold, members, packages,
// sequencers, versions, open vote requests, the newest results, featured apps.
// What most of them say counts, or the first in the options where two stand
// against two; a warning names what they differ in. An app vanishes only by a
// majority. The latest round is the last that most of them have reached. A
// Scan that does not answer is left out of the run. Licences, older results
// and rewards are read from the first Scan that has them: thousands of
// contracts, some of which change at every moment, are never the same on two.
//
// # Versions
//
// Endpoints come and go with versions of the API. Where one is not there, what
// it told is nil, a warning says so, and records that hang on it stay. Lists
// without page tokens (old versions of voteresults) are paged by date.
//
// # Quiet
//
// An active validator's licence changes every few minutes. Its record is
// written when something else than its activity changed, or when the activity
// it tells of is older by the option liveness; so are apps and their rewards.
//
// What was seen is kept in a file of the working directory, under the name
// that the cursor holds (package listing); without it everything is read
// again, and what vanished meanwhile is not noticed.
//
// A request whose only vote was its requester's has no tracking id when it is
// closed; then it is recognised by requester, deadline, reason and action, and
// keyed by their digest if it was never seen open.
package ledger
