package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"almanac/ingest/outbound"
)

// graphError is what GraphQL says went wrong with a query that it answered.
type graphError struct {
	types    []string // NOT_FOUND, FORBIDDEN, INSUFFICIENT_SCOPES, RATE_LIMITED; "" for a failure inside
	messages []string
}

func (e *graphError) Error() string { return "GraphQL: " + strings.Join(e.messages, "; ") }

// is reports an error that is of the given types only.
func (e *graphError) is(types ...string) bool {
	return !slices.ContainsFunc(e.types, func(t string) bool { return !slices.Contains(types, t) })
}

// ask runs a GraphQL query; it needs a token. What the answer holds is decoded
// even if the error is a *graphError, which may concern only parts of it.
func (c *client) ask(ctx context.Context, query string, variables map[string]any, into any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return fmt.Errorf("GraphQL: %w", err)
	}
	if err := c.graph.allowed(c.now()); err != nil {
		return err
	}
	h := c.header()
	h.Set("Content-Type", "application/json")
	resp, err := c.http.Do(ctx, outbound.Request{
		Method: http.MethodPost, URL: c.access.graph(), Header: h, Body: body, Accept: mediaTypes, MaxBody: maxAnswer,
	})
	if err != nil {
		return c.graph.judge(resp, err, c.now())
	}
	c.graph.read(resp.Header)
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(resp.Body, &answer); err != nil {
		return fmt.Errorf("GraphQL: %w", broken(err))
	}
	failure := &graphError{}
	for _, e := range answer.Errors {
		failure.types = append(failure.types, e.Type)
		failure.messages = append(failure.messages, e.Message)
	}
	if slices.Contains(failure.types, "RATE_LIMITED") {
		return &limitError{until: later(c.graph.reset, c.now().Add(minPause))}
	}
	if len(answer.Data) > 0 && string(answer.Data) != "null" {
		if err := json.Unmarshal(answer.Data, into); err != nil {
			return fmt.Errorf("GraphQL: %w", broken(err))
		}
	} else if len(failure.types) == 0 {
		return fmt.Errorf("GraphQL: the answer has neither data nor errors")
	}
	if len(failure.types) > 0 {
		return failure
	}
	return nil
}
