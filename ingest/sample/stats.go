package sample

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"almanac/catalog"
)

// written is when what the fiction holds was written, by kind.
type written struct {
	at       map[catalog.Kind][]time.Time
	statuses []status
}

// status is a change of a numbered proposal's.
type status struct {
	CIP     string    `json:"cip"`
	Date    time.Time `json:"date"`
	To      string    `json:"to"`
	Initial bool      `json:"initial"`
}

// stats are the statistics of the days before the anchor.
func (p past) stats() ([]catalog.Snapshot, error) {
	w, err := p.written()
	if err != nil {
		return nil, err
	}
	return series(catalog.Snapshot{Series: catalog.SeriesStats}, statsDays, func(i int) (time.Time, any, error) {
		at := p.anchor.AddDate(0, 0, -i)
		return at, w.stats(at), nil
	})
}

func (w written) stats(day time.Time) catalog.Stats {
	end := day.AddDate(0, 0, 1)
	byKind := map[catalog.Kind]int{}
	for kind, moments := range w.at {
		byKind[kind] = upTo(moments, end)
	}
	s := catalog.Stats{
		Topics: byKind[catalog.KindTopic], Posts: byKind[catalog.KindPost], Issues: byKind[catalog.KindIssue],
		Pulls: byKind[catalog.KindPull], Proposals: byKind[catalog.KindGrant], Docs: byKind[catalog.KindDoc],
		Videos: byKind[catalog.KindVideo], Blogs: byKind[catalog.KindBlog],
		MailThreads: byKind[catalog.KindMailThread], Radar: byKind[catalog.KindRadar], RecordsByKind: byKind,
	}
	now := map[string]string{}
	for _, c := range w.statuses { // oldest first
		if !c.Date.After(end) {
			now[c.CIP] = c.To
		}
	}
	for _, state := range now {
		s.CIPs++
		switch state {
		case "Review", "Proposed", "Deferred", "Approved":
			s.CIPsInReview++
		case "Final", "Active":
			s.CIPsFinal++
		}
	}
	byKind[catalog.KindCIP] = s.CIPs
	return s
}

var (
	feedDate  = regexp.MustCompile(`<pubDate>([^<]+)</pubDate>`)
	videoDate = regexp.MustCompile(`<updated>([^<]+)</updated>`)
	announced = regexp.MustCompile(`(?m)^  announced: (\S+)$`)
	mailDate  = regexp.MustCompile(`(?m)^Date: (.+)$`)
	docFile   = regexp.MustCompile(`^docs/.*\.(?:md|mdx|rst)$`)
)

// written reads the dates of what servers and files say.
func (p past) written() (written, error) {
	w := written{at: map[catalog.Kind][]time.Time{}}
	add := func(kind catalog.Kind, layout, value string) {
		if at, err := time.Parse(layout, value); err == nil {
			w.at[kind] = append(w.at[kind], at)
		}
	}
	err := fs.WalkDir(p.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(p.files, name)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(name, forumHost+"t/"):
			return w.topic(data)
		case path.Base(name) == "issues.json":
			return w.issues(data)
		case path.Ext(name) == ".mbox":
			for message := range bytes.SplitSeq(data, []byte("\nFrom ")) {
				m := mailDate.FindSubmatch(message)
				if m == nil {
					continue
				}
				add(catalog.KindMailMessage, time.RFC1123Z, string(m[1]))
				if !bytes.Contains(message, []byte("\nIn-Reply-To: ")) {
					add(catalog.KindMailThread, time.RFC1123Z, string(m[1]))
				}
			}
		case strings.HasSuffix(name, "/feed.xml"):
			for _, m := range feedDate.FindAllSubmatch(data, -1) {
				add(catalog.KindBlog, time.RFC1123Z, string(m[1]))
			}
		case strings.HasSuffix(name, "/videos.xml"):
			for _, m := range videoDate.FindAllSubmatch(data, -1) {
				add(catalog.KindVideo, time.RFC3339, string(m[1]))
			}
		case name == "curated/radar.yaml":
			for _, m := range announced.FindAllSubmatch(data, -1) {
				add(catalog.KindRadar, time.DateOnly, string(m[1]))
			}
		case name == "cips/status_history.jsonl", name == "grants/pull-requests.jsonl":
			return w.changes(data)
		case docFile.MatchString(name): // pages say no date; they come with the first release
			w.at[catalog.KindDoc] = append(w.at[catalog.KindDoc], p.anchor.AddDate(0, 0, -390))
		}
		return nil
	})
	return w, err
}

func (w written) topic(data []byte) error {
	var topic struct {
		CreatedAt time.Time `json:"created_at"`
		Stream    struct {
			Posts []struct {
				CreatedAt time.Time `json:"created_at"`
			} `json:"posts"`
		} `json:"post_stream"`
	}
	err := json.Unmarshal(data, &topic)
	w.at[catalog.KindTopic] = append(w.at[catalog.KindTopic], topic.CreatedAt)
	for _, p := range topic.Stream.Posts {
		w.at[catalog.KindPost] = append(w.at[catalog.KindPost], p.CreatedAt)
	}
	return err
}

func (w written) issues(data []byte) error {
	var list []struct {
		CreatedAt time.Time `json:"created_at"`
		Pull      *struct{} `json:"pull_request"`
	}
	err := json.Unmarshal(data, &list)
	for _, i := range list {
		kind := catalog.KindIssue
		if i.Pull != nil {
			kind = catalog.KindPull
		}
		w.at[kind] = append(w.at[kind], i.CreatedAt)
	}
	return err
}

// processPull is the pull request that brought the process of grants.
const processPull = 101

// changes reads the index of proposals' histories, or that of the pull
// requests of grants.
func (w *written) changes(data []byte) error {
	for row := range bytes.Lines(data) {
		var c struct {
			status
			Number      int       `json:"number"`
			FirstCommit time.Time `json:"first_commit"`
		}
		if err := json.Unmarshal(row, &c); err != nil {
			return err
		}
		if c.CIP != "" {
			w.statuses = append(w.statuses, c.status)
		} else if c.Number != processPull {
			w.at[catalog.KindGrant] = append(w.at[catalog.KindGrant], c.FirstCommit)
		}
	}
	return nil
}
