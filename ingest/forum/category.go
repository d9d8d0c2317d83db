package forum

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// category is a category of the forum as records name it.
type category struct {
	name     string
	path     string // slugs from the top: support/nodes
	excluded bool
}

// categories are the forum's categories by number.
type categories map[int64]category

// maxDepth limits the nesting of categories; forums allow three levels.
const maxDepth = 8

// categories reads the forum's categories and their number of topics.
func (s *syncRun) categories(ctx context.Context) (categories, int, error) {
	var page categoriesPage
	if err := s.api.get(ctx, "/categories.json", url.Values{"include_subcategories": {"true"}}, &page); err != nil {
		return nil, 0, err
	}
	if page.List == nil {
		return nil, 0, errors.New("/categories.json: the response has no category_list")
	}
	all, topics := categories{}, 0
	var add func(list []wireCategory, above category, depth int)
	add = func(list []wireCategory, above category, depth int) {
		for _, c := range list {
			path := strings.Trim(above.path+"/"+strings.ToLower(c.Slug), "/")
			here := category{name: c.Name, path: path, excluded: above.excluded || s.excludes(path)}
			all[int64(c.ID)] = here
			if topics += int(c.Topics); depth < maxDepth {
				add(c.Below, here, depth+1)
			}
		}
	}
	add(page.List.Categories, category{}, 1)
	return all, topics, nil
}

// excludes reports whether the options name the category: by its path, or by its
// slug alone.
func (c *connector) excludes(path string) bool {
	for _, e := range c.opts.Exclude {
		if path == e || path[strings.LastIndexByte(path, '/')+1:] == e {
			return true
		}
	}
	return false
}
