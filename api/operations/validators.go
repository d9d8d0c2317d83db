package operations

import (
	"context"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/dates"
)

// Validator is a validator, found by its name.
type Validator struct {
	kb.Named
	Match string `json:"match" enum:"exact,party,name,part" doc:"how it matches the name"`
	catalog.Validator
	ReportAgeDays *int       `json:"version_age_days" doc:"age of the report of its version"`
	Stale         bool       `json:"version_stale" doc:"reported more than 7 days ago, or never"`
	LastActivity  *time.Time `json:"last_activity"`
	MissedShare   *float64   `json:"missed_share" doc:"missed of all reward coupons"`
}

// Lean implements op.Leaner: a validator has fields of its own for when and who.
func (v *Validator) Lean() {
	v.Named.Lean()
	v.Date, v.Author = nil, ""
}

func validator(b kb.Base, f foundValidator) (Validator, error) {
	d, err := kb.Decode[catalog.Validator](f.Record)
	v := Validator{
		Named: b.Named(f.Record), Match: f.Match, Validator: d, Stale: !isFresh(d, b.Now()),
		LastActivity: kb.Time(f.Record.LastActivityAt),
	}
	if at := dates.At(d.VersionReportedAt, dates.Instant); !at.IsZero() {
		v.ReportAgeDays = new(int(b.Now().Sub(at).Hours() / 24))
	}
	if d.MissedCoupons != nil && d.CollectedCoupons != nil && *d.MissedCoupons+*d.CollectedCoupons > 0 {
		v.MissedShare = new(kb.Score(float64(*d.MissedCoupons) / float64(*d.MissedCoupons+*d.CollectedCoupons)))
	}
	return v, err
}

type validatorIn struct {
	Name  string `json:"name" required:"true" maxLength:"300" doc:"name, part of a name, or the beginning of a party id"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many to return"`
}

var allValidators = catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindValidator}}

var getValidator = kb.New(op.Spec{
	ID: "get_validator", Tool: "get_validator", Kinds: []catalog.Kind{catalog.KindValidator},
	Doc: `
Look up a validator
Validators by name or party id: sponsor, version, activity, rewards.

Looks up validators by name or party id, the best match first: sponsor, reported version and its age, last activity,
rewards. For the versions of all use get_validator_fleet.
`,
}, func(ctx context.Context, b kb.Base, in validatorIn) (kb.List[Validator], error) {
	records, _, err := b.Catalog.List(ctx, allValidators)
	if err != nil {
		return kb.List[Validator]{}, err
	}
	found := findValidators(records, in.Name)
	out := kb.List[Validator]{Total: len(found), Limit: in.Limit}
	for _, f := range found[:min(in.Limit, len(found))] {
		v, err := validator(b, f)
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, v)
	}
	if len(found) == 0 {
		names := nearestValidators(records, in.Name)
		out.Hint = "no validator has this name or party id: names look like " + strings.Join(names, ", ")
	}
	return out, nil
})
