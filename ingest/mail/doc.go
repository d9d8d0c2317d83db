// Package mail reads the archives of mailing lists, group by group, from mbox
// files or from the messages that an archive exports as such a file.
//
//	sources:
//	  - name: mail
//	    kind: mail
//	    every: 1h
//	    options:
//	      groups:
//	        - {name: cip-discuss, id: "4711"}
//	        - {name: cip-vote, id: "4712", votes: true}
//	      files: mail/{group}*.mbox                                  # either files, with * and ? as in a shell, in the network's folder or absolute,
//	      export: https://lists.example.org/export?group={id}        # or the address of an export
//	      token_env: LISTS_TOKEN                                     # variable with the export's bearer token
//	      message: https://lists.example.org/g/{group}/message/{number}
//
// Files and exports may be compressed with gzip or be a zip of mbox files. In
// the templates {group} and {id} stand for those of a group, {number} for that
// of a message.
//
// A thread becomes a record of kind mail_thread with the text of its first
// message, and each message a child of kind mail_message. Both are keyed
// group-number by the number that the archive gave the message, for a thread
// that of its first; a message that has none gets one of 15 digits made from
// its Message-ID. Messages that refer to each other, or answer a subject, are
// one thread. The text of a message is what its sender wrote, without the
// message that it answers.
//
// In groups with votes, what a thread's messages vote hangs on its record; see
// tally.
//
// A run reads each group's archive twice, to find its threads and to read
// those that changed, and never holds more of it than one message and a line
// for each. It remembers the threads in the working directory under the name
// that the cursor holds; without that file everything is read again. If one
// group cannot be read the others are, and the run fails.
package mail
