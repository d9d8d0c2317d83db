package forum

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestRender(t *testing.T) {
	tests := map[string]struct {
		cooked string
		want   string
		code   int
	}{
		"plain": {"<p>Raise the <em>flag</em>.</p>\n<p>Then wait.</p>", "Raise the *flag*.\n\nThen wait.", 0},
		"entities and identifiers": {
			"<p>NO_SUCH_BERTH &amp; Map&lt;K, V&gt; at 3 &gt; 2&nbsp;m</p>", "NO_SUCH_BERTH & Map<K, V> at 3 > 2 m", 0,
		},
		"code with a language": {
			"<p>Run</p>\n<pre data-code-wrap=\"sh\"><code class=\"lang-sh\">moor \\\n  --berth &lt;id&gt;\n\n# " +
				"wait\n</code></pre>\n<p>now</p>",
			"Run\n\n```sh\nmoor \\\n  --berth <id>\n\n# wait\n```\n\nnow", 1,
		},
		"code without one": {"<pre><code class=\"lang-auto\">a  b\n</code></pre><pre>c</pre>",
			"```\na  b\n```\n\n```\nc\n```", 2},
		"code with fences": {"<pre><code class=\"lang-md\">```\nx\n```\n</code></pre>", "````md\n```\nx\n```\n````", 1},
		"inline code":      {"<p>Set <code>berth_id</code> to <code>0</code>.</p>", "Set `berth_id` to `0`.", 0},
		"a quotation with code": {
			`<aside class="quote no-group" data-username="bodo" data-post="3" data-topic="9"><div class="title"><div class="quote-controls"></div>` +
				`<img alt="" width="24" height="24" src="//forum.example.org/a/24.png" class="avatar"> bodo:</div><blockquote><p>It says</p>` +
				"<pre><code class=\"lang-auto\">one\n  two\n</code></pre></blockquote></aside>\n<p>So it does.</p>",
			"bodo:\n\n> It says\n\n```\none\n  two\n```\n\nSo it does.", 1,
		},
		"code in a list in a quotation": {
			"<blockquote><ul><li>a<pre><code>x</code></pre>b</li><li>c</li></ul></blockquote>",
			"> - a\n\n```\nx\n```\n\n> - b\n> - c", 1},
		"nested quotations": {"<blockquote><blockquote><p>a</p></blockquote><p>b</p></blockquote>", "> > a\n>\n> b", 0},
		"people, tags and faces": {
			`<p><a class="mention" href="/u/anna">@anna</a> <a class="mention-group notify" href="/groups/crew">@crew</a> see ` +
				`<a class="hashtag-cooked" href="/c/support/4" data-type="category"><span class="hashtag-icon-placeholder"><svg class="fa d-icon"><use href="#folder"></use></svg></span><span>Support</span></a> ` +
				`<img src="https://cdn.example.org/images/emoji/sails.png?v=12" title=":sailboat:" class="emoji" alt=":sailboat:" loading="lazy"></p>`,
			"@anna @crew see #Support :sailboat:", 0,
		},
		"a picture with its frame": {
			`<p><div class="lightbox-wrapper"><a class="lightbox" href="/uploads/quay.jpeg" data-download-href="/uploads/quay" title="quay.jpeg"><img src="/uploads/quay_690x388.jpeg" alt="The quay" width="690" height="388">` +
				`<div class="meta"><svg class="fa"></svg><span class="filename">quay.jpeg</span><span class="informations">1920×1080 210 KB</span></div></a></div></p>`,
			"[The quay](https://forum.example.org/uploads/quay.jpeg)", 0,
		},
		"a picture in the text": {`<p>x <img src="data:image/png;base64,AAAA" alt="dot"> y</p>`, "x dot y", 0},
		"the preview of a page": {
			`<aside class="onebox allowlistedgeneric" data-onebox-src="https://news.example.org/fog"><header class="source"><img src="https://news.example.org/i.png" class="site-icon" width="16"><a href="https://news.example.org/fog" target="_blank">News</a></header>` +
				`<article class="onebox-body"><h3><a href="https://news.example.org/fog">Fog on the causeway</a></h3><p>A long text of somebody else.</p></article><div class="onebox-metadata"></div><div style="clear: both"></div></aside>`,
			"[Fog on the causeway](https://news.example.org/fog)", 0,
		},
		"a preview without a title": {
			`<aside class="onebox" data-onebox-src="https://a.example.org/"><article></article></aside>`,
			"[https://a.example.org/](https://a.example.org/)", 0},
		"links": {
			`<p>See <a href="/t/tides/12/3">the other topic</a><span class="badge badge-notification clicks">12</span>.</p>`, "See [the other topic](https://forum.example.org/t/tides/12/3).", 0},
		"headings": {
			`<h2><a name="p-1-steps-1" class="anchor" href="#p-1-steps-1"></a>Steps</h2><ol><li>One</li><li>Two</li></ol>`, "## Steps\n\n1. One\n2. Two", 0},
		"folded away": {"<details><summary>Log</summary>\n<p>all of it</p></details>", "**Log**\n\nall of it",
			0},
		"a mail's quotation": {
			`<p>Yes.</p><details class="elided"><summary title="Show trimmed content">···</summary><p>the whole mail before</p></details>`, "Yes.", 0},
		"a table": {
			`<div class="md-table"><table><thead><tr><th>Port</th><th>Use</th></tr></thead><tbody><tr><td>5011</td><td>pilot</td></tr></tbody></table></div>`, "| Port | Use |\n|---|---|\n| 5011 | pilot |", 0},
		"a poll with a question": {
			`<p>Vote.</p><div class="poll"><div class="poll-container"><div class="poll-title">Raise the <b>fee</b>?</div><ul><li>Yes</li></ul></div><div class="poll-info">0 voters</div></div>`,
			"Vote.\n\nRaise the **fee**?\n\n- Yes", 0,
		},
		"a poll": {
			`<div class="poll" data-poll-name="poll"><div class="poll-container"><ul><li data-poll-option-id="1">Yes</li><li data-poll-option-id="2">No</li></ul></div><div class="poll-info"><span class="info-number">0</span> voters</div></div>`,
			"- Yes\n- No", 0,
		},
		"code that is not in a block": {"<p>x <code>a &lt;b&gt;\nc</code></p>", "x\n\n```\na <b>\nc\n```", 1},
		"what is not text": {
			`<p>a</p><script>alert(1)</script><style>p{}</style><iframe src="https://video.example.org/v"></iframe><!-- c -->`, "a", 0},
		"broken HTML": {"<p>one <b>two <i>three</p><td>four</div>&#0;&#xD800;",
			"one **two *three***\n\n***four\ufffd\ufffd***", 0},
		"nothing": {"", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, code, err := render(tt.cooked, "https://forum.example.org")
			if err != nil || code != tt.code {
				t.Errorf("%d code blocks, want %d; error %v", code, tt.code, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestRenderIsBounded renders posts that would exhaust a renderer without limits.
func TestRenderIsBounded(t *testing.T) {
	for name, cooked := range map[string]string{
		"a table of many cells": "<table><tr>" + strings.Repeat("<td>", 5000) + strings.Repeat("<tr><td>", 10000),
		"cells that span":       "<table><tr><td rowspan=60000 colspan=60000>x</td></tr></table>",
		"open formatting":       strings.Repeat("<b>", 50000) + strings.Repeat("<p>", 50000),
		"lists in lists":        strings.Repeat("<ul><li>", 200) + strings.Repeat("x<br>", 5000),
		"quotations":            strings.Repeat("<blockquote>", 400) + strings.Repeat("x\n<br>", 1000),
		"code in quotations":    strings.Repeat("<blockquote><pre>", 20000),
	} {
		t.Run(name, func(t *testing.T) {
			if text, _, err := render(cooked, "https://forum.example.org"); err == nil && len(text) > 1<<20 {
				t.Errorf("%d bytes became %d", len(cooked), len(text))
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"<p>a</p>", "<pre><code class=\"lang-x\">a\n\n```</code></pre>", "<blockquote><pre>\n\n</pre></blockquote>",
		"<aside class=onebox><a href=x>y</a></aside>",
		"<aside class=\"onebox onebox\"><aside class=onebox data-onebox-src=a></aside></aside>",
		"<a class=mention><a class=mention>", "<table><tr><td><table><tr><td>x",
		"<svg><code>x</code></svg>", "<summary><summary>", "\a\uf002", "<li><li><ol start=99999999999999999999>",
		"<img class=emoji src=data:>", "<td rowspan=99999 colspan=99999>x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cooked string) {
		text, code, err := render(cooked, "https://forum.example.org")
		if err != nil {
			return
		}
		if code < 0 || utf8.ValidString(cooked) && !utf8.ValidString(text) {
			t.Errorf("%d code blocks, text %q", code, text)
		}
		if len(text) > 100*len(cooked)+1000 {
			t.Errorf("%d bytes became %d", len(cooked), len(text))
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(
		`{"id":1,"title":"x","post_stream":{"posts":[{"id":2,"post_number":"1","cooked":"<p>a</p>","actions_summary":[{"id":2,"count":1}]}],"stream":[2,"3"]},"tags":["a",{"name":"b"}]}`))
	f.Add([]byte(
		`{"id":1e3,"title":null,"bumped_at":"2031-02-01T00:00:00Z","views":null,"tags":null,"topic_list":{"topics":[{}]}}`))
	f.Add([]byte(`{"category_list":{"categories":[{"id":1,"subcategory_list":[{"id":2}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c categoriesPage
		var l line
		var topic wireTopic
		var post wirePost
		_ = json.Unmarshal(data, &c)
		if json.Unmarshal(data, &l) == nil && l.check() == nil {
			s := syncRun{where: categories{}}
			if s.fingerprint(l) == 0 {
				t.Error("a line's fingerprint is 0")
			}
		}
		if json.Unmarshal(data, &topic) == nil && topic.ID != nil && topic.Title != nil {
			r := reading{syncRun: &syncRun{connector: &connector{}}, topic: topic}
			if _, err := r.topicEntry(); err != nil {
				t.Error(err)
			}
		}
		if json.Unmarshal(data, &post) == nil && post.check() == nil && post.shown() && post.likes() < 0 &&
			!strings.Contains(string(data), "-") {
			t.Errorf("%d likes", post.likes())
		}
	})
}
