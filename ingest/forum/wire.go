package forum

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"almanac/text/dates"
)

// The types of the forum's responses, with the fields that are read. Numbers and
// times have several forms in the versions of the software, and any field may be
// null. Essential fields are pointers: if one is missing, because it was
// renamed, that is an error and not a zero.

// categoriesPage is /categories.json.
type categoriesPage struct {
	List *struct {
		Categories []wireCategory `json:"categories"`
	} `json:"category_list"`
}

type wireCategory struct {
	ID       integer        `json:"id"`
	Name     string         `json:"name"`
	Slug     string         `json:"slug"`
	Topics   integer        `json:"topic_count"`
	Above    integer        `json:"parent_category_id"`
	Below    []wireCategory `json:"subcategory_list"`
	BelowIDs []integer      `json:"subcategory_ids"` // also of those that are not sent
}

// topicsPage is /latest.json.
type topicsPage struct {
	List *struct {
		More   string            `json:"more_topics_url"`
		Topics []json.RawMessage `json:"topics"`
	} `json:"topic_list"`
}

// about is what the forum says of a topic everywhere.
type about struct {
	ID        *integer `json:"id"`
	Title     *string  `json:"title"`
	Slug      string   `json:"slug"`
	Posts     integer  `json:"posts_count"`
	Views     integer  `json:"views"`
	Likes     integer  `json:"like_count"`
	Category  integer  `json:"category_id"`
	Closed    bool     `json:"closed"`
	Archived  bool     `json:"archived"`
	Pinned    bool     `json:"pinned"`
	Globally  bool     `json:"pinned_globally"`
	Visible   *bool    `json:"visible"`
	Archetype string   `json:"archetype"`
	Tags      tags     `json:"tags"`
}

// line is a topic in a list.
type line struct {
	about
	Highest    integer `json:"highest_post_number"`
	Bumped     stamp   `json:"bumped_at"`
	Solved     bool    `json:"has_accepted_answer"`
	LastPoster string  `json:"last_poster_username"`
}

func (l line) check() error {
	switch {
	case l.ID == nil || *l.ID <= 0:
		return errors.New("a topic without an id")
	case l.Title == nil:
		return fmt.Errorf("topic %d has no title", *l.ID)
	case l.Bumped.IsZero():
		return fmt.Errorf("topic %d has no bumped_at", *l.ID)
	}
	return nil
}

// wireTopic is /t/{id}.json, and its stream alone /t/{id}/posts.json.
type wireTopic struct {
	about
	Participants integer `json:"participant_count"`
	Created      stamp   `json:"created_at"`
	LastPosted   stamp   `json:"last_posted_at"`
	Deleted      stamp   `json:"deleted_at"`
	Accepted     *struct {
		Number integer `json:"post_number"`
	} `json:"accepted_answer"`
	Details struct {
		Author     wireUser `json:"created_by"`
		LastPoster wireUser `json:"last_poster"`
	} `json:"details"`
	Stream *stream `json:"post_stream"`
}

type wireUser struct {
	Username string `json:"username"`
}

// stream holds some posts and, in a response about a topic, the ids of all that
// the reader may see. Very large topics come without the ids.
type stream struct {
	Posts *[]json.RawMessage `json:"posts"`
	IDs   []integer          `json:"stream"`
}

// The values of post_type. Others are notes about actions on the topic.
const (
	typeRegular   = 1
	typeModerator = 2 // written by a moderator as such
)

type wirePost struct {
	ID        *integer `json:"id"`
	Number    *integer `json:"post_number"`
	Type      integer  `json:"post_type"`
	Username  string   `json:"username"`
	Created   stamp    `json:"created_at"`
	Updated   stamp    `json:"updated_at"`
	Deleted   stamp    `json:"deleted_at"`
	Cooked    *string  `json:"cooked"` // HTML
	ReplyTo   integer  `json:"reply_to_post_number"`
	Replies   integer  `json:"reply_count"`
	Admin     bool     `json:"admin"`
	Moderator bool     `json:"moderator"`
	Staff     bool     `json:"staff"`
	Hidden    bool     `json:"hidden"`
	Withdrawn bool     `json:"user_deleted"`
	Accepted  bool     `json:"accepted_answer"`
	Actions   []struct {
		ID    integer `json:"id"`
		Count integer `json:"count"`
	} `json:"actions_summary"`
}

func (p wirePost) check() error {
	switch {
	case p.ID == nil:
		return errors.New("a post without an id")
	case p.Number == nil || *p.Number <= 0:
		return fmt.Errorf("post %d has no post_number", *p.ID)
	case p.Cooked == nil:
		return fmt.Errorf("post %d has no cooked text", *p.ID)
	}
	return nil
}

// shown reports whether readers see the post and it has content. A withdrawn
// post has a note instead of its text until it is deleted; a hidden one was
// flagged.
func (p wirePost) shown() bool {
	return (p.Type == 0 || p.Type == typeRegular || p.Type == typeModerator) &&
		p.Deleted.IsZero() && !p.Hidden && !p.Withdrawn
}

// actionLike is the id of likes among a post's actions.
const actionLike = 2

func (p wirePost) likes() int64 {
	for _, a := range p.Actions {
		if a.ID == actionLike {
			return int64(a.Count)
		}
	}
	return 0
}

func (p wirePost) role() string {
	switch {
	case p.Admin:
		return "admin"
	case p.Moderator:
		return "moderator"
	case p.Staff:
		return "staff"
	}
	return ""
}

// integer is an integer, possibly written as a string.
type integer int64

func (n *integer) UnmarshalJSON(data []byte) error {
	text := string(bytes.Trim(data, `"`))
	if text == "null" || text == "" {
		return nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		*n = integer(i)
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != f || f < -1<<53 || f > 1<<53 {
		return fmt.Errorf("%.40s is not a number", data)
	}
	*n = integer(f)
	return nil
}

// stamp is a time; zero if it is null or unreadable.
type stamp struct{ time.Time }

func (s *stamp) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		s.Time = dates.At(text, dates.Instant)
	}
	return nil
}

// tags are a topic's tags, which older versions send as names and newer ones as
// objects.
type tags []string

func (t *tags) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*t = nil
	for _, item := range list {
		var tag struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(item, &tag.Name) != nil {
			if err := json.Unmarshal(item, &tag); err != nil {
				return err
			}
		}
		if tag.Name != "" {
			*t = append(*t, tag.Name)
		}
	}
	return nil
}
