package meili

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/meilisearch/meilisearch-go"

	"almanac/catalog"
)

// manifest is the document that identifies an index. It is created with the index,
// moves with it when indexes are swapped, and is written with the last passages
// of a batch.
type manifest struct {
	ID         string `json:"id"`
	Owner      string `json:"owner"`
	Generation int64  `json:"generation"`
	Format     int    `json:"format"`
	Checkpoint int64  `json:"checkpoint"`
	Epoch      int64  `json:"-"` // of the process that wrote last
}

// writer is the document that says which process wrote last, in the same task as the
// manifest. It is one of its own, and has the epoch under a name that the settings of an
// index show, so that programs that know no epochs can use the index too.
type writer struct {
	ID    string `json:"id"`
	Epoch int64  `json:"checkpoint"`
}

const (
	manifestID = "mark"
	writerID   = "writer"
	primaryKey = "id"
)

// state is the engine's knowledge of its index.
type state struct {
	uid     atomic.Pointer[string] // the index of our generation; nil: not looked up
	highest atomic.Int64           // the highest checkpoint of the index known to this process
	applied int64                  // checkpoint that Apply continues from

	unset    atomic.Bool             // the settings of the index are not ours
	changing []*meilisearch.TaskInfo // tasks that make them so
}

// building returns the name of the index in which a generation is built.
func (e *Engine) building(generation int64) string {
	return e.index + "-g" + strconv.FormatInt(generation, 10)
}

// look finds the index of our generation and returns its manifest; nil if there is
// none. It tries the name that a promotion takes it from first.
func (e *Engine) look(ctx context.Context, read func(ctx context.Context, uid string) (*manifest, error)) (
	uid string, m *manifest, err error) {
	for _, uid := range []string{e.building(e.manifest.Generation), e.index} {
		epoch, err := e.epoch(ctx, uid) // before the manifest: what is written meanwhile is seen next time
		if err != nil {
			return "", nil, err
		}
		m, err := read(ctx, uid)
		if err != nil {
			return "", nil, err
		}
		if m == nil {
			continue
		}
		m.Epoch = epoch
		if m.Generation != e.manifest.Generation {
			if err := e.overtaken(m); err != nil {
				return "", nil, err
			}
			continue
		}
		if m.Format != e.manifest.Format {
			return "", nil, fmt.Errorf("meili: index %s of %s is in format %d and this program writes format %d: "+
				"start a new generation, or delete the index", uid, e.host, m.Format, e.manifest.Format)
		}
		e.uid.Store(&uid)
		return uid, m, nil
	}
	return "", nil, nil
}

// prepare is look for a writer: it creates a missing index and applies our settings.
func (e *Engine) prepare(ctx context.Context) (uid string, m *manifest, err error) {
	if uid, m, err = e.look(ctx, e.claim); err != nil {
		return "", nil, err
	}
	if m == nil {
		uid = e.building(e.manifest.Generation)
		task, err := e.client.Index(uid).AddDocumentsWithContext(ctx, []manifest{e.manifest},
			&meilisearch.DocumentOptions{PrimaryKey: ptr(primaryKey)})
		if err := e.await(ctx, "create index "+uid, task, err); err != nil {
			return "", nil, err
		}
		e.log.Info("index created", "index", uid)
		if uid, m, err = e.look(ctx, e.readManifest); err != nil {
			return "", nil, err
		}
		if m == nil {
			return "", nil, e.missing()
		}
	}
	if err := e.overtaken(m); err != nil {
		return "", nil, err
	}
	if err := e.ensureSettings(ctx, uid, m.Checkpoint > 0); err != nil || m.Epoch == e.manifest.Epoch {
		return uid, m, err
	}
	task, err := e.mark(ctx, uid, m.Checkpoint)
	return uid, m, e.await(ctx, "take over index "+uid, task, err)
}

// epoch reads which process wrote an index last, for a writer; 0 where that is not said.
func (e *Engine) epoch(ctx context.Context, uid string) (int64, error) {
	if e.readOnly || e.manifest.Epoch == 0 {
		return 0, nil
	}
	var w writer
	err := e.client.Index(uid).GetDocumentWithContext(ctx, writerID, nil, &w)
	if hasCode(err, indexNotFound) || hasCode(err, documentNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, e.failed(ctx, "read index "+uid, err)
	}
	return w.Epoch, nil
}

// overtaken is the error of a writer if a later one has marked an index.
func (e *Engine) overtaken(m *manifest) error {
	if m.Epoch > e.manifest.Epoch {
		return fmt.Errorf("meili: index %s of %s: %w", e.index, e.host, catalog.ErrOvertaken)
	}
	return nil
}

// mark writes manifest and writer. What a writer still wrote after it was overtaken ends with
// a mark of its own: the later one finds it, marks the index again and continues from that
// checkpoint, after which everything has changed that was written too late.
func (e *Engine) mark(ctx context.Context, uid string, checkpoint int64) (*meilisearch.TaskInfo, error) {
	return e.client.Index(uid).AddDocumentsWithContext(ctx, e.marks(checkpoint),
		&meilisearch.DocumentOptions{PrimaryKey: ptr(primaryKey)})
}

// marks are the documents that end a batch.
func (e *Engine) marks(checkpoint int64) []any {
	m := e.manifest
	m.Checkpoint = checkpoint
	if m.Epoch == 0 {
		return []any{m}
	}
	return []any{m, writer{writerID, m.Epoch}}
}

// inspect is look for a reader, to which settings that are not ours are an error.
func (e *Engine) inspect(ctx context.Context) (uid string, m *manifest, err error) {
	if uid, m, err = e.look(ctx, e.readManifest); err != nil || m == nil {
		return uid, m, err
	}
	have, err := e.settings(ctx, uid)
	if err == nil && !ours(have) {
		err = fmt.Errorf("meili: index %s of %s does not have our settings: the process that writes it restores them", uid,
			e.host)
	}
	return uid, m, err
}

func (e *Engine) missing() error {
	return fmt.Errorf("meili: %s has no index %s of generation %d: it was not built yet, or the server has lost it",
		e.host, e.index, e.manifest.Generation)
}

// onIndex runs a search on the index of our generation. A search also returns
// the manifest of the index it was run on, read last: if that is another
// generation's, indexes were swapped or deleted meanwhile, and the search is
// run again on our index. An index that has lost changes is being filled again,
// and its results are not returned.
func (e *Engine) onIndex(ctx context.Context, attempt string, run func(uid string) (manifest, error)) error {
	for again := false; ; again = true {
		highest := e.highest.Load()
		known := e.uid.Load()
		if known == nil {
			uid, m, err := e.look(ctx, e.readManifest)
			if err != nil {
				return err
			}
			if m == nil {
				return e.missing()
			}
			known = &uid
		}
		if e.unset.Load() {
			return fmt.Errorf("meili: %s: index %s of %s does not have our settings: the server is restoring them", attempt,
				*known, e.host)
		}
		m, err := run(*known)
		if err != nil && !hasCode(err, indexNotFound) {
			return e.failed(ctx, attempt, err)
		}
		if at := m.Checkpoint; err == nil && m.of(e.manifest) {
			if at < highest {
				return fmt.Errorf("meili: %s has lost index %s and it is being filled again: %d of %d changes",
					e.host, *known, at, highest)
			}
			return nil
		}
		if now := e.uid.Load(); now != nil && *now == *known {
			e.uid.CompareAndSwap(now, nil)
		}
		if again {
			return e.missing()
		}
	}
}

// of reports whether the manifest is that of the same index as another.
func (m manifest) of(other manifest) bool {
	m.Checkpoint, m.Epoch = other.Checkpoint, other.Epoch
	return m == other
}

// errUnmarked is wrapped by the error for an index without a manifest.
var errUnmarked = errors.New("was not made by this program")

// claim is readManifest for a writer. An index that has our settings to the letter, but no
// manifest, has lost it: it is deleted, to be built again.
func (e *Engine) claim(ctx context.Context, uid string) (*manifest, error) {
	m, err := e.readManifest(ctx, uid)
	if !errors.Is(err, errUnmarked) {
		return m, err
	}
	if have, unread := e.settings(ctx, uid); unread != nil || !ours(have) {
		return nil, err
	}
	e.log.Warn("the index has lost its mark and is built again", "index", uid)
	task, err := e.client.DeleteIndexWithContext(ctx, uid)
	return nil, e.await(ctx, "delete index "+uid, task, err)
}

// readManifest returns the manifest of an index, nil if there is no index. An index
// that is not this owner's is an error.
func (e *Engine) readManifest(ctx context.Context, uid string) (*manifest, error) {
	var m manifest
	err := e.client.Index(uid).GetDocumentWithContext(ctx, manifestID, nil, &m)
	switch {
	case hasCode(err, indexNotFound):
		return nil, nil
	case hasCode(err, documentNotFound):
		return nil, fmt.Errorf("meili: %w: index %s of %s %w: choose another name, or, if it is "+
			"this catalog's and has lost its mark, delete it, and it is built again", ErrForeign, uid, e.host, errUnmarked)
	case unknownForm(err), err == nil && m.Owner == "":
		return nil, fmt.Errorf("meili: %w: index %s of %s was not made by this program: choose another name",
			ErrForeign, uid, e.host)
	case err != nil:
		return nil, e.failed(ctx, "read index "+uid, err)
	case m.Owner != e.manifest.Owner:
		return nil, fmt.Errorf("meili: %w: index %s of %s is that of catalog %q, not of %q: choose another name",
			ErrForeign, uid, e.host, m.Owner, e.manifest.Owner)
	}
	return &m, nil
}

// Checkpoint implements keyword.Engine: it queries the server. If that has no
// index of this generation, it creates one and returns 0, unless the engine is
// read-only, which changes nothing. It must not run concurrently with Apply, which continues from
// there.
func (e *Engine) Checkpoint(ctx context.Context) (int64, error) {
	find := e.prepare
	if e.readOnly {
		find = e.inspect
	}
	_, m, err := find(ctx)
	if err != nil {
		return 0, err
	}
	if m == nil {
		m = &manifest{}
	}
	e.applied = m.Checkpoint
	e.highest.Store(max(e.highest.Load(), m.Checkpoint))
	return m.Checkpoint, nil
}

func ptr[T any](v T) *T { return &v }
