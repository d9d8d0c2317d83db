package forum_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/forum"
	"almanac/testing/connectortest"
	"almanac/text/options"
)

// many is a forum with many topics, each of one post.
type many int

func (n many) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	topic := func(id int) object {
		return object{
			"id": id, "title": fmt.Sprintf("Notice to mariners %d", id), "slug": "notice", "posts_count": 1,
			"highest_post_number": 1, "views": id % 900,
			"like_count": id % 7, "created_at": day, "last_posted_at": day,
			"bumped_at": day.Add(-time.Duration(id) * time.Second), "category_id": 1, "visible": true,
			"archetype": "regular",
		}
	}
	var answer object
	switch {
	case r.URL.Path == "/categories.json":
		answer = object{"category_list": object{"categories": []object{{"id": 1, "name": "Notices", "slug": "notices",
			"topic_count": int(n)}}}}
	case r.URL.Path == "/latest.json":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		lines := []object{}
		for id := page*100 + 1; id <= min(int(n), page*100+100); id++ {
			lines = append(lines, topic(id))
		}
		list := object{"topics": lines}
		if page*100+100 < int(n) {
			list["more_topics_url"] = "/latest?page=" + strconv.Itoa(page+1)
		}
		answer = object{"topic_list": list}
	default:
		id, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/t/"), ".json"))
		answer = topic(id)
		text := strings.Repeat(fmt.Sprintf(
			"<p>The buoy of notice %d is off its station until the tide turns, so keep clear of it.</p>\n", id), 12)
		answer["post_stream"] = object{"stream": []int{id},
			"posts": []object{{"id": id, "post_number": 1, "post_type": 1, "username": "anna", "created_at": day,
				"cooked": text}}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// BenchmarkManyTopics syncs a forum of 100,000 topics into a catalog, twice.
// It reports for each sync the growth of the memory of the process, which also
// runs the forum.
func BenchmarkManyTopics(b *testing.B) {
	const topics = 100_000
	for b.Loop() {
		dir := b.TempDir()
		server := connectortest.NewServer(b, many(topics))
		store, err := sqlite.Open(b.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db")})
		if err != nil {
			b.Fatal(err)
		}
		n := connectortest.Causeway
		n.Sources = []network.Source{{Name: "forum", Kind: "forum", Options: options.Of(object{"url": server.URL})}}
		p := ingest.New(ingest.Config{
			Store: store, Network: n, Now: func() time.Time { return connectortest.Now }, WorkDir: dir,
			HTTP:       connectortest.Client(b),
			Connectors: ingest.Kinds(forum.Kind),
		})
		debug.FreeOSMemory()
		idle := resident(b)
		for i, name := range []string{"first", "second"} {
			start, peak := time.Now(), watch(b, server)
			reports, err := p.Sync(b.Context(), nil)
			if err != nil || reports[0].Created != 2*topics*(1-i) || reports[0].Skipped > 0 {
				b.Fatalf("%d created, problems %v: %v", reports[0].Created, reports[0].Problems, err)
			}
			b.ReportMetric(time.Since(start).Seconds(), name+"-s")
			b.ReportMetric(float64(peak()-idle)/(1<<20), name+"-MB-above-idle")
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// watch observes the resident memory of the process until the returned function
// is called, which returns the maximum in bytes. The requests that the server
// keeps for tests are discarded.
func watch(b *testing.B, server *connectortest.Server) (peak func() int64) {
	most, done, ended := int64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				most = max(most, resident(b))
				server.Requests()
			}
		}
	}()
	return func() int64 {
		close(done)
		<-ended
		return most
	}
}

func resident(b *testing.B) int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("the memory of the process can only be read on Linux")
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		b.Error(err)
	}
	return pages * int64(os.Getpagesize())
}
