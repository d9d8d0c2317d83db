// Package mail reads the archives of mailing lists: group by group, from mbox
// files or from an archive's export in that format.
//
// Files and exports may be compressed with gzip or be a zip of mbox files. In
// the templates, {group} and {id} are the name and id of a group, {number} is
// the number of a message.
//
// A thread becomes a record of kind mail_thread with the text of its first
// message, and each message a child of kind mail_message. Both are keyed
// group-number by the archive's number of the message, or of the thread's first
// message; a message without one gets a number of 15 digits made from its
// Message-ID. Messages that refer to each other, or reply to the same subject,
// form a thread. The text of a message is what its sender wrote, without the
// quoted message.
//
// In groups with votes, the votes in a thread's messages are stored with its
// record; see tally.
//
// A run reads each group's archive twice, to find its threads and to read those
// that changed, and never holds more of it in memory than one message and a
// line per message. It passes the threads to the next run. If one group cannot be
// read, the others still are, and the run fails.
package mail
