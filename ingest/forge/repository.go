package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"almanac/catalog"
	"almanac/ingest/outbound"
	"almanac/text/markup"
)

// about reads the repository's description and readme. The repository of the
// grant proposals has no record.
func (r *run) about(ctx context.Context) error {
	r.info = repository{}
	if err := r.object(ctx, call{path: "/repos/" + r.name}, &r.info); err != nil {
		return err
	}
	if r.info.FullName == "" {
		return fmt.Errorf("the response about the repository does not name it")
	}
	if !strings.EqualFold(r.info.FullName, r.name) {
		r.out.Warn(r.name, "was renamed to "+r.info.FullName+"; change the option repositories")
	}
	if r.name == r.opts.Grants {
		return nil
	}
	readme, err := r.readme(ctx)
	if err != nil {
		return err
	}
	data := catalog.Repo{FullName: r.name, Description: r.info.Description}
	if spdx := r.info.License.SPDX; spdx != "NOASSERTION" {
		data.Licence = spdx
	}
	if data.Issues, data.Pulls, err = r.counts(ctx); err != nil {
		return err
	}
	page := markup.Parse(readme)
	rec := catalog.Record{
		Kind: catalog.KindRepo, Key: r.name, Title: r.name, URL: r.info.HTMLURL, Path: readme.Path,
		Container: r.name, Category: r.info.Language,
		Summary: cmp.Or(r.info.Description, page.Description), Body: cmp.Or(page.Body, r.info.Description),
		Tags: catalog.Tags(catalog.TagLabel, r.info.Topics...), CreatedAt: r.info.CreatedAt, UpdatedAt: r.info.PushedAt,
		LastActivityAt: r.info.PushedAt,
	}
	if r.info.Archived {
		rec.State = "archived"
	}
	if page.Body == "" {
		rec.Tags = append(rec.Tags, catalog.TagStub)
	}
	return r.put(ctx, catalog.Entry{Record: rec}, data)
}

// readme reads the readme of the default branch. Its path is empty if it does
// not exist.
func (r *run) readme(ctx context.Context) (markup.Input, error) {
	var b blob
	err := r.object(ctx, call{path: "/repos/" + r.name + "/readme"}, &b)
	switch {
	case outbound.StatusOf(err) == http.StatusNotFound:
		return markup.Input{}, nil
	case err != nil:
		return markup.Input{}, err
	}
	text, err := b.text()
	if err != nil {
		r.out.Warn(r.name, "its readme cannot be read: "+err.Error())
	}
	return markup.Input{Path: b.Path, Text: text}, nil
}

const countsQuery = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { issues { totalCount } pullRequests { totalCount } }
}`

// counts queries the numbers of issues and pull requests, which REST does not
// distinguish.
func (r *run) counts(ctx context.Context) (issues, pulls int, err error) {
	if r.token == "" {
		return 0, 0, nil
	}
	type total struct {
		N int `json:"totalCount"`
	}
	var answer struct {
		Repository struct {
			Issues       total `json:"issues"`
			PullRequests total `json:"pullRequests"`
		} `json:"repository"`
	}
	err = r.ask(ctx, countsQuery, r.variables(), &answer)
	return answer.Repository.Issues.N, answer.Repository.PullRequests.N, err
}

// variables returns the repository's owner and name for GraphQL.
func (r *run) variables() map[string]any {
	owner, name, _ := strings.Cut(r.name, "/")
	return map[string]any{"owner": owner, "name": name}
}
