package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// TestAnswersOfToolsFitAContext fills an answer of each tool with lists and texts
// that are far longer than clients take.
func TestAnswersOfToolsFitAContext(t *testing.T) {
	for _, o := range operations() {
		if o.Tool == "" {
			continue
		}
		t.Run(o.Tool, func(t *testing.T) {
			out, ok := o.SchemaType(o.Out)
			if !ok {
				t.Fatal("its answer is no struct")
			}
			args := usual(o.ToolIn)
			in, err := o.DecodeTool(marshal(t, args))
			if err != nil {
				t.Fatal(err)
			}
			for _, items := range []int{2, 12} {
				answer := reflect.New(out).Elem()
				inflate(answer, items, 40_000/items)
				raw, note, err := o.Fit(in, answer.Interface())
				if err != nil {
					t.Fatal(err)
				}
				if n := op.Tokens(string(raw) + note); n > op.MaxTokens {
					t.Errorf("%d tokens", n)
				}
				if !json.Valid(raw) {
					t.Error("no JSON")
				}
			}
		})
	}
}

// inflate fills a value: each list with some items, each text with some characters
// that are a token each.
func inflate(v reflect.Value, items, characters int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		inflate(v.Elem(), items, characters)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous {
				inflate(f, items, characters/4)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON
			v.SetBytes([]byte("null"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), items, items))
		for i := range items {
			inflate(v.Index(i), min(items, 4), characters/4)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		e := reflect.New(v.Type().Elem()).Elem()
		inflate(e, items, characters)
		for i := range items {
			v.SetMapIndex(reflect.ValueOf("港口"+strconv.Itoa(i)).Convert(v.Type().Key()), e)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(strings.Repeat("港", characters/4)))
		}
	case reflect.String:
		v.SetString(strings.Repeat("港", characters))
	}
}

// tale is a long text in which no two places are the same.
func tale(name string, characters int) string {
	var text strings.Builder
	for i := 0; text.Len() < 3*characters; i++ {
		fmt.Fprintf(&text, "%s第%d章：港口的潮水與「燈塔」。\n", name, i)
	}
	return text.String()
}

// bodies are the texts of a thread, by number.
func bodies(of string, many, characters int) (all []string) {
	for i := range many {
		all = append(all, tale(fmt.Sprintf("%s %d ", of, i+1), characters))
	}
	return all
}

// TestLongTextsAreReadToTheirEnd reads texts and threads that are longer than an
// answer to their end, over MCP and REST: each character once, each answer of a
// tool short enough.
func TestLongTextsAreReadToTheirEnd(t *testing.T) {
	page, opening := tale("page", 45_000), tale("opening", 45_000)
	messages, posts, comments := bodies("message", 400, 150), bodies("post", 40, 3_000), bodies("comment", 3, 30_000)
	entries := []catalog.Entry{
		textOf(t, catalog.KindDoc, "docs/rules.md", page, catalog.Doc{Format: "markdown"}),
		textOf(t, catalog.KindWhitepaper, "rules", page, catalog.Whitepaper{}),
		textOf(t, catalog.KindCIP, "CIP-0007", page, catalog.CIP{Number: "0007", RawStatus: "Draft"}),
		textOf(t, catalog.KindVideo, "talk-7", page, catalog.Video{HasTranscript: true}),
		textOf(t, catalog.KindMailThread, "lists-7", "", catalog.MailThread{Messages: len(messages)}),
		textOf(t, catalog.KindTopic, "77", "", catalog.Topic{Posts: len(posts)}),
		textOf(t, catalog.KindDiscussion, "D_7", opening, catalog.Discussion{Number: 7}),
	}
	add := func(kind catalog.Kind, parent catalog.Ref, all []string, data func(number int) any) {
		for i, body := range all {
			e := textOf(t, kind, fmt.Sprintf("%s/%04d", parent.Key, i+1), body, data(i+1))
			e.Parent = parent
			entries = append(entries, e)
		}
	}
	add(catalog.KindMailMessage, catalog.Ref{Kind: catalog.KindMailThread, Key: "lists-7"}, messages,
		func(n int) any { return catalog.MailMessage{Number: n} })
	add(catalog.KindPost, catalog.Ref{Kind: catalog.KindTopic, Key: "77"}, posts,
		func(n int) any { return catalog.Post{Number: n} })
	add(catalog.KindComment, catalog.Ref{Kind: catalog.KindDiscussion, Key: "D_7"}, comments,
		func(int) any { return catalog.Comment{} })
	n := network.Network{Name: "tidewater", Title: "Tidewater", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		if _, err := store.Apply(t.Context(), catalog.Batch{Source: "harbour", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	doc := l.id(t, catalog.KindDoc, "docs/rules.md")
	for _, tt := range []struct {
		tool, args, target string
		want               string
		items              int // of a thread
		most               int // answers
	}{
		{"get_doc", `"id":"` + doc + `"`, "/api/v1/docs/" + doc, page, 0, 3},
		{"get_doc", `"id":"docs/rules.md"`, "/api/v1/docs/docs/rules.md", page, 0, 3},
		{"get_whitepaper", `"slug":"rules"`, "/api/v1/whitepapers/rules", page, 0, 3},
		{"get_cip", `"id":"7"`, "/api/v1/cips/7", page, 0, 3},
		{"get_video", `"id":"talk-7"`, "/api/v1/videos/talk-7", page, 0, 3},
		{"get_video", `"id":"talk-7","transcript_chars":9000`, "/api/v1/videos/talk-7?transcript_chars=9000", page, 0, 8},
		{"get_mailing_thread", `"id":"lists-7"`, "", strings.Join(messages, ""), len(messages), 12},
		{"get_discussion", `"id":77`, "/api/v1/discussions/77", strings.Join(posts, ""), len(posts), 14},
		{"get_forge_discussion", `"id":"D_7"`, "/api/v1/forge-discussions/D_7", opening + strings.Join(comments, ""),
			len(comments), 12},
	} {
		for _, over := range []string{"tool", "REST"} {
			if over == "REST" && tt.target == "" {
				continue
			}
			t.Run(tt.tool+" "+tt.args+" "+over, func(t *testing.T) {
				var whole strings.Builder
				var total int
				numbers, cursor, answers := map[any]bool{}, "", 0
				for ; answers == 0 || cursor != ""; answers++ {
					if answers > tt.most {
						t.Fatalf("more than %d answers", tt.most)
					}
					var raw string
					if over == "tool" {
						raw, _ = call(t, l.public, tt.tool, `{`+tt.args+`,"cursor":"`+cursor+`"}`)
						if n := op.Tokens(raw); n > op.MaxTokens {
							t.Errorf("an answer of %d tokens", n)
						}
					} else {
						target, err := url.Parse(tt.target)
						if err != nil {
							t.Fatal(err)
						}
						q := target.Query()
						q.Set("cursor", cursor)
						target.RawQuery = q.Encode()
						raw = do(l.public, "GET", target.String(), "").Body.String()
					}
					var answer struct {
						Content, Transcript string
						Truncated           bool
						Next                string `json:"next_cursor"`
						Total               int
						Items               []struct {
							URL, Content string
						}
					}
					if err := json.Unmarshal([]byte(raw), &answer); err != nil {
						t.Fatalf("%v: %.300s", err, raw)
					}
					whole.WriteString(answer.Content + answer.Transcript)
					for _, item := range answer.Items {
						numbers[item.URL] = true
						whole.WriteString(item.Content)
					}
					if answer.Truncated != (answer.Next != "") || cursor != "" && answer.Next == cursor {
						t.Fatalf("truncated %v, next %q after %q", answer.Truncated, answer.Next, cursor)
					}
					cursor, total = answer.Next, answer.Total
				}
				if whole.String() != tt.want {
					t.Errorf("%d bytes of %d, not the same text", whole.Len(), len(tt.want))
				}
				if len(numbers) != tt.items || total != tt.items {
					t.Errorf("%d items, total %d, want %d", len(numbers), total, tt.items)
				}
			})
		}
	}
	t.Run("cursors that are none", func(t *testing.T) {
		for _, cursor := range []string{"x", "-1", "-2", "~0", "~-3", "0~0", "1~11", "99", "400",
			"0~999999", "~999999", "~1", "01"} {
			for _, tool := range []string{"get_mailing_thread", "get_forge_discussion"} {
				id := map[string]string{"get_mailing_thread": "lists-7", "get_forge_discussion": "D_7"}[tool]
				if tool == "get_mailing_thread" && cursor == "99" || tool == "get_forge_discussion" && cursor == "~1" {
					continue
				}
				answer, failed := call(t, l.public, tool, fmt.Sprintf(`{"id":%q,"cursor":%q}`, id, cursor))
				if !failed || !strings.Contains(answer, "cursor must be a next_cursor") {
					t.Errorf("%s, %s: %.200s", tool, cursor, answer)
				}
			}
		}
	})
}

// TestLongListsGoOn reads a list whose pages are longer than an answer to its end
// by what the answers say, and one that cannot be read on by its note.
func TestLongListsGoOn(t *testing.T) {
	const many = 300
	var entries []catalog.Entry
	for i := range many {
		e := textOf(t, catalog.KindMailThread, fmt.Sprintf("lists-%d", i+1), "", catalog.MailThread{})
		e.Record.Title, e.Record.CreatedAt = strings.Repeat("港", 300), now.Add(-time.Duration(i)*time.Minute)
		entries = append(entries, e)
		e = textOf(t, catalog.KindTopic, strconv.Itoa(i+1), "", catalog.Topic{})
		e.Record.Title, e.Record.CreatedAt = strings.Repeat("港", 300), now.Add(-time.Duration(i)*time.Minute)
		entries = append(entries, e)
	}
	n := network.Network{Name: "tidewater", Title: "Tidewater", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		if _, err := store.Apply(t.Context(), catalog.Batch{Source: "harbour", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	type list struct {
		Items []struct {
			ID string `json:"id"`
		}
		Total int
		Hint  string
	}
	ask := func(tool, args string) (answer list, said []string) {
		t.Helper()
		w := do(l.public, "POST", "/mcp?toolsets=all", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args))
		var m struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Result.Content {
			said = append(said, c.Text)
		}
		if n := op.Tokens(strings.Join(said, "")); n > op.MaxTokens {
			t.Errorf("%s %s: %d tokens", tool, args, n)
		}
		if err := json.Unmarshal(m.Result.StructuredContent, &answer); err != nil {
			t.Fatal(err)
		}
		return answer, said
	}

	seen, offset, answers := map[string]bool{}, "0", 0
	for offset != "" && answers < 10 {
		answer, said := ask("list_mailing_threads", `{"limit":100,"offset":`+offset+`}`)
		for _, item := range answer.Items {
			if seen[item.ID] {
				t.Errorf("%s twice", item.ID)
			}
			seen[item.ID] = true
		}
		if answer.Total != many || len(said) != 1 {
			t.Errorf("total %d, %d texts", answer.Total, len(said))
		}
		_, rest, more := strings.Cut(answer.Hint, "Go on with offset ")
		if offset, _, _ = strings.Cut(rest, "."); !more && len(seen) < many {
			offset = strconv.Itoa(len(seen)) // a whole page
		}
		answers++
	}
	if len(seen) != many || answers < 4 {
		t.Errorf("%d of %d in %d answers", len(seen), many, answers)
	}

	answer, said := ask("get_recent_changes", `{"limit":500}`)
	if len(said) != 2 || !strings.Contains(said[1], fmt.Sprintf("%d of items", many-len(answer.Items))) ||
		!strings.Contains(said[1], "GET /api/v1/changes?limit=500") || answer.Total != many {
		t.Errorf("%d items of %d, said %.300q", len(answer.Items), answer.Total, said[1:])
	}
	rest := do(l.public, "GET", "/api/v1/changes?limit=500", "")
	if err := json.Unmarshal(rest.Body.Bytes(), &answer); err != nil || len(answer.Items) != many {
		t.Errorf("REST has %d: %v", len(answer.Items), err)
	}
}

func textOf(t *testing.T, kind catalog.Kind, key, body string, data any) catalog.Entry {
	t.Helper()
	raw, err := catalog.Encode(data)
	if err != nil {
		t.Fatal(err)
	}
	r := catalog.Record{Kind: kind, Key: key, Source: "harbour", Title: "The rules of the harbour", Body: body, Data: raw,
		URL: "https://harbour.example.org/" + string(kind) + "/" + key}
	if kind == catalog.KindDoc {
		r.Path = key
	}
	return catalog.Entry{Record: r}
}
