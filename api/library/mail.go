package library

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
)

// MailThread is a mailing-list thread in a list.
type MailThread struct {
	kb.Named
	Group        string   `json:"group"`
	Messages     int      `json:"messages"`
	Participants []string `json:"participants"`
	CIPs         []string `json:"cips" doc:"ids of the proposals it is about"`
}

type mailThreadsIn struct {
	Group string    `json:"group" maxLength:"100" doc:"only this mailing list, such as cip-discuss"`
	CIP   arg.CIPID `json:"cip_id" doc:"only threads that refer to this proposal"`
	Since arg.Day   `json:"since" doc:"only threads with a message on this day or later"`
	arg.Paging
}

var mailThreads = kb.New(op.Spec{
	ID: "list_mailing_threads", Tool: "list_mailing_threads", Kinds: []catalog.Kind{catalog.KindMailThread},
	Doc: `
List mailing-list threads
Threads of the mailing lists, the latest message first.

Lists mailing-list threads, the latest message first; filter by group, proposal or date. Read one with
get_mailing_thread; find one by its words with search and type mail.
`,
}, func(ctx context.Context, b kb.Base, in mailThreadsIn) (kb.List[MailThread], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindMailThread}, Order: catalog.ByLastActivity,
		When: catalog.TimeActivity, Since: in.Since.Time(), Containers: arg.Only(in.Group, ""),
	}
	if in.CIP != "" {
		ref, err := b.CIPRef(in.CIP)
		if err != nil {
			return kb.List[MailThread]{}, err
		}
		q.LinksTo = []catalog.Ref{ref}
	}
	return kb.Rows(ctx, b, q, in.Paging, mailThread)
})

func mailThread(b kb.Base, r catalog.Record) (MailThread, error) {
	d, err := kb.Decode[catalog.MailThread](r)
	return MailThread{b.Named(r), r.Container, d.Messages, d.Participants, b.CIPIDs(d.Proposals)}, err
}

var mailing = read.Conversations[MailThread, Message]{
	Kind: catalog.KindMailThread, Row: mailThread, Children: catalog.KindMailMessage, Child: message,
}

type mailThreadIn struct {
	ID     string     `json:"id" required:"true" maxLength:"200" doc:"of list_mailing_threads, e.g. cip-discuss-12345"`
	Cursor arg.Cursor `json:"cursor"`
}

// FullMailThread is a thread with its messages, oldest first.
type FullMailThread struct {
	MailThread
	read.Thread[Message]
}

var getMailThread = kb.New(op.Spec{
	ID: "get_mailing_thread", Tool: "get_mailing_thread", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindMailThread},
	Doc: `
Read a mailing-list thread
Every message of one thread, oldest first.

Reads every message of one mailing-list thread, oldest first, by the id that list_mailing_threads gives.
`,
}, func(ctx context.Context, b kb.Base, in mailThreadIn) (FullMailThread, error) {
	row, messages, err := mailing.Read(ctx, b, in.ID, in.Cursor)
	return FullMailThread{row, messages}, err
})

// Message is one message of a thread.
type Message struct {
	Number  int        `json:"number"`
	Author  string     `json:"author"`
	Date    *time.Time `json:"date"`
	Subject string     `json:"subject"`
	Content string     `json:"content"`
	URL     string     `json:"url"`
}

func message(b kb.Base, r catalog.Record) (Message, error) {
	d, err := kb.Decode[catalog.MailMessage](r)
	return Message{d.Number, r.Author, kb.Time(r.CreatedAt), r.Title, r.Body, b.URL(r)}, err
}
