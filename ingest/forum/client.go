package forum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"almanac/ingest/outbound"
)

// client calls a forum.
type client struct {
	http *outbound.Client
	base string
}

// get decodes one response into a value.
func (c client) get(ctx context.Context, path string, query url.Values, into any) error {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	answer, err := c.http.Do(ctx, outbound.Request{URL: address, Accept: []string{"application/json"}})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("%s: not the JSON of a forum: %w", path, err)
	}
	return nil
}

// listSize is how many topics are requested per page of the list. Old versions
// always send 30.
const listSize = 100

func (c client) topics(ctx context.Context, page int) (topicsPage, error) {
	var p topicsPage
	err := c.get(ctx, "/latest.json", url.Values{
		"order": {"activity"}, "no_definitions": {"true"},
		"per_page": {strconv.Itoa(listSize)}, "page": {strconv.Itoa(page)},
	}, &p)
	if err == nil && (p.List == nil || p.List.Topics == nil) {
		err = errors.New("/latest.json: the response has no topic_list with topics")
	}
	return p, err
}

func (c client) topic(ctx context.Context, id int64) (wireTopic, error) {
	var t wireTopic
	path := topicPath(id)
	err := c.get(ctx, path, nil, &t)
	switch {
	case err != nil:
	case t.ID == nil || t.Title == nil:
		err = fmt.Errorf("%s: the response has no id or no title", path)
	case t.Stream == nil || t.Stream.Posts == nil:
		err = fmt.Errorf("%s: the response has no post_stream with posts", path)
	}
	return t, err
}

// posts returns the posts of a topic with these ids.
func (c client) posts(ctx context.Context, topic int64, ids []integer) ([]json.RawMessage, error) {
	query := url.Values{}
	for _, id := range ids {
		query.Add("post_ids[]", strconv.FormatInt(int64(id), 10))
	}
	var t wireTopic
	path := fmt.Sprintf("/t/%d/posts.json", topic)
	if err := c.get(ctx, path, query, &t); err != nil {
		return nil, err
	}
	if t.Stream == nil || t.Stream.Posts == nil {
		return nil, fmt.Errorf("%s: the response has no post_stream with posts", path)
	}
	return *t.Stream.Posts, nil
}

// page returns a page of a topic whose stream the forum does not send.
func (c client) page(ctx context.Context, topic int64, page int) ([]json.RawMessage, error) {
	var t wireTopic
	path := topicPath(topic)
	err := c.get(ctx, path, url.Values{"page": {strconv.Itoa(page)}}, &t)
	if isGone(err) || err == nil && (t.Stream == nil || t.Stream.Posts == nil) {
		return nil, nil // after the last page
	}
	if err != nil {
		return nil, err
	}
	return *t.Stream.Posts, nil
}

func topicPath(id int64) string { return fmt.Sprintf("/t/%d.json", id) }

// isGone reports whether the forum's error means that the item does not exist
// for this reader.
func isGone(err error) bool {
	return outbound.BlameOf(err) == outbound.Gone || outbound.StatusOf(err) == http.StatusForbidden
}
