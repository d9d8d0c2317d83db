package workbench

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the prompt
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"almanac/catalog"
	"almanac/embed"
	"almanac/embed/remote"
	"almanac/text/prose"
)

// The interfaces of model servers.
const (
	OpenAI = "openai" // POST {URL}/chat/completions; the URL usually ends in /v1
	Ollama = "ollama" // POST {URL}/api/chat
)

// ModelConfig configures a Model. The tags are the settings of the section judge.
type ModelConfig struct {
	Kind  string `key:"kind" default:"ollama" doc:"interface of the server: ollama or openai"`
	URL   string `key:"url" doc:"server of a language model that judges; empty: none"`
	Model string `key:"model" doc:"of the server"`
	Key   string `key:"key" secret:"true" doc:"bearer token of the server"`
}

// answerWithin is how long a model may take over one document.
const answerWithin = 2 * time.Minute

// Model is a language model on a server that grades documents.
type Model struct {
	cfg    ModelConfig
	server *remote.Client
}

// OpenModel returns a model. It sends nothing, so the server may start later.
func OpenModel(c ModelConfig) (*Model, error) {
	if c.Kind != OpenAI && c.Kind != Ollama {
		return nil, fmt.Errorf("%q is not a kind of server with a judging model: use %q or %q", c.Kind, OpenAI, Ollama)
	}
	server, err := remote.NewClient(remote.ClientConfig{Name: "judging model", URL: c.URL, Key: c.Key,
		Timeout: answerWithin})
	return &Model{c, server}, err
}

// Name is the model's.
func (m *Model) Name() string { return m.cfg.Model }

// prompt follows UMBRELA (Upadhyay et al., 2024), which reproduces the relevance
// assessor of Thomas et al.: Large language models can accurately predict searcher
// preferences (2023): description, information need, aspects, one grade.
//
//go:embed prompt.txt
var promptText string

var promptTemplate = template.Must(template.New("prompt").Parse(promptText))

// maxPassage bounds what a model reads of a document, in bytes.
const maxPassage = 8 << 10

// prompt asks for the grade of a document. The marks around it have a hash of its
// text in their names, which no text can contain of itself.
func prompt(q catalog.CaseQuery, title, text string) string {
	title, text = strings.Join(strings.Fields(title), " "), prose.FirstBytes(text, maxPassage)
	sum := sha256.Sum256([]byte(title + "\x00" + text))
	var out bytes.Buffer
	_ = promptTemplate.Execute(&out, map[string]string{ // strings into a buffer
		"Query": quote(q.Text), "Need": quote(q.Need), "Mark": "document-" + hex.EncodeToString(sum[:8]),
		"Title": title, "Text": text,
	})
	return out.String()
}

// quote writes a text as JSON; "" as nothing.
func quote(text string) string {
	if text == "" {
		return ""
	}
	data, _ := json.Marshal(text) // a string always encodes
	return string(data)
}

// Grade asks for the grade of a document, 0 to MaxGrade, four times if the server is
// unavailable. ErrUnread if the answer is none.
func (m *Model) Grade(ctx context.Context, q catalog.CaseQuery, title, text string) (int, error) {
	question := prompt(q, title, text)
	answer, err := backoff.Retry(ctx, func() (string, error) {
		answer, err := m.ask(ctx, question)
		if err != nil && !errors.Is(err, embed.ErrUnavailable) {
			err = backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithMaxTries(4))
	if err != nil {
		return 0, err
	}
	return parseGrade(answer)
}

// message is one of a chat.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ask sends one question.
func (m *Model) ask(ctx context.Context, question string) (string, error) {
	chat := []message{{"user", question}}
	if m.cfg.Kind == Ollama {
		var answer struct {
			Message message `json:"message"`
		}
		err := m.server.JSON(ctx, http.MethodPost, "api/chat", map[string]any{"model": m.cfg.Model, "messages": chat,
			"stream": false, "options": map[string]any{"temperature": 0, "seed": 1}}, &answer)
		return answer.Message.Content, err
	}
	var answer struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	err := m.server.JSON(ctx, http.MethodPost, "chat/completions", map[string]any{"model": m.cfg.Model,
		"messages": chat, "temperature": 0}, &answer)
	if err == nil && len(answer.Choices) != 1 {
		err = fmt.Errorf("%s returned %d answers instead of one", m.server, len(answer.Choices))
	}
	if err != nil {
		return "", err
	}
	return answer.Choices[0].Message.Content, nil
}

// ErrUnread: a model's answer is not one grade.
var ErrUnread = errors.New("the model's answer is not a grade")

var (
	scoreLine = regexp.MustCompile(`(?i)^[#*\s]*final score\s*[:=]\**\s*\**([0-3])\**\.?\**$`)
	thinking  = regexp.MustCompile(`(?s)^\s*<think>.*?</think>`)
)

// parseGrade reads the one line of an answer that has a score. What some models think
// aloud before it is left out; anything else is ErrUnread, as a guess would be no
// judgment.
func parseGrade(answer string) (int, error) {
	grade := -1
	for line := range strings.Lines(thinking.ReplaceAllString(answer, "")) {
		line = strings.TrimSpace(line)
		found := scoreLine.FindStringSubmatch(line)
		switch {
		case line == "":
		case found == nil && len(line) == 1 && line >= "0" && line <= "3":
			found = []string{line, line}
			fallthrough
		case found != nil:
			if grade >= 0 {
				return 0, ErrUnread
			}
			grade = int(found[1][0] - '0')
		default:
			return 0, ErrUnread
		}
	}
	if grade < 0 {
		return 0, ErrUnread
	}
	return grade, nil
}

// JudgeTask is what a model is to judge.
type JudgeTask struct {
	Case     int64    `json:"case"`
	Profiles []string `json:"profiles,omitempty"` // whose pools; none: only what people judged, to compare
	Depth    int      `json:"depth,omitempty"`    // of each list; 0: Depth
}

// Kind implements Task.
func (JudgeTask) Kind() string { return "judge" }

// Graded is what a JudgeTask did.
type Graded struct {
	Graded int `json:"graded"`
	Unread int `json:"unread"` // answers that are no grades
	Known  int `json:"known"`  // graded by the model before
}

// atOnce is how many documents a model is asked about at the same time.
const atOnce = 4

// pair is a document to grade for a query.
type pair struct {
	query    catalog.CaseQuery
	document Document
}

// judge asks the model for what it has not graded. Each grade is stored as it comes,
// so that a job that begins again continues.
func (x Runner) judge(ctx context.Context, a JudgeTask, _ string, progress func(done, total int)) (out Graded,
	err error) {
	if x.Model == nil {
		return out, errors.New("there is no model to judge: judge.url is not set")
	}
	pool := &Bench{Source: x.Source, Index: x.Index}
	judge := ModelJudge + x.Model.Name()
	pairs, known, err := pool.pairs(ctx, a, judge)
	if err != nil {
		return out, err
	}
	out.Known = known
	done := 0
	var mu sync.Mutex // of out and done
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, p := range pairs {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			grade, err := 0, pool.Read(working, &p.document)
			if err == nil {
				grade, err = x.Model.Grade(working, p.query, p.document.Record.Title, p.document.Text)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out.Graded++
				err = x.Store.PutJudgments(working, a.Case, []catalog.Judgment{
					{Query: p.query.ID, Target: p.document.Target, Judge: judge, Grade: grade}})
			case errors.Is(err, ErrUnread):
				out.Unread++
				err = nil
			case gone(err):
				err = nil
			}
			done++
			progress(done, len(pairs))
			return err
		})
	}
	err = g.Wait()
	return out, errors.Join(err, ctx.Err())
}

// pairs lists what is to be graded, and counts what the judge graded before.
func (b *Bench) pairs(ctx context.Context, a JudgeTask, judge string) (pairs []pair, known int, err error) {
	c, err := Case(ctx, b.Store, a.Case)
	if err != nil {
		return nil, 0, err
	}
	queries, judgments, err := Content(ctx, b.Store, a.Case)
	if err != nil {
		return nil, 0, err
	}
	graded, byPeople := map[[2]string]bool{}, map[[2]string]bool{}
	for _, j := range judgments {
		of := [2]string{j.Query, j.Target}
		graded[of] = graded[of] || j.Judge == judge
		byPeople[of] = byPeople[of] || ByPeople(j.Judge)
	}
	for _, q := range queries {
		pool, err := b.Pool(ctx, c, q, a.Profiles, cmp.Or(a.Depth, Depth), judge)
		if err != nil {
			return nil, 0, err
		}
		for _, d := range pool.Documents {
			of := [2]string{q.ID, d.Target}
			switch {
			case len(a.Profiles) == 0 && !byPeople[of]:
			case graded[of]:
				known++
			default:
				pairs = append(pairs, pair{q, d})
			}
		}
	}
	return pairs, known, nil
}
