package meili

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
)

const (
	maxPayload  = 8 << 20 // bytes of documents in one request, unless one is larger
	maxInFlight = 4       // tasks of a batch that the server has not finished
)

// Apply implements keyword.Engine. It returns when the server has finished the
// batch: removals and all but the last passages first, then the last with the
// checkpoint, in one step. So a checkpoint is never ahead of the passages, and
// a failure is repaired by applying the batch again. A search during Apply can
// see a part of it.
//
// If the server has lost the index, or a part of it, the error says so and
// persists until Checkpoint returns from where to continue. If another process has taken
// over, nothing is written: catalog.ErrOvertaken.
func (e *Engine) Apply(ctx context.Context, b keyword.Batch) (err error) {
	if e.readOnly {
		return nil
	}
	uid, m, err := e.prepare(ctx)
	if err != nil {
		return err
	}
	if m.Checkpoint < e.applied {
		return e.lost(uid, m.Checkpoint)
	}
	payloads, err := e.payloads(b)
	if err != nil {
		return err
	}
	if e.manifest.Epoch > 0 {
		defer func() {
			if err != nil { // a part may be written, perhaps too late
				marking, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.timeout)
				defer cancel()
				if _, unmarked := e.mark(marking, uid, m.Checkpoint); unmarked != nil {
					e.log.Warn("the index is not marked", "index", uid, "error", e.failed(marking, "mark it", unmarked))
				}
			}
		}()
	}
	index := e.client.Index(uid)
	attempt := fmt.Sprintf("write changes up to %d to index %s", b.Checkpoint, uid)
	var tasks []*meilisearch.TaskInfo
	drain := func(left int) error {
		for len(tasks) > left {
			if err := e.await(ctx, attempt, tasks[0], nil); err != nil {
				return err
			}
			tasks = tasks[1:]
		}
		return nil
	}
	if filter := outdated(b); filter != "" {
		task, err := index.DeleteDocumentsByFilterWithContext(ctx, filter, nil)
		if err != nil {
			return e.failed(ctx, attempt, err)
		}
		tasks = append(tasks, task)
	}
	for i, payload := range payloads {
		left := maxInFlight - 1
		if i == len(payloads)-1 {
			left = 0 // it has the checkpoint
		}
		if err := drain(left); err != nil {
			return err
		}
		task, err := index.AddDocumentsNdjsonWithContext(ctx, payload, nil)
		if err != nil {
			return e.failed(ctx, attempt, err)
		}
		tasks = append(tasks, task)
	}
	if err := drain(0); err != nil {
		return err
	}
	if b.Checkpoint < m.Checkpoint {
		e.highest.Store(b.Checkpoint) // the follower has started again, on purpose
	} else {
		e.highest.Store(max(e.highest.Load(), b.Checkpoint))
	}
	e.applied = b.Checkpoint
	return nil
}

// lost returns the error of an index whose checkpoint is behind what Apply has written.
func (e *Engine) lost(uid string, left int64) error {
	return fmt.Errorf("meili: %s has lost changes of index %s: it has them up to %d, not %d; it must be filled "+
		"again from there",
		e.host, uid, left, e.applied)
}

// outdated returns the filter of the passages that a batch removes: those of
// deleted records, and those after the last one of records that are shorter
// now; "" if it can remove none.
func outdated(b keyword.Batch) string {
	records := map[int][]int64{} // by number of passages
	if len(b.Delete) > 0 {
		records[0] = b.Delete
	}
	for _, r := range b.Records {
		records[len(r.Passages)] = append(records[len(r.Passages)], r.ID)
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(records)) {
		part := "record IN [" + joinInts(records[n]) + "]"
		if n > 0 {
			part = "(ordinal >= " + strconv.Itoa(n) + " AND " + part + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " OR ")
}

func joinInts(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return b.String()
}

// payloads returns the documents of a batch as JSON lines. The last payload
// ends with the marks at the batch's checkpoint.
func (e *Engine) payloads(b keyword.Batch) ([][]byte, error) {
	var out [][]byte
	var payload []byte
	add := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("meili: %w", err)
		}
		if len(payload) > 0 && len(payload)+len(line) >= maxPayload {
			out, payload = append(out, payload), nil
		}
		payload = append(append(payload, line...), '\n')
		return nil
	}
	for _, r := range b.Records {
		for _, d := range documentsOf(r) {
			if err := add(d); err != nil {
				return nil, err
			}
		}
	}
	for _, m := range e.marks(b.Checkpoint) {
		if err := add(m); err != nil {
			return nil, err
		}
	}
	return append(out, payload), nil
}
