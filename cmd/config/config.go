// Package config holds the settings of the program: their names, defaults and
// documentation in one struct, their layers, and checks.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"almanac/embed"
	"almanac/retrieval/crossencoder"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/retrieval/workbench"
)

// Config is the effective configuration. Keys are section.key, as in the tags.
type Config struct {
	Server struct {
		Listen         string        `key:"listen" default:"127.0.0.1:8080" doc:"address of the public listener"`
		Admin          string        `key:"admin" default:"127.0.0.1:8081" empty:"true" doc:"admin listener; empty: none"`
		AdminToken     string        `key:"admin_token" secret:"true" doc:"of the admin listener, unless that is on loopback"`
		PublicURL      string        `key:"public_url" doc:"base address that clients see; default http://LISTEN"`
		TrustedProxies []string      `key:"trusted_proxies" doc:"addresses or networks whose X-Forwarded-For counts"`
		AllowedOrigins []string      `key:"allowed_origins" doc:"origins whose pages may call /mcp and read answers"`
		Role           string        `key:"role" default:"auto" doc:"auto: sync if no other process does; reader: never"`
		Clicks         bool          `key:"clicks" default:"false" doc:"count opened results; no addresses, no cookies"`
		DrainDelay     time.Duration `key:"drain_delay" default:"0s" doc:"from a signal to the end of listening, /ready 503"`
	} `key:"server"`
	Network struct {
		Name      string `key:"name" default:"sample" doc:"preset or YAML file of the network"`
		CorpusDir string `key:"corpus_dir" doc:"directory that replaces ${corpus} in a network's sources"`
	} `key:"network"`
	Data struct {
		Dir string `key:"dir" doc:"data directory; default $XDG_DATA_HOME/almanac/NETWORK"`
	} `key:"data"`
	Catalog struct {
		URL string `key:"url" secret:"true" doc:"PostgreSQL database, postgres://USER@HOST/NAME; empty: a file in data.dir"`
	} `key:"catalog"`
	Sync struct {
		Enabled bool     `key:"enabled" default:"true" doc:"whether serve syncs its sources"`
		Allow   []string `key:"allow" doc:"private networks that may be called, such as 10.0.0.0/8; others are refused"`
	} `key:"sync"`
	Limit struct {
		REST  int    `key:"rest" default:"60" doc:"REST calls per client and 15 minutes; 0 = no limit"`
		MCP   int    `key:"mcp" default:"60" doc:"the same over MCP; connecting and pings have ten times as many"`
		Web   int    `key:"web" default:"300" doc:"web pages per client and 15 minutes, ten times the letters; 0: none"`
		Local string `key:"local" default:"auto" doc:"count local calls: on, off, or auto: not in a terminal or of a folder"`
		Redis string `key:"redis" secret:"true" doc:"to count in for all servers: redis://HOST/0; empty: each its own"`
		// A connection holds up to 48 KiB of headers before any call is counted.
		Connections       int `key:"connections" default:"1024" doc:"open connections of a listener; 0 = no limit"`
		ClientConnections int `key:"client_connections" default:"64" doc:"of one client among them; 0 = no limit"`
	} `key:"limit"`
	MCP struct {
		Prompts bool `key:"prompts" default:"false" doc:"offer clients of tools the prompts that a person picks"`
	} `key:"mcp"`
	Search struct {
		Profile  string        `key:"profile" doc:"unless one is published: built in, or YAML; default: fitted to the model"`
		Deadline time.Duration `key:"deadline" default:"800ms" doc:"time the engines have for one search"`
		Passages string        `key:"passages" default:"memory" doc:"where they are read for ranking: memory or catalog"`
	} `key:"search"`
	Keyword stack.Keyword         `key:"keyword"`
	Vector  stack.Vector          `key:"vector"`
	Embed   stack.Embed           `key:"embed"`
	Rerank  crossencoder.Config   `key:"rerank"`
	Judge   workbench.ModelConfig `key:"judge"`
	Sample  struct {
		Anchor string `key:"anchor" doc:"day (YYYY-MM-DD) that the sample's dates refer to; default its first load"`
	} `key:"sample"`
	Telemetry struct {
		Texts bool `key:"texts" default:"false" doc:"traces have queries and errors; by default their lengths alone"`
	} `key:"telemetry"`
	Log struct {
		Level  string `key:"level" default:"info" doc:"debug, info, warn or error; default warn, of serve and mcp info"`
		Format string `key:"format" default:"auto" doc:"text, json, or auto: text on a terminal"`
	} `key:"log"`
}

// RoleReader is the role of a server that never writes.
const RoleReader = "reader"

// PassagesInCatalog is the search.passages of a process whose memory does not grow with
// them.
const PassagesInCatalog = "catalog"

// Origins holds the origin of each key's value.
type Origins map[string]string

// The origins of values that nobody gave, and of flags.
const (
	Default = "default"
	Flag    = "flag"
)

// ErrUsage marks an invalid command line or configuration: exit code 2.
var ErrUsage = errors.New("usage")

// ProfileName returns the name of the relevance profile of searches. The default
// depends on the kind of embedding model, as cosines of different kinds are not
// comparable; with auto it is that of an index that is made at once.
func (c Config) ProfileName() string {
	switch {
	case c.Search.Profile != "":
		return c.Search.Profile
	case c.Embed.URL != "" || c.Embed.Model == embed.Transformer:
		return ranking.TransformerName
	}
	return ranking.DefaultName
}

// PublicURL returns the base address that clients see of a service that listens
// on an address.
func (c Config) PublicURL(listen string) string {
	if c.Server.PublicURL != "" {
		return c.Server.PublicURL
	}
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		listen = net.JoinHostPort("localhost", port)
	}
	return "http://" + listen
}

// Allowed returns the private networks that sources may be in.
func (c Config) Allowed() ([]netip.Prefix, error) {
	var allow []netip.Prefix
	for _, s := range c.Sync.Allow {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is not a network such as 10.0.0.0/8 or ::1/128", s)
		}
		allow = append(allow, p)
	}
	return allow, nil
}
