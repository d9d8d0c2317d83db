package forum_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/ingest/forum"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// day is when the fake forum's first topic was created.
var day = time.Date(2031, 2, 1, 9, 0, 0, 0, time.UTC)

// object is a JSON object as the forum sends it.
type object = map[string]any

// fakePost is a post as the forum stores it.
type fakePost struct {
	id, number int
	user       string
	cooked     string
	likes      int
	at         time.Time
	deleted    bool   // in no stream
	extra      object // merged over the response
}

// fakeTopic is a topic as the forum stores it.
type fakeTopic struct {
	id       int
	title    string
	category int
	views    int
	posts    []*fakePost
	bumped   time.Time
	gone     bool   // deleted: 404
	slipped  bool   // exists, but not in the list
	mega     bool   // sent without the ids of its posts
	extra    object // merged over the topic and its line
}

func (t *fakeTopic) visible() []*fakePost {
	return slices.DeleteFunc(slices.Clone(t.posts), func(p *fakePost) bool { return p.deleted })
}

// fake is a forum: its content, and the responses of its JSON interface in the
// form of the real ones.
type fake struct {
	mu     sync.Mutex // guards the fields below
	topics []*fakeTopic
	slugs  map[int]string // of categories, where they differ from the standard ones
	oldest bool           // like old versions: 30 per page, tags as names
	lazy   int            // > 0: so many categories come before the others, and they come in pages
	nextID int
}

// change modifies the forum under its lock.
func (f *fake) change(alter func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	alter()
}

// topic adds a topic with posts by anna, bodo and chen in turn.
func (f *fake) topic(id, posts int) *fakeTopic {
	t := &fakeTopic{id: id, title: fmt.Sprintf("How to moor vessel %d", id), category: 5, views: 10 + id,
		bumped: day.Add(time.Duration(id) * time.Hour)}
	f.topics = append(f.topics, t)
	for range posts {
		f.reply(t, fmt.Sprintf("<p>Line %d of vessel %d.</p>", len(t.posts)+1, id))
	}
	t.bumped = day.Add(time.Duration(id) * time.Hour)
	return t
}

// reply adds a post to a topic and moves it up the list.
func (f *fake) reply(t *fakeTopic, cooked string) *fakePost {
	f.nextID++
	n := len(t.posts) + 1
	p := &fakePost{id: 9000 + f.nextID, number: n, user: []string{"anna", "bodo", "chen"}[n%3], cooked: cooked,
		at: t.bumped.Add(time.Duration(n) * time.Minute)}
	t.posts = append(t.posts, p)
	t.bumped = p.at.Add(time.Minute)
	return p
}

func (f *fake) find(id int) *fakeTopic {
	for _, t := range f.topics {
		if t.id == id && !t.gone {
			return t
		}
	}
	return nil
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var answer any
	switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
	case r.URL.Path == "/categories.json" && r.URL.Query().Get("include_subcategories") == "true":
		if answer = f.categories(); f.lazy > 0 {
			answer = lazily(answer.(object), r.URL.Query())
		}
	case r.URL.Path == "/latest.json":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		answer = f.latest(page)
	case len(parts) == 2 && parts[0] == "t" && strings.HasSuffix(parts[1], ".json"):
		id, _ := strconv.Atoi(strings.TrimSuffix(parts[1], ".json"))
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		answer = f.show(id, max(page, 1))
	case len(parts) == 3 && parts[0] == "t" && parts[2] == "posts.json":
		id, _ := strconv.Atoi(parts[1])
		answer = f.some(id, r.URL.Query()["post_ids[]"])
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		answer = object{"errors": []string{"The requested URL or resource could not be found."},
			"error_type": "not_found"}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *fake) slug(id int, standard string) string {
	if s, ok := f.slugs[id]; ok {
		return s
	}
	return standard
}

func (f *fake) categories() object {
	category := func(id int, name, slug string, topics int, below ...object) object {
		return object{
			"id": id, "name": name, "color": "0088CC", "text_color": "FFFFFF", "slug": f.slug(id, slug),
			"topic_count": topics, "post_count": 3 * topics,
			"position": id, "description": nil, "topic_url": "/t/about-" + slug, "read_restricted": false,
			"permission": nil, "has_children": len(below) > 0,
			"subcategory_ids": ids(below), "subcategory_list": below, "is_uncategorized": id == 1, "uploaded_logo": nil,
		}
	}
	var list, below []object
	for i := range f.lazy {
		list = append(list, category(100+i, fmt.Sprint("Berth ", i), fmt.Sprint("berth-", i), 0))
		below = append(below, category(200+i, fmt.Sprint("Rope ", i), fmt.Sprint("rope-", i), 0))
	}
	below = append(below, category(5, "Nodes", "nodes", 2),
		category(8, "Crew", "crew", 1, category(9, "Galley", "galley", 1)))
	list = append(list, category(1, "Uncategorized", "uncategorized", 0),
		category(4, "Support", "support", len(f.topics), below...), category(7, "Lounge", "lounge", 1))
	return object{"category_list": object{"can_create_category": false, "can_create_topic": false,
		"categories": list}}
}

func ids(categories []object) []int {
	list := []int{}
	for _, c := range categories {
		list = append(list, c["id"].(int))
	}
	return list
}

// lazily sends the categories as a forum with many does: 20 a page, with five below
// each of them beside it.
func lazily(all object, query url.Values) object {
	list := all["category_list"].(object)["categories"].([]object)
	above, _ := strconv.Atoi(query.Get("parent_category_id"))
	if above != 0 {
		list = below(list, above)
	}
	page, _ := strconv.Atoi(query.Get("page"))
	from := min(20*max(page-1, 0), len(list))
	list = slices.Clone(list[from:min(from+20, len(list))])
	if above == 0 {
		for _, c := range list {
			inside := c["subcategory_list"].([]object)
			for _, sub := range inside[:min(5, len(inside))] {
				sub["parent_category_id"] = c["id"]
				list = append(list, sub)
			}
		}
	}
	for _, c := range list {
		delete(c, "subcategory_list")
		if above != 0 {
			c["parent_category_id"] = above
		}
	}
	return object{"category_list": object{"categories": list}}
}

// below finds the categories below one.
func below(list []object, above int) []object {
	for _, c := range list {
		inside := c["subcategory_list"].([]object)
		if c["id"] == above {
			return inside
		}
		if found := below(inside, above); found != nil {
			return found
		}
	}
	return nil
}

// latest returns a page of the list, ordered by activity.
func (f *fake) latest(page int) object {
	size := 100
	if f.oldest {
		size = 30
	}
	sorted := slices.DeleteFunc(slices.Clone(f.topics), func(t *fakeTopic) bool { return t.gone || t.slipped })
	slices.SortStableFunc(sorted, func(a, b *fakeTopic) int { return b.bumped.Compare(a.bumped) })
	from := min(page*size, len(sorted))
	to := min(from+size, len(sorted))
	lines := []object{}
	for _, t := range sorted[from:to] {
		lines = append(lines, f.line(t))
	}
	list := object{"can_create_topic": false, "draft": nil, "draft_key": "new_topic", "draft_sequence": nil,
		"per_page": size, "topics": lines}
	if to < len(sorted) {
		list["more_topics_url"] = fmt.Sprintf("/latest?no_definitions=true&page=%d", page+1)
	}
	return object{"users": []object{{"id": 12, "username": "anna", "name": "Anna Quay",
		"avatar_template": "/a/{size}.png"}}, "primary_groups": []any{}, "topic_list": list}
}

func (f *fake) line(t *fakeTopic) object {
	o := f.common(t)
	delete(o, "participant_count")
	o["bumped"], o["bumped_at"], o["unseen"] = true, t.bumped.Format("2006-01-02T15:04:05.000Z"), false
	o["last_poster_username"] = t.posts[len(t.posts)-1].user
	o["has_accepted_answer"] = o["accepted_answer"] != nil
	o["excerpt"], o["image_url"], o["liked"], o["bookmarked"], o["unpinned"] = "An excerpt&hellip;", nil, nil, nil, nil
	o["posters"] = []object{{"extras": "latest", "description": "Original Poster, Most Recent Poster", "user_id": 12,
		"primary_group_id": nil}}
	for k, v := range t.extra {
		o[k] = v
	}
	return o
}

// common returns the fields that both the topic and its line in the list have.
func (f *fake) common(t *fakeTopic) object {
	seen, likes, last := t.visible(), 0, time.Time{}
	for _, p := range seen {
		likes += p.likes
		last = p.at
	}
	tags := []object{{"id": 3, "name": "mooring", "slug": "mooring"}}
	o := object{
		"id": t.id, "title": t.title, "fancy_title": strings.ReplaceAll(t.title, "&", "&amp;"),
		"slug":        fmt.Sprintf("how-to-moor-vessel-%d", t.id),
		"posts_count": len(seen), "reply_count": len(seen) / 3, "highest_post_number": len(t.posts),
		"created_at":     t.posts[0].at.Format(time.RFC3339Nano),
		"last_posted_at": last.Format(time.RFC3339Nano), "archetype": "regular", "pinned": false,
		"pinned_globally": false, "visible": true,
		"closed": false, "archived": false, "tags": tags, "tags_descriptions": object{}, "views": t.views,
		"like_count": likes, "category_id": t.category,
		"featured_link": nil, "has_summary": false, "participant_count": 3,
	}
	if f.oldest {
		o["tags"] = []string{"mooring"}
	}
	for k, v := range t.extra {
		o[k] = v
	}
	return o
}

const chunk = 20

func (f *fake) show(id, page int) any {
	t := f.find(id)
	if t == nil {
		return nil
	}
	seen := t.visible()
	if (page-1)*chunk >= len(seen) {
		return nil
	}
	o := f.common(t)
	ids := []int{}
	for _, p := range seen {
		ids = append(ids, p.id)
	}
	stream := object{"posts": f.posts(t, seen[(page-1)*chunk:min(page*chunk, len(seen))]), "stream": ids}
	if t.mega {
		stream["isMegaTopic"], stream["lastId"] = true, ids[len(ids)-1]
		delete(stream, "stream")
	}
	o["post_stream"] = stream
	o["timeline_lookup"], o["suggested_topics"], o["word_count"], o["deleted_at"], o["user_id"] = [][]int{{1,
		9}}, []object{}, 77, nil, 12
	o["pinned_at"], o["pinned_until"], o["draft"], o["chunk_size"], o["message_bus_last_id"] = nil, nil, nil, chunk, 4
	o["actions_summary"] = []object{{"id": 4, "count": 0, "hidden": false, "can_act": false}}
	user := func(name string) object {
		return object{"id": 12, "username": name, "name": strings.ToUpper(name[:1]) + name[1:] + " Quay",
			"avatar_template": "/a/{size}.png"}
	}
	o["details"] = object{"can_edit": false, "notification_level": 1, "participants": []object{user("anna")},
		"created_by": user(t.posts[0].user), "last_poster": user(seen[len(seen)-1].user)}
	return o
}

func (f *fake) some(id int, ids []string) any {
	t := f.find(id)
	if t == nil {
		return nil
	}
	var wanted []*fakePost
	for _, p := range t.visible() {
		if slices.Contains(ids, strconv.Itoa(p.id)) {
			wanted = append(wanted, p)
		}
	}
	return object{"post_stream": object{"posts": f.posts(t, wanted)}, "id": id}
}

func (f *fake) posts(t *fakeTopic, list []*fakePost) []object {
	out := []object{}
	for _, p := range list {
		o := object{
			"id": p.id, "name": strings.ToUpper(p.user), "username": p.user, "avatar_template": "/user_avatar/" +
				p.user + "/{size}/3_2.png",
			"created_at": p.at.Format("2006-01-02T15:04:05.000Z"), "cooked": p.cooked, "post_number": p.number,
			"post_type": 1, "posts_count": len(t.posts),
			"updated_at": p.at.Format("2006-01-02T15:04:05.000Z"), "reply_count": 0, "reply_to_post_number": nil,
			"quote_count": 0, "incoming_link_count": 2,
			"reads": 31, "readers_count": 30, "score": 6.2, "yours": false, "topic_id": t.id,
			"topic_slug": "how-to-moor", "display_username": p.user,
			"primary_group_name": nil, "flair_name": nil, "version": 1, "can_edit": false, "can_delete": false,
			"can_recover": false, "can_wiki": false,
			"link_counts": []object{{"url": "https://docs.example.org/moor", "internal": false, "reflection": false,
				"title": "Moor", "clicks": 3}},
			"read": true, "user_title": nil, "bookmarked": false,
			"actions_summary": []object{{"id": 2, "count": p.likes}, {"id": 3, "can_act": false}},
			"moderator":       false, "admin": false, "staff": false, "user_id": 12, "hidden": false, "trust_level": 2,
			"deleted_at": nil, "user_deleted": false,
			"edit_reason": nil, "can_view_edit_history": true, "wiki": false,
		}
		if p.number > 1 {
			o["reply_to_post_number"] = 1
		}
		if p.likes == 0 {
			o["actions_summary"] = []object{}
		}
		for k, v := range p.extra {
			if v == nil {
				delete(o, k)
				continue
			}
			o[k] = v
		}
		out = append(out, o)
	}
	return out
}

// bench is a forum behind a server that can misbehave, and a source that
// reads it.
type bench struct {
	*fake
	server *connectortest.Server
	config connectortest.Config
}

func newBench(t testing.TB) *bench {
	f := &fake{}
	s := connectortest.NewServer(t, f)
	return &bench{f, s, connectortest.Config{Kind: forum.Kind, Options: object{"url": s.URL}}}
}
