package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"almanac/api/limit"
	"almanac/embed"
	"almanac/text/dates"
	"almanac/text/webaddress"
)

// check validates the configuration and normalizes the public URL.
func (c *Config) check() error {
	if min(c.Limit.REST, c.Limit.MCP, c.Limit.Web, c.Limit.Connections, c.Limit.ClientConnections) < 0 {
		return fmt.Errorf("%w: limits must not be negative; 0 switches one off", ErrUsage)
	}
	for _, choice := range [][]string{ // of a setting, its value and the values that it takes
		{"limit.local", c.Limit.Local, "on", "off", "auto"},
		{"log.format", c.Log.Format, "text", "json", "auto"},
		{"server.role", c.Server.Role, "auto", RoleReader},
		{"embed.kind", c.Embed.Kind, "ollama", "openai", "tei"},
		{"rerank.kind", c.Rerank.Kind, "tei", "llamacpp"},
		{"judge.kind", c.Judge.Kind, "ollama", "openai"},
		{"search.passages", c.Search.Passages, "memory", PassagesInCatalog},
	} {
		key, value, known := choice[0], choice[1], choice[2:]
		if last := len(known) - 1; !slices.Contains(known, value) {
			return fmt.Errorf("%w: %s is %q: must be %s or %s", ErrUsage, key, value,
				strings.Join(known[:last], ", "), known[last])
		}
	}
	for key, d := range map[string]time.Duration{"search.deadline": c.Search.Deadline,
		"embed.keep_alive": c.Embed.KeepAlive, "rerank.deadline": c.Rerank.Deadline} {
		if d <= 0 {
			return fmt.Errorf("%w: %s is %v: must be above 0", ErrUsage, key, d)
		}
	}
	if err := c.checkServers(); err != nil {
		return err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		return fmt.Errorf("%w: log.level is %q: must be debug, info, warn or error", ErrUsage, c.Log.Level)
	}
	if c.Sample.Anchor != "" && dates.At(c.Sample.Anchor, dates.Day).IsZero() {
		return fmt.Errorf("%w: sample.anchor is %q: must be a day such as 2026-01-31", ErrUsage, c.Sample.Anchor)
	}
	if _, err := limit.ParseProxies(c.Server.TrustedProxies); err != nil {
		return fmt.Errorf("%w: server.trusted_proxies: %w", ErrUsage, err)
	}
	if c.Limit.Redis != "" {
		if err := limit.CheckShared(c.Limit.Redis); err != nil {
			return fmt.Errorf("%w: limit.redis: %w", ErrUsage, err)
		}
	}
	if _, err := c.Allowed(); err != nil {
		return fmt.Errorf("%w: sync.allow: %w", ErrUsage, err)
	}
	for key, address := range map[string]string{"server.listen": c.Server.Listen, "server.admin": c.Server.Admin} {
		if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
			return fmt.Errorf("%w: %s is %q: must be an address with a port, such as 127.0.0.1:8080", ErrUsage,
				key, address)
		}
	}
	c.Server.PublicURL = strings.TrimRight(c.Server.PublicURL, "/")
	if c.Server.PublicURL != "" && webaddress.Check(c.Server.PublicURL) != nil {
		return fmt.Errorf("%w: server.public_url is %q: must be http:// or https:// with a host", ErrUsage,
			c.Server.PublicURL)
	}
	return nil
}

// checkServers validates the settings of servers without calling them.
func (c *Config) checkServers() error {
	for section, address := range map[string]string{
		"keyword": c.Keyword.URL, "embed": c.Embed.URL, "rerank": c.Rerank.URL,
		"judge": c.Judge.URL,
	} {
		if err := checkServer(section, address); address != "" && err != nil {
			return err
		}
	}
	if c.Vector.URL != "" {
		schemes := map[string]bool{}
		for node := range strings.SplitSeq(c.Vector.URL, ",") {
			if err := checkServer("vector", node); err != nil {
				return err
			}
			schemes[node[:strings.Index(node, ":")]] = true
		}
		if len(schemes) > 1 {
			return fmt.Errorf("%w: vector.url has nodes by http:// and by https://: want one for all", ErrUsage)
		}
	}
	if c.Embed.URL != "" && c.Embed.Model == embed.Auto {
		c.Embed.Model = ""
	}
	switch {
	case c.Embed.URL != "" && c.Embed.Model == "" && c.Embed.Kind != "tei":
		return fmt.Errorf("%w: embed.model is missing: which model of %s embeds?", ErrUsage, c.Embed.URL)
	case c.Embed.URL == "" && !slices.Contains([]string{embed.Auto, embed.Table, embed.Transformer}, c.Embed.Model):
		return fmt.Errorf("%w: embed.url is missing: set it to the model server of %s, or embed.model to %s or a model "+
			"in the program, %s or %s; models in directories are not read", ErrUsage, c.Embed.Model, embed.Auto,
			embed.Table, embed.Transformer)
	case c.Judge.URL != "" && c.Judge.Model == "":
		return fmt.Errorf("%w: judge.model is missing: which model of %s judges?", ErrUsage, c.Judge.URL)
	case c.Judge.URL == "" && c.Judge.Model != "":
		return fmt.Errorf("%w: judge.url is missing: where is %s?", ErrUsage, c.Judge.Model)
	case c.Search.Passages == PassagesInCatalog && (c.Keyword.URL == "" || c.Vector.URL == ""):
		return fmt.Errorf("%w: search.passages is catalog: set keyword.url and vector.url too, as the engines in the "+
			"program keep all passages in memory, or leave it at memory", ErrUsage)
	case c.Vector.Shards < 0 || c.Vector.Replicas < 0:
		return fmt.Errorf("%w: vector.shards and vector.replicas must not be negative", ErrUsage)
	}
	return nil
}

func checkServer(section, address string) error {
	switch err := webaddress.Check(address); {
	case err == nil:
		return nil
	case errors.Is(err, webaddress.ErrUser):
		return fmt.Errorf("%w: %s.url must not contain a user or password: use %[2]s.key", ErrUsage, section)
	}
	return fmt.Errorf("%w: %s.url must be http:// or https:// with a host and, if it is not the usual one, a port",
		ErrUsage, section)
}
