package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// codeYAML describes a network whose people write code, and propose changes
// of it as pull requests of a repository.
const codeYAML = `name: buoys
title: Lantern Buoys
proposals: {prefix: LIP, statuses: [Draft, Final], default: Draft}
sources:
  - name: code
    kind: forge
    options: {api: "SERVER", token_env: BUOYS_TOKEN, repositories: [buoys/lamp]}
  - name: drafts
    kind: forge-proposals
    options: {api: "SERVER", token_env: BUOYS_TOKEN, repository: buoys/lips}
`

// codeFiles are the answers of the forge. Each text has a unique word.
var codeFiles = map[string]string{
	"/repos/buoys/lamp":                 `{"full_name":"buoys/lamp","description":"Keeps the gimbal level","default_branch":"main","has_discussions":true}`,
	"/repos/buoys/lamp/issues":          `[{"number":5,"title":"Lamp goes out","state":"open","body":"The bellows leak since the squall.","user":{"login":"wick"},"created_at":"2031-05-06T08:00:00Z","updated_at":"2031-05-06T08:00:00Z"},{"number":6,"title":"Seal it","state":"closed","body":"With oakum.","user":{"login":"wick"},"pull_request":{"merged_at":"2031-05-07T08:00:00Z"},"created_at":"2031-05-07T08:00:00Z","updated_at":"2031-05-07T08:00:00Z"}]`,
	"/repos/buoys/lamp/issues/comments": `[{"id":70,"body":"Mine is corroded, too.","user":{"login":"reed"},"html_url":"https://forge.example.org/buoys/lamp/issues/5#issuecomment-70","issue_url":"https://api.forge.example.org/repos/buoys/lamp/issues/5","created_at":"2031-05-06T09:00:00Z","updated_at":"2031-05-06T09:00:00Z"}]`,
	"/repos/buoys/lamp/pulls/comments":  `[]`,
	"/repos/buoys/lamp/releases":        `[{"tag_name":"v1.4.0","name":"1.4.0","body":"Trims the mantle.","created_at":"2031-05-01T08:00:00Z","published_at":"2031-05-01T08:00:00Z"}]`,

	"/repos/buoys/lips":                `{"full_name":"buoys/lips","html_url":"https://forge.example.org/buoys/lips","default_branch":"main"}`,
	"/repos/buoys/lips/git/trees/main": `{"truncated":false,"tree":[]}`,
	"/repos/buoys/lips/pulls":          `[{"number":3,"state":"open","html_url":"https://forge.example.org/buoys/lips/pull/3","user":{"login":"reed"},"created_at":"2031-05-02T08:00:00Z","updated_at":"2031-05-02T08:00:00Z","head":{"sha":"aa"},"base":{"sha":"bb"}}]`,
	"/repos/buoys/lips/pulls/3/files":  `[{"filename":"lip-mirrors/lip-mirrors.md","status":"added","sha":"cc","changes":9}]`,
	"/repos/buoys/lips/git/blobs/cc": fmt.Sprintf(`{"sha":"cc","encoding":"base64","content":%q}`,
		base64.StdEncoding.EncodeToString([]byte("# Mirrors\n\n## Abstract\n\nAll lamps get parabolic mirrors.\n"))),
	"/repos/buoys/lips/issues/comments": `[]`,
	"/repos/buoys/lips/pulls/comments":  `[]`,
}

// codeQueries are what it answers to GraphQL queries that have the word.
var codeQueries = []struct{ word, answer string }{
	{"discussions(", `{"data":{"repository":{"discussions":{"pageInfo":{"hasNextPage":false},"nodes":[{"id":"D_9","number":9,"title":"Which oil?","body":"Colza or paraffin?","url":"https://forge.example.org/buoys/lamp/discussions/9","createdAt":"2031-05-03T08:00:00Z","updatedAt":"2031-05-03T08:00:00Z","comments":{"nodes":[]}}]}}}}`},
	{"totalCount", `{"data":{"repository":{"issues":{"totalCount":1},"pullRequests":{"totalCount":1}}}}`},
	{"p6: pullRequest(", `{"data":{"repository":{"p6":{"number":6,"headRefName":"oakum","baseRefName":"main","files":{"nodes":[{"path":"seal.go"}]}}}}}`},
}

// codeServer answers those who have the token.
func codeServer(w http.ResponseWriter, r *http.Request) {
	answer, ok := codeFiles[r.URL.Path]
	if r.URL.Path == "/graphql" {
		query := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(query)
		for _, q := range codeQueries {
			if !ok && strings.Contains(string(query), q.word) {
				answer, ok = q.answer, true
			}
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	switch {
	case r.Header.Get("Authorization") != "Bearer quay-and-kelp":
		w.WriteHeader(http.StatusUnauthorized)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = w.Write([]byte(answer))
	}
}

// TestForge syncs a network file with a repository of code and one of
// proposals, twice, and finds what each of them says.
func TestForge(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(codeServer))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "buoys.yaml"), filepath.Join(dir, "data")
	writeFile(t, file, strings.ReplaceAll(codeYAML, "SERVER", server.URL))
	env := environ(dir, "ALMANAC_SYNC_ALLOW=127.0.0.0/8,::1/128", "BUOYS_TOKEN=quay-and-kelp")
	first := must(t, env, "sync", "--network", file, "--data", data)
	second := must(t, env, "sync", "--network", file, "--data", data)
	// repository, issue, pull request, comment, release, discussion; a draft
	for name, records := range map[string]string{"code": "6", "drafts": "1"} {
		if !regexp.MustCompile(`(?m)^`+name+` +`+records+` +0 +0 +0 +0 .* ok$`).MatchString(first) ||
			!regexp.MustCompile(`(?m)^`+name+` +0 +0 +\d +0 +0 .* ok$`).MatchString(second) {
			t.Errorf("%s:\n%s%s", name, first, second)
		}
	}
	for query, want := range map[string]string{
		"gimbal": "[repo]", "bellows": "[issue]", "oakum": "[pull]", "corroded": "[comment]|[issue]",
		"mantle": "[release]", "paraffin": "[discussion]", "parabolic": "[cip]",
	} {
		out := must(t, env, "search", "--network", file, "--data", data, "--limit", "1", query)
		if !regexp.MustCompile(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(want)).MatchString(out) {
			t.Errorf("search %s: want %s\n%s", query, want, out)
		}
	}
}
