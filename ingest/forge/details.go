package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"almanac/ingest/outbound"
)

// pullDetails is the data of a pull request that the list of issues lacks.
type pullDetails struct {
	Number      int    `json:"number"`
	Head        string `json:"headRefName"`
	Base        string `json:"baseRefName"`
	Additions   int    `json:"additions"`
	Deletions   int    `json:"deletions"`
	MergeCommit struct {
		OID string `json:"oid"`
	} `json:"mergeCommit"`
	Files struct {
		Nodes []struct {
			Path string `json:"path"`
		} `json:"nodes"`
	} `json:"files"`
}

func (d pullDetails) paths() []string {
	paths := []string{}
	for _, n := range d.Files.Nodes {
		paths = append(paths, n.Path)
	}
	return paths
}

const detailFields = `number headRefName baseRefName additions deletions mergeCommit { oid } ` +
	`files(first: 100) { nodes { path } }`

// details queries the pull requests of a page at once: REST would need two
// requests for each. Without a token there are none.
func (r *run) details(ctx context.Context, numbers []int) (map[int]pullDetails, error) {
	if r.token == "" || len(numbers) == 0 {
		return nil, nil
	}
	var q strings.Builder
	q.WriteString("query($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n")
	for _, n := range numbers {
		fmt.Fprintf(&q, "    p%d: pullRequest(number: %d) { %s }\n", n, n, detailFields)
	}
	q.WriteString("  }\n}")
	var answer struct {
		Repository map[string]json.RawMessage `json:"repository"`
	}
	err := r.ask(ctx, q.String(), r.variables(), &answer)
	if graph, ok := errors.AsType[*graphError](err); ok && graph.is("NOT_FOUND") && answer.Repository != nil {
		err = nil // one was deleted after it was listed
	}
	if err != nil {
		if smaller := len(numbers) / 2; smaller > 0 && timedOut(err) {
			return r.halves(ctx, numbers[:smaller], numbers[smaller:])
		}
		return nil, err
	}
	details := map[int]pullDetails{}
	for _, raw := range answer.Repository {
		var d pullDetails
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("GraphQL: a pull request: %w", broken(err))
		}
		details[d.Number] = d
	}
	return details, nil
}

// halves queries a page that was too large in two parts.
func (r *run) halves(ctx context.Context, parts ...[]int) (map[int]pullDetails, error) {
	all := map[int]pullDetails{}
	for _, part := range parts {
		details, err := r.details(ctx, part)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, details)
	}
	return all, nil
}

// timedOut reports whether a query may have been too much for the forge, which
// gives up after ten seconds with a 502 or an error without a type.
func timedOut(err error) bool {
	graph, ok := errors.AsType[*graphError](err)
	return ok && graph.is("") || outbound.StatusOf(err) >= 500
}
