package sample

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// authored are the directories whose files are written for people to read and
// rendered into what servers send.
var authored = []string{"forum", "forge", "mail", "blog", "videos", "papers", "ledger"}

// world renders authored files.
type world struct {
	files  map[string][]byte // with their placeholders replaced
	anchor time.Time
	people people
	out    map[string][]byte // what the servers answer, by host and path
	err    error             // of the first answer that could not be written
}

// object is one of JSON.
type object = map[string]any

// serve replaces the authored files by the answers of servers.
func serve(files map[string][]byte, anchor time.Time) error {
	w := &world{files: files, anchor: anchor, out: map[string][]byte{}}
	var err error
	if w.people, err = readPeople(files["people.yaml"]); err != nil {
		return fmt.Errorf("people.yaml: %w", err)
	}
	for _, render := range []func() error{w.forum, w.forge, w.mail, w.journal, w.recordings, w.papers, w.votes} {
		if err := render(); err != nil {
			return err
		}
	}
	delete(files, "people.yaml")
	for _, dir := range authored {
		for _, name := range below(files, dir) {
			delete(files, name)
		}
	}
	for name, data := range w.out {
		if _, ok := files[name]; ok {
			return fmt.Errorf("%s: both written and rendered", name)
		}
		files[name] = data
	}
	return w.err
}

// yaml decodes an authored file.
func (w *world) yaml(name string, into any) error {
	if err := decodeYAML(w.files[name], into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// json writes an answer.
func (w *world) json(name string, value any) {
	data, err := json.Marshal(value)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", name, err)
	}
	w.out[name] = data
}

// base is the last part of a name without its extension.
func base(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	before, _, _ := strings.Cut(name, ".")
	return before
}
