// Command calls uses the client that oapi-codegen makes of openapi.json.
//
// Usage: calls URL FEWEST
//
// FEWEST is how many grants there have to be.
package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"calls/api"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "go:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, fewest string) error {
	client, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	least, err := strconv.Atoi(fewest)
	if err != nil {
		return err
	}

	limit := 2
	list, err := client.ListCipsWithResponse(ctx, &api.ListCipsParams{Limit: &limit})
	if err := cmp.Or(err, status(list.StatusCode())); err != nil {
		return fmt.Errorf("list of proposals: %w", err)
	}
	if n := len(list.JSON200.Items); n == 0 || n > limit || n > list.JSON200.Total {
		return fmt.Errorf("list of proposals: %d of %d", n, list.JSON200.Total)
	}
	first := list.JSON200.Items[0]
	if !first.Status.Valid() || first.Requires == nil {
		return fmt.Errorf("proposal: %+v", first)
	}

	full, err := client.GetCipWithResponse(ctx, first.Id, nil)
	if err := cmp.Or(err, status(full.StatusCode())); err != nil {
		return fmt.Errorf("proposal %s: %w", first.Id, err)
	}
	if got := full.JSON200; got.Id != first.Id || got.Title != first.Title || got.Content == "" || got.Header == nil {
		return fmt.Errorf("proposal %s: %+v", first.Id, got)
	}

	found, err := client.SearchWithResponse(ctx, &api.SearchParams{Q: first.Title})
	if err := cmp.Or(err, status(found.StatusCode())); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if len(found.JSON200.Items) == 0 {
		return fmt.Errorf("search for %q finds nothing", first.Title)
	}
	for _, hit := range found.JSON200.Items {
		if hit.Id == "" || hit.Score <= 0 || hit.Score > 1 {
			return fmt.Errorf("hit: %+v", hit)
		}
		doc, err := client.GetDocWithResponse(ctx, hit.Id, nil)
		if err := cmp.Or(err, status(doc.StatusCode())); err != nil {
			return fmt.Errorf("hit %s: %w", hit.Id, err)
		}
		if doc.JSON200.Title != hit.Title {
			return fmt.Errorf("hit %s is %q, its document %q", hit.Id, hit.Title, doc.JSON200.Title)
		}
	}

	all := api.GetProposalsParamsState("all")
	grants, err := client.GetProposalsWithResponse(ctx, &api.GetProposalsParams{State: &all})
	if err := cmp.Or(err, status(grants.StatusCode())); err != nil {
		return fmt.Errorf("list of grants: %w", err)
	}
	if len(grants.JSON200.Items) < least {
		return fmt.Errorf("%d grants, want %d", len(grants.JSON200.Items), least)
	}
	for _, grant := range grants.JSON200.Items {
		var created *time.Time = grant.CreatedAt
		if grant.Number <= 0 || !grant.State.Valid() || created == nil || created.IsZero() {
			return fmt.Errorf("grant: %+v", grant)
		}
	}
	fmt.Printf("go: %d proposals, %d hits, %d grants\n",
		len(list.JSON200.Items), len(found.JSON200.Items), len(grants.JSON200.Items))
	return nil
}

func status(code int) error {
	if code != http.StatusOK {
		return fmt.Errorf("status %d", code)
	}
	return nil
}
