package chat_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"almanac/docs/examples/chat"
	"almanac/testing/connectortest"
)

const (
	first  = `{"id": 1, "from": "Ada", "date": "2031-05-06T07:08:09Z", "text": "Which lock opens first?"}`
	second = `{"id": 2, "from": "Bram", "date": "2031-05-06T07:10:00Z", "text": "The upper one.", "reply_to": 1}`
)

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		export := func(messages ...string) *fstest.MapFile {
			return &fstest.MapFile{Data: []byte(`{"messages": [` + strings.Join(messages, ",") + `]}`)}
		}
		folder := fstest.MapFS{"chat.json": export(first, second), "older.json": export(first)}
		return connectortest.Upstream{
			Config: connectortest.Config{
				Kind: chat.Kind, Files: folder,
				Options: map[string]any{"file": "chat.json", "title": "Harbour", "page": "https://chat.example.org/harbour"},
			},
			Change: func() { folder["chat.json"] = export(first, strings.Replace(second, "upper", "lower", 1)) },
			Drop:   func(s *connectortest.Source) { s.Options["file"] = "older.json" },
		}
	})
}

func TestABadMessageDoesNotEndTheRun(t *testing.T) {
	source := connectortest.NewSource(t, connectortest.Config{
		Kind:    chat.Kind,
		Files:   fstest.MapFS{"chat.json": {Data: []byte(`{"messages": [{"id": "?"}, ` + second + `]}`)}},
		Options: map[string]any{"file": "chat.json", "page": "https://chat.example.org/harbour"},
	})
	if r := source.Sync(); r.Created != 2 || r.Skipped != 1 || r.Problems[0].Locator != "chat.json#1" {
		t.Errorf("%d created, %d skipped, %v", r.Created, r.Skipped, r.Problems)
	}
}

func TestOptions(t *testing.T) {
	err := connectortest.Open(chat.Kind, map[string]any{"file": "chat.json", "paeg": "https://chat.example.org"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "page"`) {
		t.Error(err)
	}
}
