package community

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"almanac/catalog"
)

// newsNames are what the creation of a record of a kind is called.
var newsNames = map[catalog.Kind]string{
	catalog.KindCIP: "new_cip", catalog.KindGrant: "new_proposal", catalog.KindTopic: "new_forum_topic",
	catalog.KindBlog: "new_blog_post", catalog.KindRelease: "new_release", catalog.KindRadar: "new_radar_item",
}

// newsKinds are the kinds of records whose creation is news.
var newsKinds = slices.Sorted(maps.Keys(newsNames))

// statusChange is what the change of a proposal's status is called.
const statusChange = "cip_status_change"

// news is something that happened.
type news struct {
	Name   string // new_cip, …, cip_status_change
	At     time.Time
	Record catalog.Record
	Title  string
	Meta   map[string]any
}

// createdNews returns the news that records of newsKinds were created.
func createdNews(records []catalog.Record) (out []news) {
	for _, r := range records {
		meta := map[string]any{"record_id": r.ID}
		for name, v := range map[string]string{
			"author": r.Author, "state": r.State, "category": r.Category, "container": r.Container,
		} {
			if v != "" {
				meta[name] = v
			}
		}
		out = append(out, news{newsNames[r.Kind], r.CreatedAt.UTC(), r, r.Title, meta})
	}
	return out
}

// statusChanges returns the news of events that changed the status of
// proposals. The first status of a proposal is not a change. A proposal that is
// not among the records, as it has no file, has no id and only the address of
// the event.
func statusChanges(events []catalog.Event, proposals []catalog.Record) (out []news) {
	byKey := make(map[string]catalog.Record, len(proposals))
	for _, r := range proposals {
		byKey[r.Key] = r
	}
	for _, e := range events {
		if e.RawFrom == "" && e.From == "" {
			continue
		}
		n := news{
			Name: statusChange, At: e.At.UTC(), Title: fmt.Sprintf("%s: %s → %s", e.Ref.Key, e.RawFrom, e.RawTo),
			Record: catalog.Record{Kind: e.Ref.Kind, Key: e.Ref.Key, URL: e.URL},
			Meta:   map[string]any{"from": e.From, "to": e.To, "raw_from": e.RawFrom, "raw_to": e.RawTo, "via": e.Via},
		}
		if r, ok := byKey[e.Ref.Key]; ok {
			n.Record, n.Title = r, fmt.Sprintf("%s %s: %s → %s", r.Key, r.Title, e.RawFrom, e.RawTo)
		}
		out = append(out, n)
	}
	return out
}
