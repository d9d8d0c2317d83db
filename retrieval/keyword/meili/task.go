package meili

import (
	"context"
	"fmt"
	"time"

	"github.com/meilisearch/meilisearch-go"
)

// A task is polled soon, as most are short, and then less and less often.
const (
	firstLook  = 2 * time.Millisecond
	slowestGap = 250 * time.Millisecond
	complain   = time.Minute // wait after which it is logged
)

// await waits for a task; err is the error of the request that was to enqueue
// it. The server processes one queue, for all of its indexes, in order.
func (e *Engine) await(ctx context.Context, attempt string, info *meilisearch.TaskInfo, err error) error {
	if err != nil {
		return e.failed(ctx, attempt, err)
	}
	begun := time.Now()
	logged := begun
	for gap := firstLook; ; gap = min(gap*3/2, slowestGap) {
		select {
		case <-ctx.Done():
			return e.failed(ctx, attempt, ctx.Err())
		case <-time.After(gap):
		}
		task, err := e.client.GetTaskWithContext(ctx, info.TaskUID)
		if hasCode(err, "task_not_found") {
			return fmt.Errorf("meili: %s: %s has forgotten task %d: it was restarted empty", attempt,
				e.host, info.TaskUID)
		}
		if err != nil {
			return e.failed(ctx, attempt, err)
		}
		switch task.Status {
		case meilisearch.TaskStatusSucceeded:
			return nil
		case meilisearch.TaskStatusFailed:
			if task.Error.Code == diskFull {
				return fmt.Errorf("meili: %s: the disk of %s is full: %s", attempt, e.host,
					sentence(task.Error.Message))
			}
			return fmt.Errorf("meili: %s: task %d of %s failed: %s (%s)", attempt, info.TaskUID, e.host,
				sentence(task.Error.Message), task.Error.Code)
		case meilisearch.TaskStatusCanceled:
			return fmt.Errorf("meili: %s: task %d of %s was cancelled there", attempt, info.TaskUID, e.host)
		}
		if time.Since(logged) >= complain {
			logged = time.Now()
			e.log.Warn("the server's queue is slow", "attempt", attempt, "task", info.TaskUID, "status", task.Status,
				"waited", time.Since(begun).Round(time.Second))
		}
	}
}
