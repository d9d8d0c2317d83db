package line

import (
	"fmt"
	"io"
	"strings"

	"almanac/api/op"
	"almanac/api/openapi"
)

// Markdown writes the reference of all tools, as docs/reference/tools.md has it: by group,
// each with its description, its arguments and its address on REST.
func Markdown(w io.Writer, ops []op.Operation, groups []openapi.Group) error {
	tools := 0
	for _, o := range ops {
		if o.Tool != "" {
			tools++
		}
	}
	_, err := fmt.Fprintf(w, `# Tools

The %d tools of /mcp and of `+"`almanac mcp`"+`, with the addresses that answer the same on REST. The words are those of
the sample network; `+"`almanac tools list --markdown --network FILE`"+` prints those of yours. Arguments in bold are
required.
`+"`/mcp?toolsets=cips,search&tools=get_doc`"+` lists some of them only.
`, tools)
	for _, g := range groups {
		first := true
		for _, o := range ops {
			if o.Tool == "" || o.Group != g.Name {
				continue
			}
			if first {
				first = false
				fmt.Fprintf(w, "\n## %s\n\n%s\n", g.Name, g.Description)
			}
			if err := describe(w, o); err != nil {
				return err
			}
		}
	}
	return err
}

func describe(w io.Writer, o op.Operation) error {
	fmt.Fprintf(w, "\n### %s\n\n%s", o.Tool, o.Text())
	if o.Path != "" {
		fmt.Fprintf(w, " REST: `%s %s`.", o.Method, o.Path)
	}
	if o.Extra {
		fmt.Fprint(w, " Listed only by its name or with the toolset `extras`.")
	}
	fmt.Fprint(w, "\n\n")
	required := map[string]bool{}
	for _, name := range o.ToolIn.Required {
		required[name] = true
	}
	for _, p := range o.Params {
		if p.ToolName == "" {
			continue
		}
		name := "`" + p.ToolName + "`"
		if required[p.ToolName] {
			name = "**" + name + "**"
		}
		fmt.Fprintf(w, "- %s: %s\n", name, strings.TrimSuffix(p.Doc, "."))
	}
	if in, ok := o.ExampleInput(); ok {
		fmt.Fprintf(w, "\n      almanac tools call %s %s\n", name(o), op.Shell(o.Line(in)...))
	}
	return nil
}
