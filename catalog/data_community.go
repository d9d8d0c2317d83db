package catalog

// Topic is a forum thread, keyed by its number. Record.Replies and Views
// count as the forum does, Record.Votes are its likes, Record.Category is the
// forum category and Record.State open, closed or archived. Its posts are
// child records.
type Topic struct {
	Slug         string `json:"slug,omitempty"`
	Posts        int    `json:"posts"` // including the first
	Participants int    `json:"participants,omitempty"`
	Accepted     int    `json:"accepted,omitempty"` // number of the post accepted as answer
	LastPoster   string `json:"last_poster,omitempty"`
	Pinned       bool   `json:"pinned,omitempty"`
}

// Post is one post of a topic. Record.Votes are its likes.
type Post struct {
	Number     int    `json:"number"`             // within its topic, from 1
	ReplyTo    int    `json:"reply_to,omitempty"` // number of the post it replies to
	Role       string `json:"role,omitempty"`     // of the author: admin, moderator, staff
	Reads      int    `json:"reads,omitempty"`
	CodeBlocks int    `json:"code_blocks,omitempty"` // pre or code blocks in its HTML
	Accepted   bool   `json:"accepted,omitempty"`    // the topic's accepted answer
}

// MailThread is a mailing-list thread, keyed group-number. Record.Container
// is its group; its messages are child records.
type MailThread struct {
	Messages     int      `json:"messages"`
	Participants []string `json:"participants"` // display names, in order of appearance
	Proposals    []string `json:"proposals"`    // keys it is about: CIP-0056
}

// MailMessage is one message of a thread.
type MailMessage struct {
	Number      int      `json:"number"`               // within its thread, oldest first, from 1
	MessageID   string   `json:"message_id,omitempty"` // salted hash
	InReplyTo   string   `json:"in_reply_to,omitempty"`
	Sender      string   `json:"sender,omitempty"` // salted hash of the address
	Attachments []string `json:"attachments"`      // file names
}

// Discussion is a discussion on the forge, keyed by its node id.
// Record.Votes are its upvotes, Record.Replies its comments, Record.Container
// its repository; its comments are child records.
type Discussion struct {
	Number     int      `json:"number"`
	Labels     []string `json:"labels"`
	Answered   bool     `json:"answered"`
	AnswerURL  string   `json:"answer_url,omitempty"`
	AnsweredBy string   `json:"answered_by,omitempty"`
	ClosedAt   string   `json:"closed_at,omitempty"` // RFC 3339
}

// Comment is a comment on an issue, a pull request or a discussion.
// Record.Votes are its reactions or upvotes.
type Comment struct {
	ReplyTo     string `json:"reply_to,omitempty"`    // key of the comment it replies to
	Association string `json:"association,omitempty"` // of the author: owner, member, contributor
	Answer      bool   `json:"answer,omitempty"`      // the accepted answer of its discussion
	Review      bool   `json:"review,omitempty"`      // part of a code review
	File        string `json:"file,omitempty"`        // the reviewed file
}
