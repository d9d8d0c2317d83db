package ollama

import (
	"context"
	"fmt"

	"github.com/ollama/ollama/api"
)

// Pull has the server fetch the model from its library. progress, which may be
// nil, is called with the bytes fetched and the bytes known of; the total grows
// as the server finds more parts of the model. There is no timeout but ctx;
// what was fetched before it ended is not fetched again.
func Pull(ctx context.Context, c Config, progress func(done, total int64)) error {
	s, err := newServer(c)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	parts := make(parts)
	complete := false
	err = s.api.Pull(ctx, &api.PullRequest{Model: s.Name()}, func(p api.ProgressResponse) error {
		complete = p.Status == "success"
		if done, total, ok := parts.add(p); ok {
			progress(done, total)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pull the model %s: %w", s.Name(), s.Explain(ctx, err))
	}
	// The client library takes a truncated response for a complete one.
	switch {
	case complete:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("pull the model %s: %w", s.Name(), context.Cause(ctx))
	}
	return fmt.Errorf("pull the model %s: %s stopped before it had all of it", s.Name(), s)
}

// parts holds the files of a model by digest: bytes done and total.
type parts map[string][2]int64

// Reports beyond these limits are ignored.
const (
	maxParts = 10_000
	maxPart  = 1 << 40 // bytes
)

// add records one report and says whether it was about a file.
func (parts parts) add(p api.ProgressResponse) (done, total int64, ok bool) {
	if p.Digest == "" || p.Total <= 0 || p.Total > maxPart || p.Completed < 0 || len(parts) >= maxParts {
		return 0, 0, false
	}
	parts[p.Digest] = [2]int64{min(p.Completed, p.Total), p.Total}
	for _, part := range parts {
		done, total = done+part[0], total+part[1]
	}
	return done, total, true
}
