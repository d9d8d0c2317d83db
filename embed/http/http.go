// Package httpembed embeds with a model behind an HTTP API that many servers
// implement: OpenAI's (llama.cpp, vLLM, LM Studio, LocalAI, hosted ones) or
// that of text-embeddings-inference.
package httpembed

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"almanac/embed/remote"
	"almanac/text/prose"
)

// Kind is an API.
type Kind string

// The APIs.
const (
	OpenAI Kind = "openai" // POST {URL}/embeddings
	TEI    Kind = "tei"    // POST {URL}/embed, GET {URL}/info
)

// Config configures an embedder.
type Config struct {
	Kind Kind
	// URL is the base of the paths above; for OpenAI's API it usually ends in /v1.
	URL string
	// Model is the name to request. TEI has one model: if a name is given, another one is an error.
	Model string
	Key   string // sent as a bearer token; "" = none

	remote.Config
}

// Open queries the server for its model and returns an embedder. OpenAI's API
// has no model versions: a model that was replaced under its name is noticed
// only if its dimensions differ. Errors are those of remote.Open.
func Open(ctx context.Context, c Config) (*remote.Embedder, error) {
	client, err := remote.NewClient(remote.ClientConfig{Name: string(c.Kind), URL: c.URL, Key: c.Key})
	if err != nil {
		return nil, err
	}
	var s remote.Server
	switch {
	case c.Kind == TEI:
		s = &tei{client, c.Model}
	case c.Kind != OpenAI:
		return nil, fmt.Errorf("%q is not a kind of embedding server: use %q or %q", c.Kind, OpenAI, TEI)
	case c.Model == "":
		return nil, fmt.Errorf("%s: no model is named", client)
	default:
		s = &openAI{client, c.Model}
	}
	return remote.Open(ctx, s, c.Config)
}

// openAI is a remote.Server.
type openAI struct {
	*remote.Client
	model string
}

// Identify sends nothing: only the name is known.
func (s *openAI) Identify(context.Context) (remote.Identity, error) {
	return remote.Identity{Name: s.model}, nil
}

// Embed sends one request.
func (s *openAI) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	request := struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{s.model, texts, "float"}
	var answer openAIAnswer
	if err := s.JSON(ctx, http.MethodPost, "embeddings", request, &answer); err != nil {
		return nil, err
	}
	vectors, err := answer.vectors(len(texts))
	if err != nil {
		return nil, fmt.Errorf("%s %w", s, err)
	}
	return vectors, nil
}

// openAIAnswer may have its vectors in any order.
type openAIAnswer struct {
	Data []struct {
		Index     int           `json:"index"`
		Embedding remote.Vector `json:"embedding"`
	} `json:"data"`
}

// vectors returns the vectors of n texts in the order of the texts.
func (a openAIAnswer) vectors(n int) ([][]float32, error) {
	if len(a.Data) != n {
		return nil, fmt.Errorf("returned %d vectors for %d texts", len(a.Data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || vectors[d.Index] != nil || d.Embedding == nil {
			return nil, fmt.Errorf("returned no vector, or two, for a text (index %d of %d)", d.Index, n)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// tei is a remote.Server.
type tei struct {
	*remote.Client
	model string // expected; "" = any
}

// info is the part of TEI's /info that is used.
type info struct {
	Model     string `json:"model_id"`
	Version   string `json:"model_sha"` // null for a model from a directory
	Type      string `json:"model_dtype"`
	Holds     int    `json:"max_input_length"` // tokens
	ModelType struct {
		Embedding *struct {
			Pooling string `json:"pooling"`
		} `json:"embedding"`
	} `json:"model_type"`
}

// Identify reads /info.
func (s *tei) Identify(ctx context.Context) (remote.Identity, error) {
	var i info
	if err := s.JSON(ctx, http.MethodGet, "info", nil, &i); err != nil {
		return remote.Identity{}, err
	}
	switch {
	case i.Model == "":
		return remote.Identity{},
			fmt.Errorf("%s does not say which model it has: is it a text-embeddings-inference server?", s)
	case s.model != "" && i.Model != s.model:
		return remote.Identity{}, fmt.Errorf("%s has the model %s, not %s", s, i.Model, s.model)
	case i.ModelType.Embedding == nil:
		return remote.Identity{}, fmt.Errorf("%s has the model %s, which is not an embedding model", s, i.Model)
	}
	version := fmt.Sprintf("%s, %s, %s pooling, %d tokens", prose.FirstBytes(i.Version, 12), i.Type,
		i.ModelType.Embedding.Pooling, i.Holds)
	return remote.Identity{Name: i.Model, Version: strings.TrimPrefix(version, ", ")}, nil
}

// Embed sends one request. The server cuts texts that are too long.
func (s *tei) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	request := struct {
		Inputs    []string `json:"inputs"`
		Truncate  bool     `json:"truncate"`
		Normalize bool     `json:"normalize"`
	}{texts, true, true}
	var answer []remote.Vector
	if err := s.JSON(ctx, http.MethodPost, "embed", request, &answer); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(answer))
	for i, v := range answer {
		vectors[i] = v
	}
	return vectors, nil
}
