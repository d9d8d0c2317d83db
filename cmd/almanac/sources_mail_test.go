package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// talkYAML describes a network whose people write to a forum and to lists.
const talkYAML = `name: buoys
title: Lantern Buoys
proposals: {prefix: LIP, statuses: [Draft, Final], default: Draft}
sources:
  - name: forum
    kind: forum
    options: {url: "SERVER"}
  - name: lists
    kind: mail
    options:
      groups: [{name: lip-discuss}, {name: lip-vote, votes: true}]
      export: "SERVER/{group}.mbox"
      message: "SERVER/g/{group}/message/{number}"
`

// talkFiles are the files of the server. Each text has a unique word.
var talkFiles = map[string][2]string{ // path → type, text
	"/categories.json": {"application/json",
		`{"category_list":{"categories":[{"id":3,"name":"Support","slug":"support","topic_count":1}]}}`},
	"/latest.json": {"application/json",
		`{"topic_list":{"topics":[{"id":41,"title":"Lamp goes out","slug":"lamp-goes-out","posts_count":1,"bumped_at":"2031-05-06T08:00:00.000Z",
"category_id":3,"visible":true,"archetype":"regular"}]}}`},
	"/t/41.json": {"application/json",
		`{"id":41,"title":"Lamp goes out","slug":"lamp-goes-out","posts_count":1,"category_id":3,"visible":true,"archetype":"regular",
"created_at":"2031-05-06T08:00:00.000Z","last_posted_at":"2031-05-06T08:00:00.000Z","details":{"created_by":{"username":"wick"}},"post_stream":{"stream":[7],
"posts":[{"id":7,"post_number":1,"post_type":1,"username":"wick","created_at":"2031-05-06T08:00:00.000Z","cooked":"<p>Since the squall the thermocouple is cold.</p>"}]}}`},
	"/lip-discuss.mbox": {"application/mbox", `From bounce@lists.example.org Tue May  6 08:00:00 2031
From: Ada Quay <ada@foghorn.example>
Date: Tue, 6 May 2031 08:00:00 +0000
Subject: [lip-discuss] Spare wicks
Message-ID: <1@lists.example.org>
X-Groupsio-MsgNum: 12
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The chandler of Sm=F8gen sells them.
`},
	"/lip-vote.mbox": {"application/mbox", `From bounce@lists.example.org Tue May  6 08:00:00 2031
From: Bram Reed <bram@kelp.example>
Date: Tue, 6 May 2031 08:00:00 +0000
Subject: Vote on LIP-3
Message-ID: <2@lists.example.org>
X-Groupsio-MsgNum: 4

We vote in favour, for the parabolic mirrors.
`},
}

// TestForumAndMail syncs a network file with a forum and two lists, twice, and
// finds what each of them said.
func TestForumAndMail(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := talkFiles[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f[0])
		_, _ = w.Write([]byte(f[1]))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "buoys.yaml"), filepath.Join(dir, "data")
	writeFile(t, file, strings.ReplaceAll(talkYAML, "SERVER", server.URL))
	env := environ(dir, "ALMANAC_SYNC_ALLOW=127.0.0.0/8,::1/128")
	first := must(t, env, "sync", "--network", file, "--data", data)
	second := must(t, env, "sync", "--network", file, "--data", data)
	// a topic and its post; two threads of a message each
	for name, records := range map[string]string{"forum": "2", "lists": "4"} {
		if !regexp.MustCompile(`(?m)^`+name+` +`+records+` +0 +0 +0 +0 .* ok$`).MatchString(first) ||
			!regexp.MustCompile(`(?m)^`+name+` +0 +0 +\d +0 +0 .* ok$`).MatchString(second) {
			t.Errorf("%s:\n%s%s", name, first, second)
		}
	}
	for query, want := range map[string]string{"thermocouple": "[topic]|[post]",
		"Smøgen": "[mail_thread]|[mail_message]", "parabolic": "[mail_thread]|[mail_message]"} {
		out := must(t, env, "search", "--network", file, "--data", data, "--limit", "1", query)
		if !regexp.MustCompile(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(want)).MatchString(out) {
			t.Errorf("search %s: want %s\n%s", query, want, out)
		}
	}
}
