// Package kb is the knowledge base as operations see it: the catalog and the
// searcher they ask, and the forms that all of them answer in (ids, items,
// lists, long texts). The operations themselves are in one package per group.
// It imports catalog, retrieval and op.
package kb

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/retrieval"
)

// Base is what operations work with.
type Base struct {
	Catalog   catalog.Reader
	Search    retrieval.Searcher
	Network   network.Network
	PublicURL string // without a slash at the end
	Now       func() time.Time
}

// List is the form of every list.
type List[T any] struct {
	Items  []T `json:"items"`
	Total  int `json:"total" doc:"how many there are in all"`
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// NewList makes a list of one page.
func NewList[T any](items []T, total, limit, offset int) List[T] {
	return List[T]{items, total, limit, offset}
}

// ID returns the id that opens a record's detail path: "0056" and "PR-203"
// for proposals of improvement, numbers for grants and forum topics, the
// natural key where it is one of a platform, else the record id.
func ID(r catalog.Record) any {
	switch r.Kind {
	case catalog.KindCIP:
		return CIPID(r.Key)
	case catalog.KindProposal, catalog.KindTopic:
		if n, err := strconv.Atoi(r.Key); err == nil {
			return n
		}
		return r.ID
	case catalog.KindWhitepaper, catalog.KindVideo, catalog.KindDiscussion, catalog.KindMailThread:
		return r.Key
	default:
		return r.ID
	}
}

// CIPID is the id of an improvement proposal's key: the digits of a numbered
// one, the key of a draft.
func CIPID(key string) string {
	if strings.HasPrefix(key, "PR-") {
		return key
	}
	if i := strings.LastIndexByte(key, '-'); i >= 0 {
		return key[i+1:]
	}
	return key
}

// PageURL returns our own address of a record: one that this server answers.
func (b Base) PageURL(r catalog.Record) string {
	if r.Kind == catalog.KindCIP {
		return b.PublicURL + "/api/v1/cips/" + url.PathEscape(CIPID(r.Key))
	}
	return b.PublicURL + "/api/v1/docs/" + strconv.FormatInt(r.ID, 10)
}

// URL returns the source's own address of a record, or ours where it has none.
func (b Base) URL(r catalog.Record) string {
	if r.URL != "" {
		return r.URL
	}
	return b.PageURL(r)
}

// Time returns a time for an answer: nil when it is unknown.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// NotFound turns the catalog's error into the operation's, in words.
func NotFound(err error, format string, args ...any) error {
	if errors.Is(err, catalog.ErrNotFound) {
		return op.NotFound(format, args...)
	}
	return err
}

// textLimit is the most characters of one text in one answer.
const textLimit = 50_000

// Text is a part of a long text.
type Text struct {
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Page returns the part of a text that begins at the cursor, which an earlier
// answer gave: the byte where that answer ended.
func Page(text, cursor string) (Text, error) {
	start := 0
	if cursor != "" {
		n, err := strconv.Atoi(cursor)
		if err != nil || n < 0 || n >= len(text) || !utf8.RuneStart(text[n]) {
			return Text{}, op.Invalid("cursor must be a next_cursor of an earlier answer")
		}
		start = n
	}
	rest := text[start:]
	chars := 0
	for i := range rest {
		if chars == textLimit {
			return Text{Content: rest[:i], Truncated: true, NextCursor: strconv.Itoa(start + i)}, nil
		}
		chars++
	}
	return Text{Content: rest}, nil
}

// SearchTypes are the values of type, "all" first.
var SearchTypes = []string{"all", catalog.SearchCIP, catalog.SearchDoc, catalog.SearchDiscussion, catalog.SearchMail,
	catalog.SearchWhitepaper, catalog.SearchProposal, catalog.SearchBlog, catalog.SearchVideo, catalog.SearchForge}

// KindsOf returns the kinds of a search type; nil for all.
func KindsOf(searchType string) []string {
	if searchType == "all" || searchType == "" {
		return nil
	}
	var out []string
	for _, info := range catalog.Kinds {
		if info.SearchType == searchType {
			out = append(out, string(info.Kind))
		}
	}
	return out
}

// TypeOf returns the search type of a kind.
func TypeOf(k catalog.Kind) string {
	if info, ok := catalog.InfoOf(k); ok {
		return info.SearchType
	}
	return catalog.SearchDoc
}

// Decode reads a record's data; a record that does not hold its kind's form
// is a mistake of ours.
func Decode[T any](r catalog.Record) (T, error) {
	v, err := catalog.Decode[T](r)
	if err != nil {
		return v, fmt.Errorf("record %d: %w", r.ID, err)
	}
	return v, nil
}
