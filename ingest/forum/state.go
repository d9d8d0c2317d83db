package forum

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/ingest/memory"
)

// rules is the version of how this package reads a forum. After a change every
// topic is read again.
const rules = "1"

// state is what one run passes to the next.
type state struct {
	header
	topics map[int64]seen
}

type header struct {
	// Settings is a digest of the rules and options that topics were read with.
	Settings string    `json:"settings"`
	Bumped   time.Time `json:"bumped"` // the latest activity in the list
	Swept    time.Time `json:"swept"`  // when the whole list was read
}

// seen is the state of a topic that was read.
type seen struct {
	print uint64 // of its line in the list; 0 = read again
	posts spans  // the numbers of its posts
}

const statePrefix = "topics-"

func (c *connector) settings() string { return memory.Settings(rules, c.opts.URL, c.opts.Exclude) }

func (c *connector) files() memory.Files {
	return memory.Files{Dir: c.env.WorkDir, Prefix: statePrefix}
}

// recall returns the state that a cursor names; an empty one if it does not exist
// or was stored with other options.
func (c *connector) recall(cursor string) state {
	none := state{topics: map[int64]seen{}}
	raw, err := c.files().Read(cursor)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.env.Log.Warn("forum state cannot be read; reading everything again", "error", err)
		}
		return none
	}
	s, err := readState(raw)
	switch {
	case err != nil:
		c.env.Log.Warn("forum state is damaged; reading everything again", "error", err)
	case s.Settings == c.settings() && s.digest() == cursor:
		return s
	}
	return none
}

func readState(text []byte) (state, error) {
	s := state{topics: map[int64]seen{}}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &s.header); err != nil {
		return s, err
	}
	for line := range strings.Lines(string(rest)) {
		line = strings.TrimSuffix(line, "\n")
		var id int64
		var t seen
		if err := t.parse(line, &id); err != nil {
			return s, fmt.Errorf("%.40q: %w", line, err)
		}
		s.topics[id] = t
	}
	return s, nil
}

// remember stores the state and returns the cursor that names it. The cursor does
// not depend on the time of the sweep.
func (c *connector) remember(s state, before string) (string, error) {
	s.Settings = c.settings()
	cursor := s.digest()
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(s.header); err != nil {
		return "", err
	}
	s.write(&text)
	return cursor, c.files().Write(cursor, text.Bytes(), before)
}

func (s state) digest() string {
	var text bytes.Buffer
	fmt.Fprintln(&text, s.Settings, s.Bumped.UTC().Format(time.RFC3339Nano))
	s.write(&text)
	return memory.Digest(text.Bytes())
}

func (s state) write(text *bytes.Buffer) {
	for _, id := range slices.Sorted(maps.Keys(s.topics)) {
		t := s.topics[id]
		fmt.Fprintf(text, "%d %x %s\n", id, t.print, t.posts)
	}
}

// parse reads a line that write wrote.
func (t *seen) parse(line string, id *int64) (err error) {
	number, rest, _ := strings.Cut(line, " ")
	print, posts, ok := strings.Cut(rest, " ")
	if !ok {
		return errors.New("want three fields")
	}
	if *id, err = strconv.ParseInt(number, 10, 64); err != nil {
		return err
	}
	if t.print, err = strconv.ParseUint(print, 16, 64); err != nil {
		return err
	}
	t.posts, err = parseSpans(posts)
	return err
}
