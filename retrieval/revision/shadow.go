package revision

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"almanac/catalog"
)

// Shadow says which saved profile runs beside searches of people, unseen.
type Shadow struct {
	Candidate string    `json:"candidate"` // NAME@NUMBER; "": none
	Share     int       `json:"share"`     // of searches, in hundredths
	By        string    `json:"by"`
	Since     time.Time `json:"since"`
}

// metaShadow is where the catalog keeps it.
const metaShadow = "shadow"

// ShadowOf returns the setting; the zero one if it was never set.
func ShadowOf(ctx context.Context, store catalog.Store) (s Shadow, err error) {
	text, err := store.Meta(ctx, metaShadow)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// SetShadow changes the setting for every process, within seconds. ErrNotFound if
// there is no such revision, ErrInvalid for a share that is none.
func SetShadow(ctx context.Context, store catalog.Store, s Shadow) error {
	if s.Share < 0 || s.Share > 100 {
		return fmt.Errorf("%w: a share is between 0 and 100", ErrInvalid)
	}
	before, err := ShadowOf(ctx, store)
	if err != nil {
		return err
	}
	if s.Share == 0 {
		s.Candidate = ""
	} else {
		n, ok := ParseName(s.Candidate)
		if !ok {
			return fmt.Errorf("%w: there is no revision %q: name it as default@3", catalog.ErrNotFound, s.Candidate)
		}
		if _, err := store.Revision(ctx, catalog.ProfileRevision, n.Profile, n.Number); err != nil {
			return err
		}
	}
	s.Since = catalog.CleanTime(s.Since)
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := store.SetMeta(ctx, metaShadow, string(data)); err != nil {
		return err
	}
	return store.AddAudit(ctx, catalog.Audit{At: s.Since, By: s.By, Action: "switch", Subject: "shadow",
		Before: before.String(), After: s.String()})
}

// String describes the setting.
func (s Shadow) String() string {
	if s.Candidate == "" {
		return "off"
	}
	return fmt.Sprintf("%s on %d %%", s.Candidate, s.Share)
}
