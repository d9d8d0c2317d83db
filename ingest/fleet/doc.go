// Package fleet reads what validators report of themselves, where a network
// publishes it as JSON or CSV: which version each runs and when it was seen.
//
//	sources:
//	  - name: fleet
//	    kind: fleet
//	    every: 1h
//	    freshness: 6h
//	    options:
//	      urls: [https://status.example.org/validators.json]
//	      items: data.validators        # where the list is in JSON; default the document
//	      columns:                      # what its columns are called; these are the defaults
//	        party: party
//	        name: name
//	        version: version
//	        reported_at: reported_at    # when it reported the version
//	        last_seen: last_seen        # when it was seen alive
//	        sponsor: sponsor            # party or name of who sponsors it
//
// JSON is a list of objects, one a validator, or an object of them by party;
// a dot leads into objects (items: data.validators, version: node.version).
// CSV has its columns' names in the first line and is parted by commas,
// semicolons or tabs. Times are RFC 3339, "2006-01-02 15:04:05" and dates in
// UTC, or Unix seconds or milliseconds. A validator that several addresses
// name is as its latest report says.
//
// A validator becomes a record of kind validator, keyed by its party id, or by
// its name where no party is given. One that is listed no more vanishes, if
// all addresses could be read. Times are kept to the hour, so that a heartbeat
// every minute is not a change every minute.
//
// This is the kind for networks without a Scan API. Where there is one, the
// validators' records belong to the source of kind ledger, and a record has
// one owner: give these options to that source, as its option fleet.
package fleet
