package mail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/ingest"
)

// archive is the index of a group's messages, without their texts.
type archive struct {
	group group
	now   time.Time
	out   ingest.Sink

	posts   []post
	numbers map[int64]bool
	nodes   map[uint64]int32 // digest of a message id → its set
	sets    sets             // messages that refer to each other
}

// post is a message of the archive.
type post struct {
	offset, length int64 // in its file
	number         int64
	at             int64  // when it was sent, in seconds; 0 unknown
	order          int64  // the same, or that of the preceding message in the files
	print          uint64 // of the message
	subject        uint64 // digest; 0 if there is none
	file, node     int32
	reply          bool // a reply, by its subject
}

func (p post) end() int64 { return p.offset + p.length }

// firstMade is the smallest generated message number: archives count from 1. 15
// digits are exact in every JSON reader.
const firstMade = 100_000_000_000_000

// madeNumber generates a message's number from its id.
func madeNumber(id string) int64 {
	return firstMade + int64(digest(id)%(9*firstMade))
}

func digest(s string) uint64 {
	sum := sha256.Sum256([]byte(s))
	return binary.BigEndian.Uint64(sum[:])
}

// readArchive finds the messages in a group's files.
func readArchive(ctx context.Context, g group, files []*os.File, now time.Time, out ingest.Sink) ([][]post, error) {
	a := &archive{group: g, now: now, out: out, numbers: map[int64]bool{}, nodes: map[uint64]int32{}}
	for i, f := range files {
		err := scan(f, func(m found) error {
			a.add(int32(i), m)
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return a.threads(), nil
}

// add adds a message. Of several with the same id the first counts: archives
// overlap, and some people send twice.
func (a *archive) add(file int32, m found) {
	h := readHeader(m.header)
	if h.Get("From") == "" && h.Get("Date") == "" && h.Get("Message-Id") == "" {
		if n := len(a.posts) - 1; n >= 0 && a.posts[n].file == file && a.posts[n].end() == m.begin {
			a.posts[n].length, a.posts[n].print = m.offset+m.length-a.posts[n].offset, a.posts[n].print^m.print
			return // a text that quotes the start of a message
		}
		a.out.Skip(fmt.Sprintf("%s file %d byte %d", a.group.Name, file+1, m.begin),
			errors.New("a message without sender, date and id"))
		return
	}
	name := cmp.Or(id(h), strconv.FormatUint(m.print, 16))
	own := digest(name)
	if node, ok := a.nodes[own]; ok && a.sets[node].met {
		return
	}
	p := post{offset: m.offset, length: m.length, file: file, print: m.print, node: a.node(own),
		number: a.number(h.Get("X-Groupsio-Msgnum"), name)}
	a.sets[p.node].met = true
	if at := sent(h, m.from, a.now); !at.IsZero() {
		p.at, p.order = at.Unix(), at.Unix()
	} else if n := len(a.posts); n > 0 {
		p.order = a.posts[n-1].order
	}
	base, reply := subject(h, a.group.Name)
	if p.reply = reply; base != "" {
		p.subject = max(digest(strings.ToLower(base)), 1)
	}
	for _, other := range append(ids(h, "References"), ids(h, "In-Reply-To")...) {
		a.sets.join(p.node, a.node(digest(other)))
	}
	a.posts = append(a.posts, p)
}

// number returns the archive's number of a message, or one generated from its
// id.
func (a *archive) number(given, id string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(given), 10, 64)
	if err != nil || n <= 0 || n >= firstMade || a.numbers[n] {
		n = madeNumber(id)
	}
	a.numbers[n] = true
	return n
}

// node returns the set of a message, which may not be in the archive.
func (a *archive) node(id uint64) int32 {
	n, ok := a.nodes[id]
	if !ok {
		n = int32(len(a.sets))
		a.nodes[id] = n
		a.sets = append(a.sets, set{up: n})
	}
	return n
}

// sets is a forest of disjoint sets (Galler and Fischer).
type sets []set

type set struct {
	up  int32
	met bool // the message is in the archive
}

func (s sets) find(n int32) int32 {
	for s[n].up != n {
		s[n].up = s[s[n].up].up
		n = s[n].up
	}
	return n
}

func (s sets) join(a, b int32) { s[s.find(b)].up = s.find(a) }

// subjectGap is how long after its last message a thread can be continued by
// subject alone.
const subjectGap = 90 * 24 * 60 * 60 // seconds

// threads returns the messages by thread, oldest first. Messages that refer to
// each other are one thread, as in Zawinski's algorithm; a reply that refers to
// no known message joins the latest thread with its subject.
func (a *archive) threads() [][]post {
	a.order()
	last := map[int32]int64{}       // set → time of its last message
	bySubject := map[uint64]int32{} // subject → its latest set
	for _, p := range a.posts {
		n := a.sets.find(p.node)
		if _, begun := last[n]; !begun && p.subject != 0 {
			if earlier, ok := bySubject[p.subject]; ok && p.reply && p.order-last[a.sets.find(earlier)] <= subjectGap {
				a.sets.join(earlier, n)
				n = a.sets.find(n)
			}
			bySubject[p.subject] = n
		}
		last[n] = max(last[n], p.order)
	}
	first := map[int32]int{} // set → position of its first message
	for i, p := range a.posts {
		n := a.sets.find(p.node)
		if _, ok := first[n]; !ok {
			first[n] = i
		}
	}
	place := func(p post) int { return first[a.sets.find(p.node)] }
	slices.SortStableFunc(a.posts, func(p, q post) int { return cmp.Compare(place(p), place(q)) })
	var all [][]post
	for i, p := range a.posts {
		if i == 0 || place(p) != place(a.posts[i-1]) {
			all = append(all, a.posts[i:i:i])
		}
		last := len(all) - 1
		all[last] = a.posts[i-len(all[last]) : i+1 : i+1]
	}
	return all
}

// order sorts the messages by the archive's numbers, which are in order of
// arrival, or else by when they were sent: clocks differ.
func (a *archive) order() {
	byNumber := !slices.ContainsFunc(a.posts, func(p post) bool { return p.number >= firstMade })
	slices.SortStableFunc(a.posts, func(p, q post) int {
		if byNumber {
			return cmp.Compare(p.number, q.number)
		}
		return cmp.Compare(p.order, q.order)
	})
}
