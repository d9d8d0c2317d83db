package sample

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// voteRequest is the head of ledger/votes/SLUG.md. The first entry is the
// request with its reason, the others are the ballots of Wardens, with the
// attribute accept or reject and the reason, if one is given.
type voteRequest struct {
	Before  string `yaml:"before"`  // until when one may vote: "-36 18:00", "+6 12:00"
	URL     string `yaml:"url"`     // of the reason
	Outcome string `yaml:"outcome"` // accepted, rejected, expired; none while it is open
	Action  any    `yaml:"action"`  // as the ledger has it
}

// featured is an application of ledger/apps.yaml.
type featured struct {
	Provider string `yaml:"provider"` // hint of its party
	Since    string `yaml:"since"`
	Rewards  string `yaml:"rewards"` // since then
}

const scanAPI = "web/scan.causeway.example.org/api/scan/v0/"

// party is the identifier of a party by its hint.
func party(hint string) string { return fmt.Sprintf("%s::1220%x", hint, sha256.Sum256([]byte(hint))) }

// contractID is that of a contract of the ledger by what it is about.
func contractID(about string) string { return fmt.Sprintf("00%x", sha256.Sum256([]byte(about))) }

// votes writes what the ledger says of vote requests and featured applications.
func (w *world) votes() error {
	wardens, err := w.wardens()
	if err != nil {
		return err
	}
	open, closed := []object{}, []object{}
	for _, name := range below(w.files, "ledger/votes") {
		request, result, err := w.vote(name, wardens)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case result != nil:
			closed = append(closed, result)
		default:
			open = append(open, request)
		}
	}
	slices.SortFunc(closed,
		func(a, b object) int { return cmp.Compare(b["completedAt"].(string), a["completedAt"].(string)) })
	w.json(scanAPI+"admin/sv/voterequests.json", object{"dso_rules_vote_requests": open})
	w.json(scanAPI+"admin/sv/voteresults.json", object{"dso_rules_vote_results": closed})
	return w.apps()
}

// wardens are the parties of the Wardens by name, as the ledger's state has them.
func (w *world) wardens() (map[string]string, error) {
	var state struct {
		Rules struct {
			Contract struct {
				Payload struct {
					SVs [][2]json.RawMessage `json:"svs"`
				} `json:"payload"`
			} `json:"contract"`
		} `json:"dso_rules"`
	}
	if err := json.Unmarshal(w.files[scanAPI+"dso.json"], &state); err != nil {
		return nil, fmt.Errorf("%sdso.json: %w", scanAPI, err)
	}
	all := map[string]string{}
	for _, sv := range state.Rules.Contract.Payload.SVs {
		var id string
		var member struct{ Name string }
		if err := json.Unmarshal(sv[0], &id); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(sv[1], &member); err != nil {
			return nil, err
		}
		all[member.Name] = id
	}
	return all, nil
}

// vote renders a request as one that is open or, with its outcome, as a result.
func (w *world) vote(name string, wardens map[string]string) (request, result object, err error) {
	var head voteRequest
	entries, err := readThread(w.files[name], w.anchor, &head, "accept", "reject")
	if err != nil {
		return nil, nil, err
	}
	before, err := deadline(head.Before, w.anchor)
	if err != nil {
		return nil, nil, fmt.Errorf("before: %w", err)
	}
	ballots, silent, last := []any{}, map[string]bool{}, entries[0].at
	for warden := range wardens {
		silent[warden] = true
	}
	for _, e := range entries[1:] {
		id, ok := wardens[e.by]
		if !ok || e.has("accept") == e.has("reject") {
			return nil, nil, fmt.Errorf("ballot of %s: want a Warden's name and accept or reject", e.by)
		}
		delete(silent, e.by)
		last = newest(last, e.at)
		ballots = append(ballots, []any{e.by, object{
			"sv": id, "accept": e.has("accept"), "reason": object{"url": "", "body": e.text}, "optCastAt": e.stamp(),
		}})
	}
	payload := object{
		"dso": party("causeway-wardens"), "requester": entries[0].by, "action": head.Action,
		"voteBefore": before.Format(time.RFC3339), "reason": object{"url": head.URL, "body": entries[0].text},
		"votes": ballots, "trackingCid": contractID("vote " + base(name)), "targetEffectiveAt": nil,
	}
	if head.Outcome == "" {
		return object{
			"template_id": votePackage + ":Splice.DsoRules:VoteRequest", "contract_id": contractID("request " + base(name)),
			"payload": payload, "created_event_blob": "CgMyLjEShQE=", "created_at": last.Format(time.RFC3339),
		}, nil, nil
	}
	abstained := []string{}
	for warden := range silent {
		abstained = append(abstained, warden)
	}
	slices.Sort(abstained)
	end, value := before.Format(time.RFC3339), object{}
	if head.Outcome == "accepted" {
		value["effectiveAt"] = end
	}
	tag := "VRO_" + strings.ToUpper(head.Outcome[:1]) + head.Outcome[1:]
	return nil, object{
		"request": payload, "completedAt": end, "offboardedVoters": []string{}, "abstainingSvs": abstained,
		"outcome": object{"tag": tag, "value": value},
	}, nil
}

// votePackage is the package of the ledger's own contracts.
const votePackage = "7b1c4e2d9a60f35881d2c7e9b4aa01fe33c8d6b5e2f7104998ac3d5b6e7f0a12"

// deadline is a moment that may lie after the anchor, where it has a plus.
func deadline(s string, anchor time.Time) (time.Time, error) {
	ahead, ok := strings.CutPrefix(s, "+")
	if !ok {
		return moment(s, anchor)
	}
	days, clock, _ := strings.Cut(ahead, " ")
	n, err := strconv.Atoi(days)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse("15:04", clock)
	if err != nil {
		return time.Time{}, err
	}
	return anchor.AddDate(0, 0, n).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute), nil
}

// apps writes the rights of featured applications and their rewards.
func (w *world) apps() error {
	var all []featured
	if err := w.yaml("ledger/apps.yaml", &all); err != nil {
		return err
	}
	rights, rewards := []object{}, []object{}
	for _, a := range all {
		since, err := optionalStamp(a.Since, w.anchor)
		if err != nil {
			return fmt.Errorf("ledger/apps.yaml: %s: %w", a.Provider, err)
		}
		rights = append(rights, object{
			"template_id": votePackage + ":Splice.Amulet:FeaturedAppRight", "contract_id": contractID("featured " + a.Provider),
			"payload":            object{"dso": party("causeway-wardens"), "provider": party(a.Provider)},
			"created_event_blob": "CgMyLjEShQE=", "created_at": since,
		})
		if a.Rewards != "" {
			rewards = append(rewards, object{"provider": party(a.Provider), "rewards": a.Rewards})
		}
	}
	w.json(scanAPI+"featured-apps.json", object{"featured_apps": rights})
	w.json(scanAPI+"top-providers-by-app-rewards.json", object{"providersAndRewards": rewards})
	return nil
}
