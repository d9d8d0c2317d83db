package kb

import "almanac/catalog"

// Unanswered reports whether a thread waits for its first answer: an open topic
// of the forum that is not pinned and has no reply, or a mail thread of one
// message.
func Unanswered(r catalog.Record) bool {
	switch r.Kind {
	case catalog.KindTopic:
		d, err := catalog.Decode[catalog.Topic](r)
		return err == nil && (r.State == "" || r.State == "open") && !d.Pinned && r.Replies == 0 && d.Posts <= 1
	case catalog.KindMailThread:
		d, err := catalog.Decode[catalog.MailThread](r)
		return err == nil && d.Messages <= 1
	}
	return false
}
