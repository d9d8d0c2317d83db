package forge

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"almanac/ingest"
	"almanac/text/markup"
)

// The types of GitHub's REST API, with the fields that are used:
// https://docs.github.com/rest, version 2022-11-28. Fields may be null: a null
// leaves a Go value unchanged.

// errNoStamp: an item of a list has no id or no time.
var errNoStamp = errors.New("has no id or no updated_at: is this API of another version?")

// user is an account; nil for a deleted one.
type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`       // User, Bot, Organization
	Graph string `json:"__typename"` // the same in GraphQL, where bots have no [bot] in their login
}

// ghost is the name for deleted accounts, as on GitHub's pages.
const (
	ghost     = "ghost"
	botSuffix = "[bot]"
)

func (a access) bot(u *user) bool {
	return u != nil && (u.Type == "Bot" || u.Graph == "Bot" || strings.HasSuffix(u.Login, botSuffix) ||
		slices.ContainsFunc(a.Bots, func(login string) bool { return strings.EqualFold(login, u.Login) }))
}

// author names an account. For both APIs bots have [bot] after their login.
func (a access) author(u *user) string {
	switch {
	case u == nil || u.Login == "":
		return ghost
	case a.bot(u):
		return strings.TrimSuffix(u.Login, botSuffix) + botSuffix
	}
	return u.Login
}

// label is a label: an object, or only its name.
type label string

func (l *label) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		*l = label(name)
		return nil
	}
	var object struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	*l = label(object.Name)
	return nil
}

func names(labels []label) []string {
	out := []string{}
	for _, l := range labels {
		if name := strings.TrimSpace(string(l)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func logins(users []*user) []string {
	out := []string{}
	for _, u := range users {
		if u != nil && u.Login != "" {
			out = append(out, u.Login)
		}
	}
	return out
}

type reactions struct {
	Total int64 `json:"total_count"`
}

type milestone struct {
	Title string `json:"title"`
}

// issue is an item of /repos/{owner}/{repo}/issues: an issue, or a pull request
// if that field is present.
type issue struct {
	Number      int       `json:"number"`
	State       string    `json:"state"`
	StateReason string    `json:"state_reason"`
	Title       string    `json:"title"`
	Body        string    `json:"body"`
	User        *user     `json:"user"`
	Labels      []label   `json:"labels"`
	Assignees   []*user   `json:"assignees"`
	Milestone   milestone `json:"milestone"`
	Comments    int64     `json:"comments"`
	Association string    `json:"author_association"`
	Reactions   reactions `json:"reactions"`
	HTMLURL     string    `json:"html_url"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at"`
	Draft       bool      `json:"draft"`
	Type        struct {
		Name string `json:"name"`
	} `json:"type"`
	PullRequest *struct {
		MergedAt time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// comment is an item of …/issues/comments or …/pulls/comments.
type comment struct {
	ID          int64     `json:"id"`
	Body        string    `json:"body"`
	User        *user     `json:"user"`
	HTMLURL     string    `json:"html_url"`
	IssueURL    string    `json:"issue_url"`
	PullURL     string    `json:"pull_request_url"` // of a review comment
	Path        string    `json:"path"`
	InReplyTo   int64     `json:"in_reply_to_id"`
	Association string    `json:"author_association"`
	Reactions   reactions `json:"reactions"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Minimized   struct {
		Reason string `json:"reason"`
	} `json:"minimized"`
}

// hidden reports whether maintainers hid a comment because it was not part of
// the conversation. Comments hidden as outdated or resolved were.
func hidden(reason string) bool {
	reason = strings.ToLower(strings.ReplaceAll(reason, "_", "-"))
	return slices.Contains([]string{"spam", "abuse", "off-topic"}, reason)
}

type release struct {
	Tag         string    `json:"tag_name"`
	Commitish   string    `json:"target_commitish"`
	Name        string    `json:"name"`
	Body        string    `json:"body"`
	Draft       bool      `json:"draft"`
	Prerelease  bool      `json:"prerelease"`
	Author      *user     `json:"author"`
	HTMLURL     string    `json:"html_url"`
	CreatedAt   time.Time `json:"created_at"`
	PublishedAt time.Time `json:"published_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Reactions   reactions `json:"reactions"`
}

type repository struct {
	FullName       string    `json:"full_name"`
	Description    string    `json:"description"`
	HTMLURL        string    `json:"html_url"`
	DefaultBranch  string    `json:"default_branch"`
	Language       string    `json:"language"`
	Topics         []string  `json:"topics"`
	Archived       bool      `json:"archived"`
	HasDiscussions bool      `json:"has_discussions"`
	CreatedAt      time.Time `json:"created_at"`
	PushedAt       time.Time `json:"pushed_at"`
	License        struct {
		SPDX string `json:"spdx_id"`
	} `json:"license"`
}

// blob is the content of a file, from …/readme and …/git/blobs/{sha}.
type blob struct {
	Path     string `json:"path"` // only of a readme
	SHA      string `json:"sha"`
	Content  string `json:"content"`  // with line breaks
	Encoding string `json:"encoding"` // base64; none for a readme of more than a megabyte
}

var errNoContent = errors.New("the response is not the requested content")

func (b blob) text() (string, error) {
	data, err := base64.StdEncoding.DecodeString(b.Content)
	if err != nil || b.Encoding != "base64" {
		return "", errNoContent
	}
	return string(data), nil
}

// association returns an author's relation to a repository, "" for none.
func association(s string) string {
	if s = strings.ToLower(s); s == "none" {
		return ""
	}
	return s
}

// text returns what people wrote, without the comments of the form. Forges take some
// hundred kilobytes; what is larger is cut before it is parsed.
func text(body string) string {
	if len(body) > ingest.MaxText {
		body = strings.ToValidUTF8(body[:ingest.MaxText], "")
	}
	return markup.Parse(markup.Input{Path: "text.md", Text: body}).Body
}

// newer returns the later of two times; the second may be missing.
func newer(created, updated time.Time) time.Time {
	if updated.IsZero() {
		return created
	}
	return updated
}
