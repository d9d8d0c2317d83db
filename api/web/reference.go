package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"almanac/api/look"
	"almanac/api/op"
	"almanac/api/reference"
	"almanac/api/tally"
)

const referencePath = "/api/v1/reference"

func prepareReference(h *Handler, v *view) error {
	v.Extra = h.cfg.Reference
	return nil
}

// described is an operation on a page of its own.
type described struct {
	reference.Operation
	Group         reference.Group
	Before, After *reference.Operation
	Answer        string // to the example, as JSON
}

// prepareOperation describes the operation that the address names.
func prepareOperation(h *Handler, v *view) error {
	id := path.Base(v.Path)
	var before *reference.Operation
	for _, g := range h.cfg.Reference {
		for i := range g.Operations {
			o := &g.Operations[i]
			if d, ok := v.Extra.(*described); ok {
				d.After = o
				return nil
			}
			if o.ID == id {
				v.Title, v.Lede = o.Title, o.Summary
				v.Extra = &described{Operation: *o, Group: g, Before: before, Answer: h.exampleAnswer(v, o.Of)}
			}
			before = o
		}
	}
	if v.Extra == nil {
		return op.NotFound("there is no operation %s", op.Quote(id))
	}
	return nil
}

// headOfOperation has the page load the script of its form.
func headOfOperation(_ *view, p *look.Page) { p.Script = "reference.js" }

// answerSize is how much of an answer the reference shows, in bytes.
const answerSize = 4000

// exampleAnswer asks an operation for its example; "" if it has none, is not ready for
// it, or does more than to read.
func (h *Handler) exampleAnswer(v *view, o op.Operation) string {
	in, ok := o.ExampleInput()
	if ready, _ := h.cfg.Ready(); !ok || !ready || o.Method != http.MethodGet || o.Effects != (op.Effects{}) {
		return ""
	}
	for _, f := range o.Forms {
		if f.Only {
			return ""
		}
	}
	answer, err := o.Run(tally.Uncounted(v.ctx), in)
	if err != nil {
		h.cfg.Log.DebugContext(v.ctx, "an example has no answer", "operation", o.ID, "error", err)
		return ""
	}
	raw, err := op.Encode(answer)
	var out bytes.Buffer
	if err != nil || json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	if text := out.String(); len(text) <= answerSize {
		return text
	}
	text := out.String()[:answerSize]
	return text[:strings.LastIndexByte(text, '\n')+1] + "…"
}
