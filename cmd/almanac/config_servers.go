package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// KeywordConfig chooses the keyword engine.
type KeywordConfig struct {
	URL   string `koanf:"url" doc:"Meilisearch server, such as http://localhost:7700; empty: the engine in the program"`
	Key   string `koanf:"key" secret:"true" doc:"its API key"`
	Index string `koanf:"index" default:"almanac" doc:"name of the index there"`
}

// VectorConfig chooses the vector engine.
type VectorConfig struct {
	URL        string `koanf:"url" doc:"gRPC interface of a Qdrant server, such as http://localhost:6334, or https:// with TLS; empty: the engine in the program"`
	Key        string `koanf:"key" secret:"true" doc:"its API key"`
	Collection string `koanf:"collection" default:"almanac" doc:"name of the collection there"`
	Quantize   bool   `koanf:"quantize" default:"true" doc:"whether a new collection keeps int8 vectors in memory and scores what they find by the originals"`
	OnDisk     bool   `koanf:"on_disk" default:"false" doc:"whether a new collection leaves the originals on disk"`
	Shards     int    `koanf:"shards" default:"0" doc:"shards of a new collection; 0: as the server is set"`
	Replicas   int    `koanf:"replicas" default:"0" doc:"replicas of a new collection; 0: as the server is set"`
}

// EmbedConfig chooses the embedding model.
type EmbedConfig struct {
	URL       string        `koanf:"url" doc:"model server, such as http://localhost:11434; empty: a table in this process"`
	Kind      string        `koanf:"kind" default:"ollama" doc:"interface of the server: ollama, openai or tei"`
	Model     string        `koanf:"model" doc:"model of the server; without one the directory of a table that almanac distil wrote; default the table in the program"`
	Key       string        `koanf:"key" secret:"true" doc:"bearer token of the server"`
	Pull      bool          `koanf:"pull" default:"true" doc:"whether an Ollama server is told to fetch a model that it lacks"`
	KeepAlive time.Duration `koanf:"keep_alive" default:"30m" doc:"how long an Ollama server keeps the model in memory after a call"`
}

// RerankConfig chooses the cross-encoder that reads the best results again.
type RerankConfig struct {
	URL      string        `koanf:"url" doc:"server of a cross-encoder; empty: none"`
	Kind     string        `koanf:"kind" default:"tei" doc:"interface of the server: tei or llamacpp"`
	Model    string        `koanf:"model" doc:"model of a server that has several"`
	Key      string        `koanf:"key" secret:"true" doc:"bearer token of the server"`
	Deadline time.Duration `koanf:"deadline" default:"500ms" doc:"time it has for one search, beside search.deadline"`
}

// checkServers checks what is set of servers, as far as that goes without
// asking them.
func (c *Config) checkServers() error {
	for key, address := range map[string]string{"keyword.url": c.Keyword.URL, "vector.url": c.Vector.URL, "embed.url": c.Embed.URL, "rerank.url": c.Rerank.URL} {
		u, err := url.Parse(address)
		switch {
		case address == "":
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return fmt.Errorf("%w: %s must be http:// or https:// with a host and, where it is not the usual one, a port", errUsage, key)
		case u.User != nil:
			return fmt.Errorf("%w: %s must hold no user or password: %s.key is for that", errUsage, key, strings.TrimSuffix(key, ".url"))
		}
	}
	switch {
	case !slices.Contains([]string{"ollama", "openai", "tei"}, c.Embed.Kind):
		return fmt.Errorf("%w: embed.kind is %q: must be ollama, openai or tei", errUsage, c.Embed.Kind)
	case c.Embed.URL != "" && c.Embed.Model == "" && c.Embed.Kind != "tei":
		return fmt.Errorf("%w: embed.model is missing: which model of %s embeds?", errUsage, c.Embed.URL)
	case !slices.Contains([]string{"tei", "llamacpp"}, c.Rerank.Kind):
		return fmt.Errorf("%w: rerank.kind is %q: must be tei or llamacpp", errUsage, c.Rerank.Kind)
	case c.Vector.Shards < 0 || c.Vector.Replicas < 0:
		return fmt.Errorf("%w: vector.shards and vector.replicas must not be negative", errUsage)
	}
	return nil
}
