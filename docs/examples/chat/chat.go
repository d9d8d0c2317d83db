// Package chat reads the export of a chat: a JSON file with its messages. It is an
// example of a connector, complete and tested, and no part of the program.
package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/text/options"
)

// Kind is all that the program knows of such sources. The tags check the options;
// the example describes them in docs, schema and command line.
var Kind = ingest.Kind[settings, struct{}]{
	Name:    "chat",
	Summary: "Reads the export of a chat: a JSON file with its messages.",
	Example: `sources:
  - name: harbour-chat
    kind: chat
    every: 24h
    options:
      file: chats/harbour.json              # the export, in the network's folder
      title: Harbour chat                   # default: the file's name
      page: https://chat.example.org/harbour # address of the chat
`,
	Open: func(s settings, env ingest.Environment) (ingest.Connector[struct{}], error) {
		return connector{s, env}, nil
	},
}

type settings struct {
	File  string `yaml:"file" required:"true" format:"path"`
	Title string `yaml:"title"`
	Page  string `yaml:"page" required:"true" format:"address"`
}

// Check completes what the tags cannot.
func (s *settings) Check() error {
	if s.Title == "" {
		s.Title = s.File
	}
	if len(s.Title) > 200 {
		return options.Errorf("title", "want at most 200 bytes")
	}
	return nil
}

// export is the file, of which only what becomes part of a record is read.
type export struct {
	Messages []json.RawMessage `json:"messages"`
}

type message struct {
	ID      int       `json:"id"`
	From    string    `json:"from"`
	Date    time.Time `json:"date"`
	Text    string    `json:"text"`
	ReplyTo int       `json:"reply_to"`
}

type connector struct {
	settings
	env ingest.Environment
}

const maxBytes = 64 << 20 // of an export; a larger one is refused before it is parsed

// Sync implements ingest.Connector. It keeps no state: the pipeline compares the
// records with those it has and writes only what differs.
func (c connector) Sync(ctx context.Context, none struct{}, out ingest.Sink) (struct{}, ingest.Outcome, error) {
	raw, err := c.env.Read(c.File, maxBytes)
	if err != nil {
		return none, ingest.Outcome{}, err
	}
	var all export
	if err := json.Unmarshal(raw, &all); err != nil {
		return none, ingest.Outcome{}, fmt.Errorf("%s: %w", c.File, err)
	}
	topic, err := catalog.Record{Kind: catalog.KindTopic, Key: "chat", Title: c.Title, URL: c.Page}.
		With(catalog.Topic{Posts: len(all.Messages)})
	if err == nil {
		err = out.Put(ctx, topic) // parents come before their children
	}
	if err != nil {
		return none, ingest.Outcome{}, err
	}
	for i, raw := range all.Messages {
		out.Progress(i, len(all.Messages))
		entry, err := c.entry(raw, topic.Record.Ref())
		if err != nil { // one bad message does not end the run
			out.Skip(fmt.Sprintf("%s#%d", c.File, i+1), err)
			continue
		}
		if err := out.Put(ctx, entry); err != nil {
			return none, ingest.Outcome{}, err
		}
	}
	// Complete: what the export no longer has becomes a tombstone.
	return none, ingest.Outcome{Complete: true}, nil
}

func (c connector) entry(raw json.RawMessage, topic catalog.Ref) (catalog.Entry, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return catalog.Entry{}, err
	}
	e, err := catalog.Record{
		Kind: catalog.KindPost, Key: "chat-" + strconv.Itoa(m.ID), Title: c.Title, Author: m.From, Body: m.Text,
		URL: c.Page + "#" + strconv.Itoa(m.ID), CreatedAt: m.Date,
	}.With(catalog.Post{Number: m.ID, ReplyTo: m.ReplyTo})
	e.Parent = topic
	return e, err
}
