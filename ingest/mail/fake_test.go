package mail_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/mail"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// day is when the first message was sent.
var day = time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)

// sentMail is a message of the fake archive.
type sentMail struct {
	number  int // 0: the archive does not count
	from    string
	subject string
	text    string
	answers int    // number of the message it answers
	hours   int    // since day; its number if 0
	extra   string // further fields of its header
}

func messageID(number int) string { return fmt.Sprintf("<m%d@lists.example.org>", number) }

// mbox writes messages as archives export them.
func mbox(mails []sentMail) string {
	var b strings.Builder
	for _, m := range mails {
		at := day.Add(time.Duration(max(m.hours, m.number)) * time.Hour)
		from := m.from
		if from == "" {
			from = "Ada Quay <ada@foghorn.example>"
		}
		fmt.Fprintf(
			&b, "From bounce@lists.example.org %s\nFrom: %s\nTo: harbour@lists.example.org\nSubject: %s\nDate: "+
				"%s\nMessage-ID: %s\n", at.Format(time.ANSIC), from, m.subject, at.Format(time.RFC1123Z),
			messageID(m.number))
		if m.answers > 0 {
			fmt.Fprintf(&b, "In-Reply-To: %s\nReferences: <lost%d@elsewhere.example>\n\t%s\n", messageID(m.answers),
				m.answers, messageID(m.answers))
		}
		fmt.Fprintf(
			&b, "X-Groupsio-MsgNum: %d\n%sList-Id: <harbour.lists.example.org>\nContent-Type: text/plain; "+
				"charset=\"UTF-8\"\n\n%s\n\n", m.number, m.extra, m.text)
	}
	return b.String()
}

// archive is a server that exports the messages of groups.
type archive struct {
	server *connectortest.Server
	config connectortest.Config

	mu     sync.Mutex // guards what follows
	groups map[string][]sentMail
	pack   func(string) []byte // how exports are packed
	kind   string              // their type
	etags  bool
}

func newArchive(t testing.TB) *archive {
	a := &archive{groups: map[string][]sentMail{}, pack: plain, kind: "application/mbox"}
	a.server = connectortest.NewServer(t, a)
	a.config = connectortest.Config{Connector: unsalted, Options: map[string]any{
		"groups": []any{map[string]any{"name": "cip-discuss", "id": "7"},
			map[string]any{"name": "cip-vote", "id": "8", "votes": true}},
		"export": a.server.URL + "/export?group={id}", "message": a.server.URL + "/g/{group}/message/{number}",
	}}
	return a
}

// unsalted makes a connector whose pseudonyms are the same in every catalog.
func unsalted(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
	env.Pseudonym = func(address string) string {
		return fmt.Sprintf("member-%012x", len(address)*7919+int(address[0]))
	}
	src.Kind = mail.Kind.Name
	return ingest.Kinds(mail.Kind).Connector(src, env)
}

// change alters the archive between runs.
func (a *archive) change(alter func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	alter()
}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := map[string]string{"7": "cip-discuss", "8": "cip-vote"}[r.URL.Query().Get("group")]
	if name == "" {
		http.NotFound(w, r)
		return
	}
	body := a.pack(mbox(a.groups[name]))
	if a.etags {
		tag := fmt.Sprintf(`"%d"`, len(body))
		if w.Header().Set("ETag", tag); r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", a.kind)
	_, _ = w.Write(body)
}

func plain(text string) []byte { return []byte(text) }

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

func zipped(text string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.Create("messages.mbox")
	_, _ = f.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// harbour fills the archive: two threads that are discussed and one ballot.
func harbour(t testing.TB) *archive {
	a := newArchive(t)
	a.groups["cip-discuss"] = []sentMail{
		{number: 11, subject: "[cip-discuss] CIP-12 and 13: buoys", text: "Let us talk about CWP-12."},
		{number: 12, subject: "Fog signals", from: "Bram Reed <bram@kelp.example>", text: "Nothing but fog."},
		{number: 14, subject: "Re: [cip-discuss] CIP-12 and 13: buoys", answers: 11, from: "bram@kelp.example",
			text: "Why?\n\nOn Thursday Ada Quay wrote:\n> Let us talk."},
		{number: 15, subject: "RE: fog signals", text: "By subject only."},
	}
	a.groups["cip-vote"] = []sentMail{
		{number: 3, subject: "Vote on CWP-12", text: "Please vote in favour or against."},
		{number: 4, subject: "Re: Vote on CWP-12", answers: 3, from: "Bram Reed <bram@kelp.example>",
			text: "On behalf of Kelpworks: in favour"},
		{number: 5, subject: "Re: Vote on CWP-12", answers: 3, from: "cy@gannet.example",
			text: "Abstain. We share a building; write to cy@gannet.org."},
		{number: 6, subject: "Re: Vote on CWP-12", answers: 4, from: "Bram Reed <bram@kelp.example>",
			text: "I change my vote to against."},
	}
	return a
}
