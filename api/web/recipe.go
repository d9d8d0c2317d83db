package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/api/op"
	"almanac/api/tally"
	"almanac/text/dotpath"
)

const recipesPath = "/recipes"

// timeShares are the parts of a page's time of which one step may take one: the others
// stand without it.
const timeShares = 5

// origin is where the subject of a recipe may come from.
type origin struct {
	question
	at dotpath.Path
}

// call is a step that can be asked, with the values that it takes from earlier answers.
type call struct {
	question
	why   string
	takes []taken
}

// taken is a value at a path in the answer of a step, by what the words call it.
type taken struct {
	name string
	step int // from 0
	at   dotpath.Path
}

// taking is how the words of a step name one: {1.items.0.id}.
var taking = regexp.MustCompile(`\{(([1-9])\.([^}\s]+))\}`)

// compileRecipe compiles what a recipe asks. A step is a tool that only reads.
func (h *Handler) compileRecipe(r recipe) (recipe, error) {
	fail := func(err error) (recipe, error) { return r, fmt.Errorf("the recipe %s: %w", r.slug, err) }
	for _, s := range r.subject.of {
		q, err := h.question(ask{op: s.op, args: s.args})
		if err != nil {
			return fail(err)
		}
		r.origins = append(r.origins, origin{q, dotpath.Path(s.at)})
	}
	for i, s := range r.steps {
		c := call{why: s.why}
		var known []string
		if r.subject.label != "" {
			known = append(known, "q")
		}
		for _, m := range taking.FindAllStringSubmatch(s.args, -1) {
			if of, _ := strconv.Atoi(m[2]); of <= i { // only what was asked before
				c.takes, known = append(c.takes, taken{m[1], of - 1, dotpath.Path(m[3])}), append(known, m[1])
			}
		}
		var err error
		if c.question, err = h.question(ask{op: s.op, args: s.args}, known...); err != nil {
			return fail(err)
		}
		if c.op.Tool == "" || c.op.Effects != (op.Effects{}) {
			return fail(fmt.Errorf("%s is no tool that only reads", s.op))
		}
		r.calls = append(r.calls, c)
	}
	return r, nil
}

// Path is the address of the page.
func (r recipe) Path() string { return recipesPath + "/" + r.slug }

// Title is the question that it answers.
func (r recipe) Title() string { return r.title }

// When says when it helps.
func (r recipe) When() string { return r.when }

// Tools are those that it calls.
func (r recipe) Tools() (names []string) {
	for _, c := range r.calls {
		names = append(names, c.op.Tool)
	}
	return names
}

// possible are the recipes whose tools all have something to answer from.
func (h *Handler) possible(ctx context.Context) []recipe {
	kinds := h.held(ctx)
	return slices.DeleteFunc(slices.Clone(h.recipes), func(r recipe) bool {
		return slices.ContainsFunc(r.calls, func(c call) bool { return !c.op.Stocked(kinds) })
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

// stepView is a step with its answer in short.
type stepView struct {
	No      int // from 1
	Why     string
	Failure string // why there is no answer
	Same           // the call by each means; of a step that could not be asked its name alone
	outcome
}

// prepareRecipe makes the calls of the recipe that the address names, one after the other:
// what one fails at is said in its place. Their searches are not counted, as visitors did
// not think of them.
func prepareRecipe(h *Handler, v *view) error {
	slug := path.Base(v.Path)
	all := h.possible(v.ctx)
	i := slices.IndexFunc(all, func(r recipe) bool { return r.slug == slug })
	if i < 0 {
		return op.NotFound("there is no recipe %s for what is known of this network", op.Quote(slug))
	}
	r, ctx := all[i], tally.Uncounted(v.ctx)
	v.Title, v.Lede = r.title, r.when
	out := &recipeView{Label: r.subject.label}
	v.Extra = out
	if out.Label != "" {
		if out.Subject = cmp.Or(strings.TrimSpace(v.Param("q")), h.subjectOf(ctx, r)); out.Subject == "" {
			return nil // the page asks for one
		}
	}
	answers := make([]json.RawMessage, len(r.calls))
	for i, c := range r.calls {
		var s stepView
		s, answers[i] = h.take(ctx, c, out.Subject, answers)
		s.No = i + 1
		out.Steps = append(out.Steps, s)
	}
	return nil
}

// subjectOf is what a recipe is about as long as nobody says it; "" if the network has
// nothing like it.
func (h *Handler) subjectOf(ctx context.Context, r recipe) string {
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Timeout/timeShares)
	defer cancel()
	for _, o := range r.origins {
		got, err := o.ask(ctx, nil, nil)
		if err != nil {
			h.cfg.Log.DebugContext(ctx, "a recipe has no subject", "operation", o.op.ID, "error", err)
			continue
		}
		raw, err := op.Encode(got.answer)
		if text, ok := dotpath.Text(o.at.Find(raw)); err == nil && ok && text != "" {
			return text
		}
	}
	return ""
}

// take makes one call and returns its answer too, as JSON for the steps after it.
func (h *Handler) take(
	ctx context.Context, c call, subject string, answers []json.RawMessage,
) (stepView, json.RawMessage) {
	s := stepView{Why: c.why, Same: Same{Name: c.op.Tool}}
	vars := map[string]string{"q": subject}
	for _, t := range c.takes {
		text, _ := dotpath.Text(t.at.Find(answers[t.step]))
		if text == "" {
			s.Failure = fmt.Sprintf("Step %d found nothing to go on with.", t.step+1)
			return s, nil
		}
		vars[t.name] = text
	}
	ctx, cancel := context.WithTimeout(ctx, h.cfg.Timeout/timeShares)
	defer cancel()
	got, err := c.ask(ctx, vars, nil)
	if got.op.ID != "" {
		s.Same = h.same([]asked{got})[0]
	}
	var raw json.RawMessage
	if err == nil {
		raw, err = op.Encode(got.answer)
	}
	if err != nil {
		f := c.op.ExplainTool(err)
		if s.Failure = sentence(f.Message); f.Kind == nil {
			h.cfg.Log.ErrorContext(ctx, "a step of a recipe failed", "operation", c.op.ID, "error", err)
		}
		return s, nil
	}
	s.outcome = outcomeOf(got.answer, subject, h.cfg.PublicURL)
	return s, raw
}
