package forum

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rules is the version of what this package makes of a forum. A change of it
// makes every topic be read again.
const rules = "1"

// state is what a run leaves for the next one.
type state struct {
	header
	topics map[int64]seen
}

type header struct {
	// Settings digests the rules and options the topics were read with.
	Settings string    `json:"settings"`
	Bumped   time.Time `json:"bumped"` // the latest activity in the list
	Swept    time.Time `json:"swept"`  // when the whole list was read
}

// seen is what is remembered of a topic that was read.
type seen struct {
	print uint64 // of its line in the list; 0 = to be read again
	posts spans  // the numbers of its posts
}

const (
	statePrefix = "topics-"
	maxLine     = 16 << 20 // bytes: a million posts with a gap after each
)

func (c *connector) settings() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", rules, c.opts.URL, c.opts.Exclude))
	return hex.EncodeToString(sum[:8])
}

var cursorShape = regexp.MustCompile(`^[0-9a-f]{32}$`)

// recall returns the state that a cursor names; an empty one if there is none
// or it was left under other options.
func (c *connector) recall(cursor string) state {
	none := state{topics: map[int64]seen{}}
	if !cursorShape.MatchString(cursor) {
		return none
	}
	s, err := readState(filepath.Join(c.env.WorkDir, statePrefix+cursor))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.env.Log.Warn("what is known of the forum cannot be read; everything is read again", "error", err)
	case s.Settings == c.settings() && s.digest() == cursor:
		return s
	}
	return none
}

func readState(file string) (state, error) {
	s := state{topics: map[int64]seen{}}
	f, err := os.Open(file)
	if err != nil {
		return s, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		return s, errors.Join(errors.New("it is empty"), lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &s.header); err != nil {
		return s, err
	}
	for lines.Scan() {
		var id int64
		var t seen
		if err := t.parse(lines.Text(), &id); err != nil {
			return s, fmt.Errorf("%.40q: %w", lines.Text(), err)
		}
		s.topics[id] = t
	}
	return s, lines.Err()
}

// remember writes the state and returns the cursor that names it. The state
// of the run's own cursor stays until the next run, because the new cursor
// may never be stored. Equal states have equal cursors whenever they were
// swept.
func (c *connector) remember(s state, old string) (string, error) {
	s.Settings = c.settings()
	cursor := s.digest()
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(s.header); err != nil {
		return "", err
	}
	s.write(&text)
	file := filepath.Join(c.env.WorkDir, statePrefix+cursor)
	if err := os.WriteFile(file+".new", text.Bytes(), 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return "", err
	}
	c.forget(cursor, old)
	return cursor, nil
}

// forget removes all states but two. What cannot be removed now is removed
// another time.
func (c *connector) forget(keep ...string) {
	files, _ := filepath.Glob(filepath.Join(c.env.WorkDir, statePrefix+"*"))
	for _, file := range files {
		if !slices.Contains(keep, strings.TrimPrefix(filepath.Base(file), statePrefix)) {
			_ = os.Remove(file)
		}
	}
}

func (s state) digest() string {
	var text bytes.Buffer
	fmt.Fprintln(&text, s.Settings, s.Bumped.UTC().Format(time.RFC3339Nano))
	s.write(&text)
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:16])
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
