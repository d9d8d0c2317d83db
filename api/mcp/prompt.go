package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/op"
)

// maxArgument is the most that an argument of a prompt may be, in bytes.
const maxArgument = 4 << 10

// addPrompts serves the prompts of the configuration.
func (s *Server) addPrompts() {
	for _, p := range s.cfg.Prompts {
		described := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			described.Arguments = append(described.Arguments,
				&sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Missing == ""})
		}
		s.sdk.AddPrompt(described, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := filled(p, r.Params.Arguments)
			if err != nil {
				return nil, err
			}
			return &sdk.GetPromptResult{Description: p.Description,
				Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
		})
	}
}

// filled is the text of a prompt with arguments in it.
func filled(p op.Prompt, arguments map[string]string) (string, error) {
	pairs := make([]string, 0, 2*len(p.Arguments))
	for _, a := range p.Arguments {
		value := strings.TrimSpace(arguments[a.Name])
		switch {
		case len(value) > maxArgument:
			return "", refusedPrompt("%s may have %d bytes at most", a.Name, maxArgument)
		case value == "" && a.Missing == "":
			return "", refusedPrompt("%s is required: %s", a.Name, a.Description)
		case value == "":
			value = a.Missing
		}
		pairs = append(pairs, "{"+a.Name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(p.Text), nil
}

func refusedPrompt(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
