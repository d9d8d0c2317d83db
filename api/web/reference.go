package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"

	"almanac/api/describe"
	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/tally"
)

const referencePath = "/api/v1/reference"

func prepareReference(h *Handler, v *view) error {
	v.Extra = h.cfg.Reference
	return nil
}

// described is an operation on a page of its own.
type described struct {
	describe.Operation
	Group         describe.Section
	Before, After *describe.Operation
	Answer        string // to the example, as JSON
	Failure       string // why there is none to the arguments that the address has
}

// prepareOperation describes the operation that the address names: one that the list has, or a tool that only reads.
func prepareOperation(h *Handler, v *view) error {
	id := path.Base(v.Path)
	o, ok := h.ops[id]
	if !ok || o.Path == "" && (o.Tool == "" || o.Effects != op.Effects{}) {
		return op.NotFound("there is no operation %s", op.Quote(id))
	}
	d := &described{}
	var listed []*describe.Operation
	for _, g := range h.cfg.Reference {
		if g.Name == o.Group {
			d.Group = g
		}
		for i := range g.Operations {
			listed = append(listed, &g.Operations[i])
		}
	}
	if i := slices.IndexFunc(listed, func(o *describe.Operation) bool { return o.ID == id }); i >= 0 {
		if i > 0 {
			d.Before = listed[i-1]
		}
		if i+1 < len(listed) {
			d.After = listed[i+1]
		}
	}
	h.fillIn(v, d, o)
	v.Title, v.Lede, v.Extra = d.Title, d.Summary, d
	return nil
}

// headOfOperation has the page load the script of its form.
func headOfOperation(_ *view, p *look.Page) { p.Script = "reference.js" }

// answerSize is how much of an answer the reference shows, in bytes.
const answerSize = 4000

// fillIn describes an operation with the arguments that the address of its page has, or else with its example, and
// with the answer.
func (h *Handler) fillIn(v *view, d *described, o op.Operation) {
	given := map[string]string{}
	for _, p := range o.NamedParams() {
		if value := v.Param(p.Name); value != "" {
			given[p.Name] = value
		}
	}
	if len(given) == 0 {
		d.Operation = describe.Page(h.cfg.PublicURL, o)
		d.Answer, _ = h.exampleAnswer(v, o)
		return
	}
	o.Example = nil
	in, err := o.DecodeNamed(given)
	if err == nil {
		o = o.WithInput(in)
		d.Answer, err = h.exampleAnswer(v, o)
	}
	if err != nil {
		d.Failure = sentence(op.Explain(err).Message)
	}
	d.Operation = describe.Page(h.cfg.PublicURL, o)
	for i := range d.Params {
		d.Params[i].Example = given[d.Params[i].Name]
	}
}

// exampleAnswer asks an operation for its example; "" if it has none, is not ready for
// it, or does more than to read.
func (h *Handler) exampleAnswer(v *view, o op.Operation) (string, error) {
	in, ok := o.ExampleInput()
	if ready, _ := h.cfg.Ready(); !ok || !ready || o.Method != http.MethodGet || o.Effects != (op.Effects{}) {
		return "", nil
	}
	for _, f := range o.Forms {
		if f.Only {
			return "", nil
		}
	}
	answer, err := o.Run(tally.Uncounted(v.ctx), in)
	if err != nil && op.Explain(err).Kind == nil {
		h.cfg.Log.ErrorContext(v.ctx, "an example failed", "operation", o.ID, "error", err)
	}
	if err != nil {
		return "", err
	}
	raw, err := op.Encode(answer)
	var out bytes.Buffer
	if err != nil || json.Indent(&out, raw, "", "  ") != nil {
		return "", err
	}
	text := out.String()
	if len(text) > answerSize {
		text = text[:answerSize]
		text = text[:strings.LastIndexByte(text, '\n')+1] + "…"
	}
	return text, nil
}
