package web

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // recipes.yaml
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/op"
)

const recipesPath = "/recipes"

//go:embed recipes.yaml
var recipesFile []byte

// recipeBook is what recipes.yaml has: recipes in the order in which people see them.
type recipeBook struct {
	Subjects map[string]subject
	Recipes  []recipe
}

// subject is what a recipe can be about.
type subject struct {
	Label string   // of the field in which the reader names one; "" = the recipe is about nothing in particular
	Is    string   // key, title or container of a record
	Of    []string // arguments of list_records

	lists []reads[kb.List[library.Row]] // Of, compiled
}

// recipe is a page that answers "how do I …" by calls of tools.
type recipe struct {
	Name, Title string
	When        string // it helps
	About       string // a subject
	Steps       []step

	subject subject
}

// step is a call with what it is for.
type step struct {
	Call, Why string

	question // Call, compiled
}

// fromStep is an argument that the answer to an earlier step has: {1.items.0.id}.
var fromStep = regexp.MustCompile(`^\{([1-9])\.(.+)\}$`)

// readRecipes reads a book of recipes, and checks that its calls are possible.
func (h *Handler) readRecipes(file []byte) ([]recipe, error) {
	var book recipeBook
	dec := yaml.NewDecoder(bytes.NewReader(file))
	dec.KnownFields(true)
	if err := dec.Decode(&book); err != nil {
		return nil, fmt.Errorf("recipes: %w", err)
	}
	for name, s := range book.Subjects {
		for _, args := range s.Of {
			var q reads[kb.List[library.Row]]
			if err := fillIn(h, &q, ask{op: "list_records", args: args + " limit=1"}); err != nil {
				return nil, fmt.Errorf("the subject %s of recipes: %w", name, err)
			}
			s.lists = append(s.lists, q)
		}
		book.Subjects[name] = s
	}
	for i := range book.Recipes {
		r := &book.Recipes[i]
		var ok bool
		if r.subject, ok = book.Subjects[r.About]; !ok && r.About != "" {
			return nil, fmt.Errorf("the recipe %s: there is no subject %s", r.Name, r.About)
		}
		for i := range r.Steps {
			if err := h.compileStep(*r, i); err != nil {
				return nil, fmt.Errorf("the recipe %s: %w", r.Name, err)
			}
		}
	}
	return book.Recipes, nil
}

// compileStep compiles the call of a step: a tool that only reads.
func (h *Handler) compileStep(r recipe, i int) (err error) {
	s := &r.Steps[i]
	id, args, _ := strings.Cut(s.Call, " ")
	var known []string
	if r.About != "" {
		known = append(known, "q")
	}
	for word := range strings.FieldsSeq(args) {
		_, value, _ := strings.Cut(word, "=")
		m := fromStep.FindStringSubmatch(value)
		if m == nil {
			continue
		}
		if of, _ := strconv.Atoi(m[1]); of > i || !hasPath(r.Steps[of-1].op.Out, m[2]) {
			return fmt.Errorf("%s: no earlier step answers with %s", s.Call, value)
		}
		known = append(known, strings.Trim(value, "{}"))
	}
	if s.question, err = h.question(ask{op: id, args: args}, known...); err != nil {
		return err
	}
	if s.op.Tool == "" || s.op.Method != http.MethodGet || s.op.Effects != (op.Effects{}) {
		return fmt.Errorf("%s is no tool that only reads", id)
	}
	return nil
}

// hasPath reports whether an answer can have a value at a path such as items.0.id.
func hasPath(s *jsonschema.Schema, path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if s == nil {
			return false
		}
		if _, err := strconv.Atoi(part); err == nil {
			s = s.Items
		} else {
			s = s.Properties[part]
		}
	}
	return s != nil
}

// Path is the address of the page.
func (r recipe) Path() string { return recipesPath + "/" + r.Name }

// Tools are those that it calls.
func (r recipe) Tools() (names []string) {
	for _, s := range r.Steps {
		names = append(names, s.op.Tool)
	}
	return names
}

// possible are the recipes whose tools all have something to answer from.
func (h *Handler) possible(ctx context.Context) []recipe {
	kinds := h.held(ctx)
	return slices.DeleteFunc(slices.Clone(h.recipes), func(r recipe) bool {
		return slices.ContainsFunc(r.Steps, func(s step) bool { return !s.op.Stocked(kinds) })
	})
}

func prepareRecipes(h *Handler, v *view) error {
	v.Extra = h.possible(v.ctx)
	return nil
}

// recipeView is what the page of a recipe shows.
type recipeView struct {
	Label, Subject string // "" = it is about nothing in particular
	Steps          []stepView
}

// stepView is a step with its arguments.
type stepView struct {
	No        int // from 1
	Why       string
	Link      string // of the page of its operation, which makes the call
	Same             // the call by each means; of one that lacks a value its name alone
	Arguments []stepArgument
}

// stepArgument is an argument with its value, or with where the reader gets it.
type stepArgument struct{ Name, Value, From string }

// prepareRecipe shows the steps of the recipe that the address names.
func prepareRecipe(h *Handler, v *view) error {
	name := path.Base(v.Path)
	all := h.possible(v.ctx)
	i := slices.IndexFunc(all, func(r recipe) bool { return r.Name == name })
	if i < 0 {
		return op.NotFound("there is no recipe %s for what is known of this network", op.Quote(name))
	}
	r := all[i]
	v.Title, v.Lede = r.Title, r.When
	out := &recipeView{Label: r.subject.Label}
	if out.Label != "" {
		out.Subject = cmp.Or(strings.TrimSpace(v.Param("q")), h.example(v.ctx, r.subject))
	}
	for i, s := range r.Steps {
		shown := h.show(s, out)
		shown.No = i + 1
		out.Steps = append(out.Steps, shown)
	}
	v.Extra = out
	return nil
}

// example is what a recipe is about as long as nobody says it; "" if the network has nothing like it.
func (h *Handler) example(ctx context.Context, s subject) string {
	for _, list := range s.lists {
		got, _, err := list.ask(ctx, nil, nil)
		if err != nil {
			h.cfg.Log.DebugContext(ctx, "a recipe has no subject", "error", err)
			continue
		}
		for _, x := range got.Items {
			is := map[string]string{"key": x.Key, "title": x.Title, "container": x.Container}
			if value := is[s.Is]; value != "" {
				return value
			}
		}
	}
	return ""
}

// show fills in a step.
func (h *Handler) show(s step, r *recipeView) stepView {
	out := stepView{Why: s.Why, Same: Same{Name: s.op.Tool}}
	values, query := map[string]string{}, url.Values{}
	complete := true
	for _, a := range s.args {
		shown := stepArgument{Name: a.name, Value: a.value}
		if m := fromStep.FindStringSubmatch(a.value); m != nil {
			shown.Value, shown.From = "", m[2]+" in the answer to step "+m[1]
		} else if a.value == "{q}" {
			if shown.Value = r.Subject; shown.Value == "" {
				shown.From = r.Label
			}
		}
		out.Arguments = append(out.Arguments, shown)
		if values[a.name] = shown.Value; shown.From != "" {
			complete = false
			continue
		}
		query.Set(a.name, shown.Value)
	}
	out.Link = (&url.URL{Path: referencePath + "/" + s.op.ID, RawQuery: query.Encode()}).String()
	if in, err := s.op.DecodeNamed(values); complete && err == nil {
		out.Same = h.same([]asked{{op: s.op, in: in}})[0]
	}
	return out
}
