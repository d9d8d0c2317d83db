package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

const boardQuery = `query($owner: String!, $number: Int!, $field: String!, $after: String) {
  repositoryOwner(login: $owner) {
    ... on ProjectV2Owner {
      projectV2(number: $number) {
        items(first: 100, after: $after) {
          pageInfo { hasNextPage endCursor }
          nodes {
            isArchived
            content { ... on PullRequest { number repository { nameWithOwner } } }
            fieldValueByName(name: $field) {
              ... on ProjectV2ItemFieldSingleSelectValue { name }
              ... on ProjectV2ItemFieldTextValue { text }
            }
          }
        }
      }
    }
  }
}`

// boardItem is a card of a board. Its content is empty for a note, an issue, or
// an item that the token may not see.
type boardItem struct {
	Archived bool `json:"isArchived"`
	Content  struct {
		Number     int `json:"number"`
		Repository struct {
			Name string `json:"nameWithOwner"`
		} `json:"repository"`
	} `json:"content"`
	Value struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"fieldValueByName"`
}

type boardAnswer struct {
	Owner *struct {
		Project *struct {
			Items connection[*boardItem] `json:"items"`
		} `json:"projectV2"`
	} `json:"repositoryOwner"`
}

// readBoard returns the column of each pull request on the board, nil if it is not
// read.
func (r *proposalRun) readBoard(ctx context.Context) (map[int]string, error) {
	column := map[int]string{}
	b := r.opts.Board
	if b == nil || r.token == "" {
		return nil, nil
	}
	variables := map[string]any{"owner": b.Owner, "number": b.Number, "field": b.Field}
	for range maxPages {
		var answer boardAnswer
		err := r.ask(ctx, boardQuery, variables, &answer)
		graph, ok := errors.AsType[*graphError](err)
		if ok && graph.is("NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES") {
			r.out.Warn("option board", graph.Error()+"; the token needs the scope read:project")
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("board: %w", err)
		}
		if answer.Owner == nil || answer.Owner.Project == nil {
			r.out.Warn("option board", fmt.Sprintf("%s has no project %d that the token may see", b.Owner, b.Number))
			return nil, nil
		}
		items := answer.Owner.Project.Items
		for _, item := range items.Nodes {
			if item == nil || !strings.EqualFold(item.Content.Repository.Name, r.opts.Repository) {
				continue
			}
			status := item.Value.Name + item.Value.Text
			if _, twice := column[item.Content.Number]; status != "" && (!twice || !item.Archived) {
				column[item.Content.Number] = status
			}
		}
		if !items.PageInfo.HasNext {
			return column, nil
		}
		if items.PageInfo.End == "" || items.PageInfo.End == variables["after"] {
			return nil, fmt.Errorf("board: %w", errEndless)
		}
		variables["after"] = items.PageInfo.End
	}
	return nil, fmt.Errorf("board: %w", errEndless)
}
