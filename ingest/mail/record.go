package mail

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/mention"
)

// reading is a thread that is being read.
type reading struct {
	*syncRun
	group group
	files []*os.File
	in    *bufio.Reader // reused
	posts []post        // oldest first
}

// at positions the reader at the start of a message.
func (r reading) at(p post) *bufio.Reader {
	r.in.Reset(io.NewSectionReader(r.files[p.file], p.offset, p.length))
	return r.in
}

// survey is what a thread's record contains beyond its first message.
type survey struct {
	title, text, author, address string
	participants                 []string
	proposals                    []string
	votes                        []catalog.Vote
	last                         time.Time
}

// maxParticipants is the maximum number of names kept for a thread.
const maxParticipants = 500

func (r reading) survey() (survey, error) {
	t, v := survey{}, tally{}
	for i, p := range r.posts {
		var l letter
		var err error
		if i == 0 || r.group.Votes {
			l, err = readLetter(r.at(p))
		} else {
			l.header, err = readHead(r.at(p))
		}
		if err != nil {
			return t, err
		}
		from := sender(l.header)
		name := r.name(from)
		if name != "" && len(t.participants) < maxParticipants && !slices.Contains(t.participants, name) {
			t.participants = append(t.participants, name)
		}
		if i == 0 {
			base, _ := subject(l.header, r.group.Name)
			t.title = cmp.Or(base, noSubject)
			t.text, t.author, t.address = l.text, name, r.address(p, l)
			if t.proposals = mention.Cited(r.env.Network.Proposals, t.title); len(t.proposals) == 0 {
				t.proposals = mention.Cited(r.env.Network.Proposals, t.text)
			}
		}
		if r.group.Votes {
			v.add(person{name, from.address}, l.text, p.time(), r.address(p, l), i == 0)
		}
		if p.time().After(t.last) {
			t.last = p.time()
		}
	}
	t.votes = v.list()
	return t, nil
}

// time returns when a message was sent; zero if unknown.
func (p post) time() time.Time {
	if p.at == 0 {
		return time.Time{}
	}
	return time.Unix(p.at, 0).UTC()
}

// name returns the name of a person in a record, never the address.
func (r reading) name(p person) string {
	if p.name == "" && p.address != "" {
		return r.env.Pseudonym(p.address)
	}
	return p.name
}

var archivedAt = regexp.MustCompile(`https?://[^<>\s]+`)

// address returns the address of a message in the archive: from the message
// itself (RFC 5064) or from the options.
func (r reading) address(p post, l letter) string {
	if own := archivedAt.FindString(l.header.Get("Archived-At")); own != "" {
		return own
	}
	return r.group.address(r.opts.Message, p.number)
}

// category is that of the records of groups with votes.
func (r reading) category() string {
	if r.group.Votes {
		return "vote"
	}
	return ""
}

// noSubject is the title of what has none.
const noSubject = "(no subject)"

func (r reading) threadEntry(t survey) (catalog.Entry, error) {
	e, err := catalog.Record{
		Kind: catalog.KindMailThread, Key: r.group.key(r.posts[0].number), Title: t.title, URL: t.address,
		Container: r.group.Name, Category: r.category(), Author: t.author, CreatedAt: r.posts[0].time(),
		LastActivityAt: t.last, Replies: int64(len(r.posts) - 1), Body: t.text,
	}.With(catalog.MailThread{Messages: len(r.posts), Participants: t.participants, Proposals: t.proposals})
	e.Votes = t.votes
	return e, err
}

// messageEntry makes the record of a message. known are the ids of the thread's
// earlier messages.
func (r reading) messageEntry(i int, p post, l letter, known map[string]bool) (catalog.Entry, error) {
	from := sender(l.header)
	m := catalog.MailMessage{Number: i + 1, Attachments: l.attachments, InReplyTo: r.answers(l, known)}
	if own := id(l.header); own != "" {
		m.MessageID = r.env.Pseudonym(own)
	}
	if from.address != "" {
		m.Sender = r.env.Pseudonym(from.address)
	}
	base, reply := subject(l.header, r.group.Name)
	title := cmp.Or(base, noSubject)
	if reply {
		title = "Re: " + title
	}
	e, err := catalog.Record{
		Kind: catalog.KindMailMessage, Key: r.group.key(p.number), Title: title, URL: r.address(p, l),
		Container: r.group.Name, Category: r.category(), Author: r.name(from), CreatedAt: p.time(), Body: l.text,
	}.With(m)
	e.Parent = catalog.Ref{Kind: catalog.KindMailThread, Key: r.group.key(r.posts[0].number)}
	return e, err
}

// answers returns the id of the earlier message that a message replies to: the
// one it names, or the closest that it refers to.
func (r reading) answers(l letter, known map[string]bool) string {
	references := ids(l.header, "References")
	slices.Reverse(references)
	for _, other := range append(ids(l.header, "In-Reply-To"), references...) {
		if known[other] {
			return r.env.Pseudonym(other)
		}
	}
	return ""
}
