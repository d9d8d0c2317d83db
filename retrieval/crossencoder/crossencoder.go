// Package crossencoder scores how well texts answer a query: with a model that
// reads both together, on a server of text-embeddings-inference or llama.cpp. Package retrieval decides which
// candidates it sees, and what happens if it does not answer.
package crossencoder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"almanac/embed/remote"
	"almanac/text/prose"
)

// The APIs.
const (
	TEI      = "tei"      // POST {URL}/rerank
	LlamaCPP = "llamacpp" // POST {URL}/v1/rerank, also of vLLM and Jina
)

// Config chooses the cross-encoder. The tags of its fields are their settings; see
// cmd/config.
type Config struct {
	URL      string        `key:"url" doc:"server of a cross-encoder; empty: none"`
	Kind     string        `key:"kind" default:"tei" doc:"interface of the server: tei or llamacpp"`
	Model    string        `key:"model" doc:"model of a server that has several"`
	Key      string        `key:"key" secret:"true" doc:"bearer token of the server"`
	Deadline time.Duration `key:"deadline" default:"500ms" doc:"time for one search, added to search.deadline"`
}

const (
	defaultDeadline = 500 * time.Millisecond
	// maxText bounds a text in bytes: cross-encoders mostly hold 512 tokens of
	// query and text together.
	maxText = 8 << 10
	// maxCuts is how often texts are shortened for a server that does not shorten them.
	maxCuts = 3
)

// Client scores texts. It is safe for concurrent use.
type Client struct {
	server *remote.Client
	cfg    Config
	ask    func(ctx context.Context, query string, texts []string) ([]rank, error)
}

// Open returns a client. It sends nothing, so the server may start later.
func Open(c Config) (*Client, error) {
	c.Deadline = cmp.Or(c.Deadline, defaultDeadline)
	server, err := remote.NewClient(remote.ClientConfig{Name: "cross-encoder", URL: c.URL, Key: c.Key,
		Timeout: c.Deadline})
	if err != nil {
		return nil, err
	}
	e := &Client{server: server, cfg: c}
	switch c.Kind {
	case TEI:
		e.ask = e.tei
	case LlamaCPP:
		e.ask = e.llamaCPP
	default:
		return nil, fmt.Errorf("%q is not a kind of cross-encoder: use %q or %q", c.Kind, TEI, LlamaCPP)
	}
	return e, nil
}

// Score returns one score per text, in the order of texts; greater is better,
// and only differences within one call mean something. It is meant for 20 to 30
// texts: many servers accept at most 32. Errors of a server that may work later
// wrap embed.ErrUnavailable.
func (e *Client) Score(ctx context.Context, query string, texts []string) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.cfg.Deadline, fmt.Errorf("no answer within %s", e.cfg.Deadline))
	defer cancel()
	limit := maxText
	for cuts := 0; ; cuts++ {
		short := make([]string, len(texts))
		longest := 0
		for i, text := range texts {
			short[i] = prose.FirstBytes(text, limit)
			longest = max(longest, len(short[i]))
		}
		ranks, err := e.ask(ctx, query, short)
		if remote.TooLong(err) && cuts < maxCuts {
			limit = longest * 3 / 4
			continue
		}
		if err != nil {
			return nil, err
		}
		scores, err := inOrder(ranks, len(texts))
		if err != nil {
			return nil, fmt.Errorf("%s %w", e.server, err)
		}
		return scores, nil
	}
}

// rank is the score of a text in a response, which may be in any order.
type rank struct {
	Index     *int     `json:"index"`
	Score     *float64 `json:"score"`           // of text-embeddings-inference
	Relevance *float64 `json:"relevance_score"` // of llama.cpp
}

// inOrder returns the scores of n texts in the order of the texts; every text
// must have exactly one numeric score.
func inOrder(ranks []rank, n int) ([]float64, error) {
	if len(ranks) != n {
		return nil, fmt.Errorf("returned %d scores for %d texts", len(ranks), n)
	}
	scores := make([]float64, n)
	seen := make([]bool, n)
	for _, r := range ranks {
		score := cmp.Or(r.Score, r.Relevance)
		switch {
		case r.Index == nil || *r.Index < 0 || *r.Index >= n:
			return nil, errors.New("returned a score for none of the texts")
		case seen[*r.Index]:
			return nil, fmt.Errorf("returned two scores for text %d", *r.Index)
		case score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return nil, fmt.Errorf("returned no score for text %d", *r.Index)
		}
		seen[*r.Index], scores[*r.Index] = true, *score
	}
	return scores, nil
}

// tei calls text-embeddings-inference, which cuts texts itself.
func (e *Client) tei(ctx context.Context, query string, texts []string) ([]rank, error) {
	request := struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate bool     `json:"truncate"`
	}{query, texts, true}
	var ranks []rank
	err := e.server.JSON(ctx, http.MethodPost, "rerank", request, &ranks)
	return ranks, err
}

// llamaCPP calls llama.cpp's API, which refuses texts that are too long.
func (e *Client) llamaCPP(ctx context.Context, query string, texts []string) ([]rank, error) {
	request := struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{e.cfg.Model, query, texts, len(texts)}
	var answer struct {
		Results []rank `json:"results"`
	}
	err := e.server.JSON(ctx, http.MethodPost, "v1/rerank", request, &answer)
	return answer.Results, err
}
