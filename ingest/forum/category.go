package forum

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
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

const (
	// maxDepth limits the nesting of categories; forums allow three levels.
	maxDepth = 8
	// maxLists limits the pages of categories. A forum sends 20 and five below each
	// of them at once, or all in one.
	maxLists = 1000
)

var errManyCategories = errors.New("/categories.json: the list of categories does not end")

// categories reads the forum's categories and their number of topics.
func (s *syncRun) categories(ctx context.Context) (categories, int, error) {
	r := categoryReading{api: s.api, met: map[int64]wireCategory{}}
	if err := r.list(ctx, 0); err != nil {
		return nil, 0, err
	}
	for len(r.below) > 0 { // and what they bring to light
		id := r.below[0]
		if r.below = r.below[1:]; r.complete(id) {
			continue
		}
		if err := r.list(ctx, id); err != nil {
			return nil, 0, err
		}
	}
	all, topics := categories{}, 0
	for id, c := range r.met {
		all[id] = s.locate(r.met, id, maxDepth)
		topics += int(c.Topics)
	}
	return all, topics, nil
}

// locate returns a category below those above it.
func (c *connector) locate(met map[int64]wireCategory, id int64, depth int) category {
	w, ok := met[id]
	if !ok || depth == 0 {
		return category{}
	}
	above := c.locate(met, int64(w.Above), depth-1)
	path := strings.Trim(above.path+"/"+strings.ToLower(w.Slug), "/")
	return category{name: w.Name, path: path, excluded: above.excluded || c.excludes(path)}
}

// categoryReading reads the lists of categories.
type categoryReading struct {
	api   client
	met   map[int64]wireCategory
	below []int64 // have categories below them
	lists int
}

// list reads the categories at the top, or below one, until a page has nothing
// new: a forum that sends all at once sends nothing or the same as a second page.
func (r *categoryReading) list(ctx context.Context, above int64) error {
	for page := 1; ; page++ {
		if r.lists++; r.lists > maxLists {
			return errManyCategories
		}
		query := url.Values{"include_subcategories": {"true"}}
		if above != 0 {
			query.Set("parent_category_id", strconv.FormatInt(above, 10))
		}
		if page > 1 {
			query.Set("page", strconv.Itoa(page))
		}
		var answer categoriesPage
		err := r.api.get(ctx, "/categories.json", query, &answer)
		if page > 1 && isGone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if answer.List == nil {
			return errors.New("/categories.json: the response has no category_list")
		}
		before := len(r.met)
		r.add(answer.List.Categories, integer(above), maxDepth)
		if len(r.met) == before || above != 0 && r.complete(above) {
			return nil
		}
	}
}

// add adds categories: those below others stand in them, or beside them with the
// integer of the one above.
func (r *categoryReading) add(list []wireCategory, above integer, depth int) {
	for _, c := range list {
		c.Above = cmp.Or(c.Above, above)
		id := int64(c.ID)
		if _, twice := r.met[id]; !twice {
			r.met[id] = c
			if len(c.BelowIDs) > 0 {
				r.below = append(r.below, id)
			}
		}
		if depth > 1 {
			r.add(c.Below, c.ID, depth-1)
		}
	}
}

// complete reports whether all categories below one are known.
func (r *categoryReading) complete(id int64) bool {
	return !slices.ContainsFunc(r.met[id].BelowIDs, func(id integer) bool {
		_, ok := r.met[int64(id)]
		return !ok
	})
}

// excludes reports whether the options name the category: by its path, or by its
// slug alone.
func (c *connector) excludes(path string) bool {
	slug := path[strings.LastIndexByte(path, '/')+1:]
	return slices.ContainsFunc(c.opts.Exclude, func(e string) bool { return e == path || e == slug })
}
