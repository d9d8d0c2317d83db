package sample_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/ingest/sample"
)

// minimum is how many records of each kind the world has at least.
var minimum = map[catalog.Kind]int{
	catalog.KindCIP: 24, catalog.KindDoc: 60, catalog.KindTopic: 40, catalog.KindPost: 200,
	catalog.KindMailMessage: 150,
	catalog.KindWhitepaper:  6, catalog.KindBlog: 20, catalog.KindVideo: 15, catalog.KindProject: 40,
	catalog.KindApp: 20, catalog.KindRepo: 10,
	catalog.KindRelease: 40, catalog.KindDiscussion: 15, catalog.KindGrant: 30, catalog.KindValidator: 30,
	catalog.KindVoteRequest: 25,
	catalog.KindAsset:       7, catalog.KindOperation: 30, catalog.KindRadar: 25, catalog.KindDeprecation: 25,
	catalog.KindFAQ:        40,
	catalog.KindEVMMapping: 30, catalog.KindAPIReference: 7, catalog.KindToolServer: 8, catalog.KindOnboarding: 6,
}

// atLeast is a minimum of what is not a kind.
type atLeast struct {
	what string
	got  int
	want int
}

func TestWorldHasItsMinimum(t *testing.T) {
	c := synced(t)
	kinds, values := map[catalog.Kind]int{}, map[string]map[string]bool{}
	seen := func(what, value string) {
		if values[what] == nil {
			values[what] = map[string]bool{}
		}
		values[what][value] = true
	}
	security, callable, open := 0, 0, 0
	for _, r := range c.records {
		if r.Kind == catalog.KindOperation && strings.HasPrefix(r.Key, "operators-call") ||
			r.Kind == catalog.KindGrant && r.Parent != 0 {
			continue // of one entry that recurs; a further file of one proposal
		}
		kinds[r.Kind]++
		switch r.Kind {
		case catalog.KindCIP:
			seen("statuses", r.State)
		case catalog.KindRelease:
			security += min(1, strings.Count(r.Body, "## Security\n"))
		case catalog.KindValidator:
			seen("versions of validators", decode[catalog.Validator](t, r).Version)
		case catalog.KindVoteRequest:
			open += len(decode[catalog.VoteRequest](t, r).Proposals)
		case catalog.KindAsset:
			seen("provenances of assets", decode[catalog.Asset](t, r).Provenance)
		case catalog.KindPool:
			seen("venues", r.Container)
		case catalog.KindOperation:
			for _, e := range decode[catalog.Operation](t, r).Environments {
				seen("environments of operations", e)
			}
		case catalog.KindDeprecation:
			seen("categories of deprecations", r.Category)
		case catalog.KindMailThread:
			seen("mailing groups", r.Container)
			if n := len(c.votes[r.ID]); n > 0 {
				seen("threads with votes", r.Key)
			}
		case catalog.KindToolServer:
			if decode[catalog.ToolServer](t, r).Callable() {
				callable++
			}
		}
	}
	all := []atLeast{
		{"issues and pull requests", kinds[catalog.KindIssue] + kinds[catalog.KindPull], 120},
		{"releases with a security fix", security, 3},
		{"callable tool servers", callable, 1}, {"proposals cited by vote requests", open, 20},
		{"snapshots of the network", len(c.snapshots[catalog.SeriesNetwork]), 200},
		{"snapshots of the market", len(c.snapshots[catalog.SeriesMarket]), 96},
		{"daily statistics", len(c.snapshots[catalog.SeriesStats]), 60},
	}
	for kind, want := range minimum {
		all = append(all, atLeast{string(kind), kinds[kind], want})
	}
	for what, want := range map[string]int{
		"statuses": 6, "versions of validators": 3, "venues": 3, "environments of operations": 4,
		"categories of deprecations": 6,
		"mailing groups":             6, "threads with votes": 4, "provenances of assets": 2,
	} {
		all = append(all, atLeast{what, len(values[what]), want})
	}
	for kind, n := range activity(c) {
		all = append(all, atLeast{"activity of the last 30 days: " + kind, n, 1})
	}
	slices.SortFunc(all, func(a, b atLeast) int { return strings.Compare(a.what, b.what) })
	short := ""
	for _, one := range all {
		if one.got < one.want {
			short += fmt.Sprintf("\n  %-45s %4d of %d", one.what, one.got, one.want)
		}
	}
	if short != "" {
		t.Errorf("too few:%s", short)
	}
}

// activity counts what happened in the thirty days before the anchor, by the
// seven kinds of the activity stream.
func activity(c contents) map[string]int {
	since := anchor.AddDate(0, 0, -30)
	n := map[string]int{}
	kinds := map[catalog.Kind]string{
		catalog.KindCIP: "new_cip", catalog.KindGrant: "new_proposal", catalog.KindTopic: "new_forum_topic",
		catalog.KindBlog:    "new_blog_post",
		catalog.KindRelease: "new_release", catalog.KindRadar: "new_radar_item",
	}
	n["cip_status_change"] = 0
	for _, name := range kinds {
		n[name] = 0
	}
	for _, r := range c.records {
		if name, ok := kinds[r.Kind]; ok && r.CreatedAt.After(since) && r.Parent == 0 {
			n[name]++
		}
	}
	for _, e := range c.events {
		if e.At.After(since) && e.From != "" {
			n["cip_status_change"]++
		}
	}
	return n
}

// Mentions in texts, and what they name. Each pattern's first group is the key.
var (
	grantMention = regexp.MustCompile(`(?i)\bgrants? (?:proposal )?(\d{2,3})\b`)
	issueMention = regexp.MustCompile(
		`(?:^|[\s(])(?:(node|wallet|indexer|handbook|cway|sedge|token-standard|sls|relay-exporter|settlement-kit))?#(\d{1,4})\b`)
	releaseMention  = regexp.MustCompile(`\b(?:node|Node|wallet|Wallet) (\d+\.\d+\.\d+(?:-rc\d+)?)\b`)
	advisory        = regexp.MustCompile(`\bCWSA-(\d+)\b`)
	topicMention    = regexp.MustCompile(`https://forum\.causeway\.example\.org/t/[\w-]+/(\d+)`)
	videoMention    = regexp.MustCompile(`https://video\.causeway\.example\.org/watch\?v=(\w+)`)
	postMention     = regexp.MustCompile(`https://blog\.causeway\.example\.org/posts/([\w-]+)`)
	loginMention    = regexp.MustCompile(`(?:^|[\s(])@([a-z][a-z0-9-]+)\b`)
	shortRepository = map[string]string{
		"node": "causeway-network/node", "wallet": "causeway-network/wallet", "indexer": "saltpan/tally-indexer",
		"handbook": "causeway-network/handbook",
		"cway":     "causeway-network/cway", "sedge": "causeway-network/sedge",
		"token-standard": "causeway-network/token-standard",
		"sls":            "kelpworks/sedge-language-server", "relay-exporter": "driftline/relay-exporter",
		"settlement-kit": "eiderdown/settlement-kit",
	}
)

// advisories is how many security advisories there are.
const advisories = 5

// TestWorldNamesOnlyWhatIsThere reads every text for what it refers to.
// Proposals are held against each other by TestEveryReferenceLeadsSomewhere.
func TestWorldNamesOnlyWhatIsThere(t *testing.T) {
	c := synced(t)
	there := func(kind catalog.Kind, key string) bool {
		_, ok := c.byRef[catalog.Ref{Kind: kind, Key: key}]
		return ok
	}
	released, logins := map[string]bool{}, map[string]bool{}
	for _, r := range c.records {
		if r.Kind == catalog.KindRelease {
			released[path.Base(r.Container)+" "+decode[catalog.Release](t, r).Version] = true
		}
	}
	for name := range writers(t) {
		logins[name] = true
	}
	missing := map[string]string{}
	note := func(r catalog.Record, what string) {
		if missing[what] == "" {
			missing[what] = r.Ref().String()
		}
	}
	for _, r := range c.records {
		if r.Source == catalog.DerivedSource || r.Kind == catalog.KindOperation && r.StartsAt.After(anchor) {
			continue
		}
		text := r.Title + "\n" + r.Body
		for _, m := range grantMention.FindAllStringSubmatch(text, -1) {
			if !there(catalog.KindGrant, m[1]) {
				note(r, "grant "+m[1])
			}
		}
		for _, m := range issueMention.FindAllStringSubmatch(text, -1) {
			repository := shortRepository[m[1]]
			if m[1] == "" {
				if repository = home(r); repository == "" {
					continue
				}
			}
			key := repository + "#" + m[2]
			discussed := slices.ContainsFunc(c.records, func(d catalog.Record) bool {
				return d.Kind == catalog.KindDiscussion && d.Container == repository &&
					fmt.Sprint(decode[catalog.Discussion](t, d).Number) == m[2]
			})
			if !there(catalog.KindIssue, key) && !there(catalog.KindPull, key) && !discussed {
				note(r, key)
			}
		}
		for _, m := range releaseMention.FindAllStringSubmatch(text, -1) {
			name := strings.ToLower(strings.Fields(m[0])[0]) + " " + m[1]
			if !released[name] && !strings.HasPrefix(m[1], "2.7.") {
				note(r, "release of "+name)
			}
		}
		for _, m := range advisory.FindAllStringSubmatch(text, -1) {
			if m[1] < "1" || m[1] > fmt.Sprint(advisories) {
				note(r, m[0])
			}
		}
		for pattern, kind := range map[*regexp.Regexp]catalog.Kind{topicMention: catalog.KindTopic,
			videoMention: catalog.KindVideo, postMention: catalog.KindBlog} {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				found := there(kind, m[1]) || slices.ContainsFunc(c.records, func(o catalog.Record) bool {
					return o.Kind == kind && strings.Contains(o.URL, "/"+m[1])
				})
				if !found {
					note(r, m[0])
				}
			}
		}
		if r.Kind == catalog.KindPost || r.Kind == catalog.KindComment || r.Kind == catalog.KindIssue ||
			r.Kind == catalog.KindPull {
			for _, m := range loginMention.FindAllStringSubmatch(text, -1) {
				if !logins[m[1]] && m[1] != "causeway" && m[1] != "foghorn" && m[1] != "eiderdown" &&
					m[1] != "kelpworks" {
					note(r, "@"+m[1])
				}
			}
		}
	}
	for what, where := range missing {
		t.Errorf("%s names %s, which is not there", where, what)
	}
}

// home is the repository that a record of the forge is in.
func home(r catalog.Record) string {
	if r.Source == "forge" {
		return r.Container
	}
	return ""
}

var loginLine = regexp.MustCompile(`login: "?([^,"}]+)`)

// writers are the logins of people.yaml.
func writers(t *testing.T) map[string]bool {
	t.Helper()
	data, err := fs.ReadFile(sample.Authored(), "people.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range loginLine.FindAllStringSubmatch(string(data), -1) {
		all[m[1]] = true
	}
	if len(all) < 20 {
		t.Fatalf("people.yaml names %d logins", len(all))
	}
	return all
}

// TestWorldTimesFollowEachOther holds the order of what depends on each other.
func TestWorldTimesFollowEachOther(t *testing.T) {
	c := synced(t)
	byID, created := map[int64]catalog.Record{}, map[string]time.Time{}
	for _, r := range c.records {
		byID[r.ID] = r
	}
	for _, e := range c.events { // newest first
		created[e.Ref.Key] = e.At
	}
	for _, r := range c.records {
		if parent := byID[r.Parent]; !r.CreatedAt.IsZero() && r.CreatedAt.Before(parent.CreatedAt) {
			t.Errorf("%s of %s is older than what it hangs on, %s", r.Ref(), r.CreatedAt, parent.Ref())
		}
		switch r.Kind {
		case catalog.KindPost:
			if d := decode[catalog.Post](t, r); d.ReplyTo > 0 {
				topic := byID[r.Parent]
				answered, ok := c.byRef[catalog.Ref{Kind: catalog.KindPost,
					Key: fmt.Sprintf("%s/%d", topic.Key, d.ReplyTo)}]
				if d.ReplyTo >= d.Number || ok && answered.CreatedAt.After(r.CreatedAt) {
					t.Errorf("%s answers post %d, which comes later", r.Ref(), d.ReplyTo)
				}
			}
		case catalog.KindMailThread:
			for _, key := range decode[catalog.MailThread](t, r).Proposals {
				if first, ok := created[key]; ok && len(c.votes[r.ID]) > 0 && r.CreatedAt.Before(first) {
					t.Errorf("%s votes on %s, which is younger", r.Ref(), key)
				}
			}
		case catalog.KindVoteRequest:
			d := decode[catalog.VoteRequest](t, r)
			for _, key := range d.Proposals {
				if first, ok := created[key]; ok && r.EndsAt.Before(first) {
					t.Errorf("%s cites %s, which is younger than its end", r.Ref(), key)
				}
			}
			for _, b := range d.Votes {
				if at, err := time.Parse(time.RFC3339, b.CastAt); err == nil && at.After(r.EndsAt) {
					t.Errorf("%s: %s voted after the end", r.Ref(), b.Voter)
				}
			}
		case catalog.KindIssue, catalog.KindPull:
			if m := regexp.MustCompile(`(?:Fixes|Closes) #(\d+)`).FindStringSubmatch(r.Body); m != nil {
				for _, kind := range []catalog.Kind{catalog.KindIssue, catalog.KindPull} {
					if fixed, ok := c.byRef[catalog.Ref{Kind: kind, Key: r.Container + "#" + m[1]}]; ok &&
						fixed.CreatedAt.After(r.CreatedAt) {
						t.Errorf("%s fixes %s, which is younger", r.Ref(), fixed.Ref())
					}
				}
			}
		case catalog.KindRelease:
			for _, m := range regexp.MustCompile(`#(\d+)`).FindAllStringSubmatch(r.Body, -1) {
				pull, ok := c.byRef[catalog.Ref{Kind: catalog.KindPull, Key: r.Container + "#" + m[1]}]
				if !ok {
					continue
				}
				if p := decode[catalog.Pull](t, pull); p.MergedAt == "" ||
					p.MergedAt > r.CreatedAt.Format(time.RFC3339) {
					t.Errorf("%s has %s, which was merged at %q", r.Ref(), pull.Ref(), p.MergedAt)
				}
			}
		}
	}
}

// TestWorldSaysNothingTwice looks for paragraphs of a dozen words that are in
// two texts. Quotes, code, tables and old versions of a page may repeat.
func TestWorldSaysNothingTwice(t *testing.T) {
	first := map[string]string{}
	err := fs.WalkDir(sample.Authored(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".mdx", ".rst", ".yaml", ".html"},
			path.Ext(name)) {
			return err
		}
		if strings.HasPrefix(name, "docs/node-") || strings.HasPrefix(name, "grants/pull-requests/") ||
			strings.HasPrefix(name, "ledger/votes/") {
			return nil // older versions of what is elsewhere; actions
		}
		data, err := fs.ReadFile(sample.Authored(), name)
		if err != nil {
			return err
		}
		code := false
		for paragraph := range strings.SplitSeq(string(data), "\n\n") {
			fences := strings.Count(paragraph, "```")
			inside := code || fences > 0
			code = code != (fences%2 == 1)
			words := strings.Fields(paragraph)
			if inside || len(words) < 12 || strings.ContainsAny(paragraph[:1], ">|<") ||
				strings.HasPrefix(paragraph, "On {{long") {
				continue
			}
			key := strings.ToLower(strings.Join(words, " "))
			if other, ok := first[key]; ok {
				t.Errorf("%s says what %s says: %.90q", name, other, key)
			}
			first[key] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
