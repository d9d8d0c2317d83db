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

// graphError is the errors of a GraphQL response.
type graphError struct {
	types    []string // NOT_FOUND, FORBIDDEN, INSUFFICIENT_SCOPES, RATE_LIMITED; "" for an internal failure
	messages []string
}

func (e *graphError) Error() string { return "GraphQL: " + strings.Join(e.messages, "; ") }

// is reports whether all errors are of the given types.
func (e *graphError) is(types ...string) bool {
	return !slices.ContainsFunc(e.types, func(t string) bool { return !slices.Contains(types, t) })
}

// ask runs a GraphQL query, which requires a token. The data is decoded even if
// the error is a *graphError, which may be about only parts of it.
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
		return fmt.Errorf("GraphQL: the response has neither data nor errors")
	}
	if len(failure.types) > 0 {
		return failure
	}
	return nil
}
