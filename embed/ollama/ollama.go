// Package ollama embeds with a model that an Ollama server runs. It is the only
// package that imports Ollama's client.
//
// That client reads the environment: with OLLAMA_AUTH set, or for the host
// ollama.com, it signs its requests with the key in ~/.ollama. Config decides
// everything else; OLLAMA_HOST and proxy variables change nothing.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"almanac/embed/remote"
)

// Config configures an embedder.
type Config struct {
	URL   string // of the server, http://host:port
	Model string // as `ollama pull` names it; without a tag, latest
	Key   string // bearer token of a proxy in front of the server; "" = none
	// KeepAlive is how long the server keeps the model in memory after a
	// request; 0 = the server's setting, negative = forever.
	KeepAlive time.Duration

	remote.Config
}

// ErrNoModel is wrapped by the error of a server that does not have the model.
var ErrNoModel = errors.New("it has to be pulled first")

// Open checks that the server has the model and returns an embedder, whose
// Model names the version by the digest that the server reports. Errors are
// those of remote.Open, and ErrNoModel.
func Open(ctx context.Context, c Config) (*remote.Embedder, error) {
	s, err := newServer(c)
	if err != nil {
		return nil, err
	}
	return remote.Open(ctx, s, c.Config)
}

// server is the remote.Server.
type server struct {
	*remote.Client
	api       *api.Client
	model     model.Name
	keepAlive *api.Duration
}

func newServer(c Config) (*server, error) {
	name := model.ParseName(c.Model)
	if !name.IsValid() {
		return nil, fmt.Errorf("ollama: %q is not the name of a model", c.Model)
	}
	client, err := remote.NewClient(remote.ClientConfig{Name: "ollama", URL: c.URL, Key: c.Key})
	if err != nil {
		return nil, err
	}
	s := &server{Client: client, api: api.NewClient(client.URL(), client.HTTP()), model: name}
	if c.KeepAlive != 0 {
		s.keepAlive = &api.Duration{Duration: c.KeepAlive}
	}
	return s, nil
}

// Identify finds the model in the server's list.
func (s *server) Identify(ctx context.Context) (remote.Identity, error) {
	var list *api.ListResponse
	err := s.Do(ctx, func(ctx context.Context) (err error) {
		list, err = s.api.List(ctx)
		return err
	})
	if err != nil {
		return remote.Identity{}, err
	}
	for _, m := range list.Models {
		name := model.ParseName(m.Name) // in the server's spelling
		if !name.EqualFold(s.model) {
			continue
		}
		digest := strings.TrimPrefix(m.Digest, "sha256:")
		if len(digest) < shownDigest {
			return remote.Identity{},
				fmt.Errorf("%s has the model %s without a digest, so changes to it could not be noticed", s,
					name.DisplayShortest())
		}
		return remote.Identity{Name: name.DisplayShortest(), Version: digest[:shownDigest]}, nil
	}
	return remote.Identity{}, s.missing()
}

func (s *server) missing() error {
	return fmt.Errorf("%s does not have the model %s: %w with `ollama pull %s`", s, s.Name(), ErrNoModel, s.Name())
}

// shownDigest is how many characters of a digest `ollama list` shows.
const shownDigest = 12

// Name is the model's, with its tag.
func (s *server) Name() string { return s.model.DisplayShortest() }

// Embed sends one request. The server cuts texts that are too long; some
// versions (0.13.5 to at least 0.15.6) refuse them instead.
func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	truncate := true
	request := &api.EmbedRequest{Model: s.Name(), Input: texts, KeepAlive: s.keepAlive, Truncate: &truncate}
	var answer *api.EmbedResponse
	err := s.Do(ctx, func(ctx context.Context) (err error) {
		answer, err = s.api.Embed(ctx, request)
		return err
	})
	if e, ok := errors.AsType[*remote.Error](err); ok && e.Status == http.StatusNotFound {
		return nil, s.missing() // removed since it was identified
	}
	if err != nil {
		return nil, err
	}
	return answer.Embeddings, nil
}
