package meili

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meilisearch/meilisearch-go"
)

// Promote makes the engine's generation the live one: its index and the live
// one swap names in one step (if there is no live one, it takes the name), and
// the previous one is deleted, with all remaining older generations. Searches
// of this engine continue meanwhile, those of engines of older generations fail
// from then on. Promoting again does nothing.
func (e *Engine) Promote(ctx context.Context) error {
	if e.readOnly {
		return fmt.Errorf("meili: promote %s: this engine is read-only", e.index)
	}
	uid, m, err := e.look(ctx, e.readManifest)
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("meili: promote: %s has no generation %d of index %s", e.host, e.manifest.Generation, e.index)
	}
	if uid != e.index {
		if err := e.swap(ctx, uid); err != nil {
			return err
		}
	}
	return e.sweep(ctx)
}

// swap gives the index the live name.
func (e *Engine) swap(ctx context.Context, uid string) error {
	live, err := e.claim(ctx, e.index)
	if err != nil {
		return err
	}
	epoch, err := e.epoch(ctx, e.index)
	if err == nil {
		err = e.overtaken(&manifest{Epoch: epoch})
	}
	if err != nil {
		return err
	}
	attempt := fmt.Sprintf("swap index %s with %s", uid, e.index)
	task, err := e.client.SwapIndexesWithContext(ctx,
		[]*meilisearch.SwapIndexesParams{{Indexes: []string{uid, e.index}, Rename: live == nil}})
	if err := e.await(ctx, attempt, task, err); err != nil {
		return err
	}
	e.uid.Store(&e.index)
	e.log.Info("index promoted", "index", e.index, "generation", e.manifest.Generation)
	return nil
}

// sweep deletes this owner's indexes of older generations, including the one that was swapped out.
func (e *Engine) sweep(ctx context.Context) error {
	const page = 200
	var names []string
	for offset := int64(0); ; offset += page {
		list, err := e.client.ListIndexesWithContext(ctx, &meilisearch.IndexesQuery{Limit: page, Offset: offset})
		if err != nil {
			return e.failed(ctx, "list indexes", err)
		}
		for _, index := range list.Results {
			names = append(names, index.UID)
		}
		if len(list.Results) < page {
			break
		}
	}
	for _, name := range names {
		number, ok := strings.CutPrefix(name, e.index+"-g")
		if generation, err := strconv.ParseInt(number, 10, 64); !ok || err != nil || generation > e.manifest.Generation ||
			name != e.building(generation) {
			continue
		}
		switch m, err := e.readManifest(ctx, name); {
		case errors.Is(err, ErrForeign):
			continue
		case err != nil:
			return err
		case m == nil:
			continue
		}
		task, err := e.client.DeleteIndexWithContext(ctx, name)
		if err := e.await(ctx, "delete index "+name, task, err); err != nil {
			return err
		}
	}
	return nil
}

// Drop deletes the index of the engine's generation. It is for temporary
// indexes; if there is none it does nothing.
func (e *Engine) Drop(ctx context.Context) error {
	if e.readOnly {
		return fmt.Errorf("meili: drop %s: this engine is read-only", e.index)
	}
	uid, m, err := e.look(ctx, e.readManifest)
	if err != nil || m == nil {
		return err
	}
	task, err := e.client.DeleteIndexWithContext(ctx, uid)
	return e.await(ctx, "delete index "+uid, task, err)
}
