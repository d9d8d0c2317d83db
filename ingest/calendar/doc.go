// Package calendar reads an operations calendar: an iCalendar file (RFC 5545)
// as calendar servers publish it, or a YAML list, from an address or a file in
// the network's folder.
//
//	sources:
//	  - name: operations
//	    kind: calendar
//	    every: 1h
//	    options:
//	      url: https://calendar.example.org/operations.ics  # or
//	      url_env: OPERATIONS_CALENDAR        # environment variable with an address that is a secret; or
//	      file: calendar/operations.yaml      # in the network's folder; .ics, .yaml or .yml
//	      page: https://www.example.org/operations          # where people read it: url of events without one
//	      zone: Europe/Zurich                 # of times without a zone; default the calendar's own, else UTC
//	      zones: {Ship Time: Etc/GMT-3}       # what the calendar calls zones → IANA name
//	      back: 90                            # days for which past occurrences of recurring events are read
//	      ahead: 400                          # days for which future ones are
//	      environments:                       # environment → words that name it, besides its name
//	        mainnet: [main network, production]
//	        baynet: [testnet]
//	      environment: mainnet                # of events that name none; default none
//	      types:                              # type → words, tried before the usual ones
//	        synchronizer_upgrade: [tide change]
//	      components:
//	        node: {words: [causeway node], release: "causeway/node@v{version}"}
//	      validators: [keeper, keepers]       # words for those who have to act; default validator(s), node operator(s)
//	      exclude: [standup, holiday]         # events whose title has such a word are left out
//
// Words are matched whole, without regard to case, spaces and hyphens. An
// event may name several environments; title, place and categories count, and
// the description only if those name none. Title and categories decide the
// type: deploy, release, upgrade, governance, freeze, minimum_version,
// synchronizer_upgrade or other. A version in the title and a component whose
// release is given link the event with the record of that release, whose key
// is the template with {version} filled in.
//
// The YAML form, in which everything but id, title and starts may be missing:
//
//   - id: node-2-7-mainnet
//     title: Node 2.7.0 on MainNet
//     starts: 2031-06-17 14:00              # or 2031-06-17 for whole days, or RFC 3339
//     ends: 2031-06-17 16:00                # or duration: 2h; a date is the last day
//     zone: Europe/Zurich
//     type: upgrade
//     environments: [mainnet]
//     components: [node]
//     version: 2.7.0
//     minimum_version: 2.6.0
//     validators: true
//     state: scheduled                      # scheduled, completed, cancelled
//     tentative: true
//     location: Relay 3
//     url: https://www.example.org/announcements/2-7
//     text: Markdown.
//     categories: [planned]
//     repeat: FREQ=MONTHLY;BYDAY=1TU        # RRULE
//     except: [2031-07-01]                  # occurrences that do not take place
//     also: [2031-07-08 14:00]              # and further ones
//     changes:                              # occurrences that are not like the others
//   - occurrence: 2031-08-05
//     starts: 2031-08-06 14:00
//     title: Moved because of the regatta
//     state: scheduled
//
// Every occurrence within the window is a record of its own. The window moves
// with the day. What the calendar no longer has is removed if it had not ended
// yet; what has ended stays, also when it falls out of the window or out of the
// calendar: it is history. Nothing is written because time passes, so what is
// over still says scheduled; catalog.OperationState tells what that means.
//
// Private events, attendees and organisers are not read. A bad event is
// reported with its line, and what the catalog holds of it stays.
package calendar
