// Package calendar reads an operations calendar: an iCalendar file (RFC 5545)
// as calendar servers publish it, or a YAML list, from an address or a file in
// the network's folder.
//
// Whole words are matched, ignoring case, spaces and hyphens. An event may name
// several environments in its title, place and categories, or in its description
// if those name none. Title and categories determine the type: deploy, release,
// upgrade, governance, freeze, minimum_version, synchronizer_upgrade or other. A
// version in the title and a component with a release link the event to the
// record of that release, whose key is the template with {version} filled in.
//
// The YAML form, in which only id, title and starts are required:
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
//     also: [2031-07-08 14:00]              # additional ones
//     changes:                              # occurrences that differ from the others
//   - occurrence: 2031-08-05
//     starts: 2031-08-06 14:00
//     title: Moved because of the regatta
//     state: scheduled
//
// Every occurrence within the window is a separate record. The window moves
// every day. An event that is no longer in the calendar is removed if it had not
// ended; ended events are history and stay, even outside the window or the
// calendar. The passing of time writes nothing, so an event that is over is
// still stored as scheduled; catalog.OperationState derives its real state.
//
// Private events, attendees and organisers are not read. A bad event is
// reported with its line, and its record in the catalog stays.
package calendar
