package desk

import (
	"fmt"
	"net/http"

	"almanac/catalog"
	"almanac/retrieval/revision"
)

// Done is a publication that was just made.
type Done struct {
	catalog.Publication
	Change int64  // which undoes it
	Before string // what was live
	Here   bool   // the page shows what it did
}

// After is the address of a page that says that a publication was made.
func After(path string, p catalog.Publication) string {
	return fmt.Sprintf("%s?published=%d", path, p.ID)
}

// Done returns the publication that the address of a page names as just made; nil if it
// names none, or another followed.
func (d *Desk) Done(r *http.Request) (*Done, error) {
	live, _, err := revision.InForce(r.Context(), d.Store)
	if err != nil {
		return nil, err
	}
	for _, p := range live {
		if p.ID == 0 || p.ID != int64(Number(r, "published", 0)) {
			continue
		}
		changes, err := d.Store.Audit(r.Context(), 50)
		for _, a := range changes {
			if a.Action == "publish" && a.Subject == string(p.Kind) {
				return &Done{Publication: p, Change: a.ID, Before: edition(a.Subject, a.Before)}, err
			}
		}
		return nil, err
	}
	return nil, nil
}
