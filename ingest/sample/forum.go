package sample

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// topic is the head of forum/NUMBER.md.
type topic struct {
	Title    string   `yaml:"title"`
	Slug     string   `yaml:"slug"` // of its address; made of the title if it is not there
	Category string   `yaml:"category"`
	Tags     []string `yaml:"tags"`
	Views    int      `yaml:"views"`
	Accepted int      `yaml:"accepted"` // number of the post that answers
	Pinned   bool     `yaml:"pinned"`
	Closed   bool     `yaml:"closed"`
}

// category is one of forum/categories.yaml.
type category struct {
	ID          int        `yaml:"id"`
	Name        string     `yaml:"name"`
	Slug        string     `yaml:"slug"`
	Description string     `yaml:"description"`
	Below       []category `yaml:"below"`
}

const forumHost = "web/forum.causeway.example.org/"

// forum writes what the forum's server answers.
func (w *world) forum() error {
	var tree []category
	if err := w.yaml("forum/categories.yaml", &tree); err != nil {
		return err
	}
	known := map[string]int{}
	var index func([]category)
	index = func(list []category) {
		for _, c := range list {
			known[c.Name] = c.ID
			index(c.Below)
		}
	}
	index(tree)
	lines, topics := []any{}, map[int]int{}
	for _, name := range below(w.files, "forum") {
		if path.Ext(name) != ".md" {
			continue
		}
		id, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".md"))
		if err != nil {
			return fmt.Errorf("%s: want a topic's number as its name", name)
		}
		line, category, err := w.topic(name, id, known)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines = append(lines, line)
		topics[category]++
	}
	var list func([]category) []any
	list = func(level []category) []any {
		all := []any{}
		for _, c := range level {
			all = append(all, object{
				"id": c.ID, "name": c.Name, "slug": c.Slug, "topic_count": topics[c.ID], "description_text": c.Description,
				"read_restricted": false, "subcategory_list": list(c.Below),
			})
		}
		return all
	}
	w.json(forumHost+"categories.json",
		object{"category_list": object{"can_create_category": false, "categories": list(tree)}})
	w.json(forumHost+"latest.json", object{"users": []any{}, "topic_list": object{"per_page": 100, "topics": lines}})
	return nil
}

// topic writes a topic with its posts and returns its line in the list.
func (w *world) topic(name string, id int, categories map[string]int) (line object, category int, err error) {
	var head topic
	entries, err := readThread(w.files[name], w.anchor, &head, "re", "likes", "reads")
	if err != nil {
		return nil, 0, err
	}
	category, ok := categories[head.Category]
	if !ok {
		return nil, 0, fmt.Errorf("category %q is not in forum/categories.yaml", head.Category)
	}
	if head.Slug == "" {
		head.Slug = slug(head.Title)
	}
	posts, stream, likes, writers := []any{}, []int{}, 0, map[string]bool{}
	answers := map[int]int{}
	for i, e := range entries {
		post, err := w.post(e, id, i+1)
		if err != nil {
			return nil, 0, err
		}
		posts, stream = append(posts, post), append(stream, id*1000+i+1)
		likes, writers[e.by] = likes+e.number("likes"), true
		answers[e.number("re")]++
	}
	for i, p := range posts {
		p.(object)["reply_count"] = answers[i+1]
	}
	first, last := entries[0], entries[len(entries)-1]
	line = object{
		"id": id, "title": head.Title, "slug": head.Slug, "posts_count": len(posts),
		"highest_post_number": len(posts), "views": head.Views, "like_count": likes,
		"created_at": first.stamp(), "last_posted_at": last.stamp(), "bumped_at": last.stamp(),
		"category_id": category, "tags": append([]string{}, head.Tags...), "closed": head.Closed,
		"archived": false, "pinned": head.Pinned, "pinned_globally": head.Pinned, "visible": true,
		"archetype": "regular", "last_poster_username": last.by, "has_accepted_answer": head.Accepted > 0,
	}
	whole := object{
		"post_stream":       object{"posts": posts, "stream": stream},
		"participant_count": len(writers),
		"details":           object{"created_by": object{"username": first.by}, "last_poster": object{"username": last.by}},
	}
	for field, value := range line {
		whole[field] = value
	}
	if head.Accepted > 0 {
		whole["accepted_answer"] = object{"post_number": head.Accepted}
	}
	w.json(fmt.Sprintf("%st/%d.json", forumHost, id), whole)
	return line, category, nil
}

func (w *world) post(e entry, topic, number int) (object, error) {
	who, err := w.people.find(e.by)
	if err != nil {
		return nil, err
	}
	cooked, err := markdownToHTML(e.text)
	if err != nil {
		return nil, err
	}
	post := object{
		"id": topic*1000 + number, "post_number": number, "post_type": 1, "topic_id": topic,
		"username": who.Login, "name": who.Name, "created_at": e.stamp(), "updated_at": e.stamp(),
		"cooked": cooked, "reads": e.number("reads"), "version": 1, "admin": who.Role == "admin",
		"moderator": who.Role == "moderator", "staff": who.Role != "",
		"actions_summary": []any{object{"id": 2, "count": e.number("likes")}}, "reply_to_post_number": nil,
	}
	if e.has("re") {
		post["reply_to_post_number"] = e.number("re")
	}
	return post, nil
}

var commonMark = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify))

func markdownToHTML(text string) (string, error) {
	var out bytes.Buffer
	if err := commonMark.Convert([]byte(text), &out); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

func slug(title string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(title), "-"), "-")
}

// newest is the later of two times.
func newest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
