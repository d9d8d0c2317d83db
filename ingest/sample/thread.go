package sample

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// What people write to each other is authored as threads and rendered into
// what servers send. A thread is a head in YAML between lines of three
// hyphens, then its entries, each below a line that says who wrote it, how
// many days before the anchor, when, and what else its source knows of it:
//
//	---
//	title: Receipts for a tea shop
//	---
//	=== ottoline -22 14:05 likes=3
//	What do I show the customer?
//
//	=== fenn-m -22 15:40 re=1
//	A disclosed contract.

// entry is one contribution to a thread.
type entry struct {
	by   string
	at   time.Time
	attr map[string]string // without a value: "" is one that is set
	text string
}

// number is an attribute that counts; 0 if it is not there.
func (e entry) number(name string) int {
	n, _ := strconv.Atoi(e.attr[name]) // readThread has checked it
	return n
}

func (e entry) has(name string) bool {
	_, ok := e.attr[name]
	return ok
}

// stamp is the entry's time as JSON has it.
func (e entry) stamp() string { return e.at.Format(time.RFC3339) }

var (
	entryLine = regexp.MustCompile(`^=== (.+?) (-\d+ \d\d:\d\d)((?: [a-z]+(?:=\S+)?)*)$`)
	counting  = regexp.MustCompile(`^\d+$`)
	// counted are the attributes whose values are numbers.
	counted = []string{"re", "likes", "reads", "line"}
)

// readThread decodes a thread's head into head and returns its entries. Their
// attributes must be among known.
func readThread(text []byte, anchor time.Time, head any, known ...string) ([]entry, error) {
	front, rest, err := cutHead(text)
	if err != nil {
		return nil, err
	}
	if err := decodeYAML(front, head); err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.Lines(string(rest)) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "=== ") {
			if len(entries) > 0 {
				entries[len(entries)-1].text += line + "\n"
			} else if strings.TrimSpace(line) != "" {
				return nil, fmt.Errorf("%.40q comes before the first entry", line)
			}
			continue
		}
		e, err := readEntry(line, anchor, known)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no entry: want a line such as %q", "=== tavish-d -28 09:00")
	}
	for i := range entries {
		entries[i].text = strings.TrimSpace(entries[i].text)
	}
	return entries, nil
}

func readEntry(line string, anchor time.Time, known []string) (entry, error) {
	m := entryLine.FindStringSubmatch(line)
	if m == nil {
		return entry{}, fmt.Errorf("%q; want === WRITER -DAYS HH:MM NAME=VALUE…", line)
	}
	e := entry{by: m[1], attr: map[string]string{}}
	var err error
	if e.at, err = moment(m[2], anchor); err != nil {
		return entry{}, fmt.Errorf("%q: %w", line, err)
	}
	for _, f := range strings.Fields(m[3]) {
		name, value, _ := strings.Cut(f, "=")
		if !slices.Contains(known, name) {
			return entry{}, fmt.Errorf("%q: unknown attribute %s; want one of %s", line, name, strings.Join(known, ", "))
		}
		if slices.Contains(counted, name) && !counting.MatchString(value) {
			return entry{}, fmt.Errorf("%q: %s is not a number", line, name)
		}
		e.attr[name] = value
	}
	return e, nil
}

// cutHead separates the head of an authored file from its text.
func cutHead(text []byte) (head, rest []byte, err error) {
	const fence = "---\n"
	after, ok := bytes.CutPrefix(text, []byte(fence))
	if !ok {
		return nil, nil, fmt.Errorf("want a head between lines of three hyphens")
	}
	head, rest, ok = bytes.Cut(after, []byte("\n"+fence))
	if !ok {
		return nil, nil, fmt.Errorf("the head has no end")
	}
	return head, rest, nil
}

// decodeYAML refuses what into has no field for.
func decodeYAML(text []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return d.Decode(into)
}

// moment is a day relative to the anchor and a time of day, "-28 09:00".
func moment(s string, anchor time.Time) (time.Time, error) {
	text, err := expand("time", s, anchor)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// optionalStamp is a moment as JSON has it, nil for none.
func optionalStamp(s string, anchor time.Time) (any, error) {
	if s == "" {
		return nil, nil
	}
	return expand("time", s, anchor)
}

// below are the names of the files in a directory and its own, sorted.
func below(files map[string][]byte, dir string) []string {
	all := slices.Sorted(maps.Keys(files))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, dir+"/") })
}
