package jobs

import (
	"context"
	"fmt"
	"strings"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// Ask adds a request of a person, and says so in the log of changes.
func Ask(ctx context.Context, store *sqlstore.Store, r catalog.Request) (id int64, err error) {
	if id, err = store.Enqueue(ctx, r); err != nil {
		return 0, err
	}
	return id, audit(ctx, store, r, id, "")
}

// Cancel asks for the end of a request, and says so in the log of changes.
// catalog.ErrNotFound if no open request has the id.
func Cancel(ctx context.Context, store *sqlstore.Store, id int64, by string) error {
	r, err := store.Job(ctx, id)
	if err != nil {
		return err
	}
	if err := store.CancelRequest(ctx, id); err != nil {
		return err
	}
	r.By = by
	return audit(ctx, store, r, id, "cancelled")
}

// audit writes to the log of changes. Arguments that are JSON are left out.
func audit(ctx context.Context, store *sqlstore.Store, r catalog.Request, id int64, note string) error {
	subject := r.Kind
	if r.Argument != "" && !strings.HasPrefix(r.Argument, "{") {
		subject += " " + r.Argument
	}
	return store.AddAudit(ctx, catalog.Audit{By: r.By, Action: "job", Subject: subject,
		After: fmt.Sprintf("job %d", id), Note: note})
}
