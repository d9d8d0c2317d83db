package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"almanac/text/prose"
)

// action is the subject of a vote request: a variant in a variant, such as
// ARC_DsoRules { dsoAction: SRARC_GrantFeaturedAppRight { provider } }.
type action struct {
	tag     string            // of the inner one
	details map[string]string // its fields: path → value
}

const (
	maxDetails = 500 // of an action
	maxDetail  = 500 // bytes of a value
	maxDepth   = 32
)

// variant is the ledger's encoding of one constructor of several.
type variant struct {
	Tag   string          `json:"tag"`
	Value json.RawMessage `json:"value"`
}

// readAction reads an action of any kind, known or not.
func readAction(raw json.RawMessage) (action, error) {
	var v variant
	if err := json.Unmarshal(raw, &v); err != nil || v.Tag == "" {
		return action{}, fmt.Errorf("its action is not a variant: %.80q", raw)
	}
	for range maxDepth {
		inner, ok := v.inner()
		if !ok {
			break
		}
		v = inner
	}
	a := action{v.Tag, map[string]string{}}
	var value any
	if len(v.Value) > 0 {
		var err error
		if value, err = plain(v.Value); err != nil {
			return action{}, fmt.Errorf("its action %s: %w", v.Tag, err)
		}
	}
	a.flatten("", value, 0)
	a.unchanged()
	return a, nil
}

// inner returns the variant that is one of the value's fields.
func (v variant) inner() (variant, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(v.Value, &fields) != nil {
		return variant{}, false
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var inner variant
		if strings.HasSuffix(name, "Action") && json.Unmarshal(fields[name], &inner) == nil && inner.Tag != "" {
			return inner, true
		}
	}
	return variant{}, false
}

// flatten collects the leaves below a value. Maps of the ledger are lists of
// pairs, whose keys become part of the path; so do the tags of variants.
func (a action) flatten(path string, value any, depth int) {
	if depth > maxDepth || len(a.details) >= maxDetails {
		return
	}
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			a.flatten(join(name), v[name], depth+1)
		}
	case []any:
		for i, item := range v {
			name := strconv.Itoa(i)
			if entry, ok := item.([]any); ok && len(entry) == 2 {
				if key, ok := entry[0].(string); ok {
					name, item = key, entry[1]
				}
			}
			a.flatten(join(name), item, depth+1)
		}
	case string:
		a.add(path, v)
	case json.Number:
		a.add(path, v.String())
	case bool:
		a.add(path, strconv.FormatBool(v))
	}
}

func (a action) add(path, value string) {
	if len(value) > maxDetail {
		value = prose.FirstBytes(value, maxDetail) + "…"
	}
	if value != "" {
		a.details[cmp.Or(path, "value")] = value
	}
}

// The two configurations of an action that changes one.
const (
	newConfig  = "newConfig."
	baseConfig = "baseConfig."
)

// unchanged drops the settings that a change of configuration does not change,
// compared with its base configuration.
func (a action) unchanged() {
	for path, value := range a.details {
		rest, ok := strings.CutPrefix(path, baseConfig)
		if ok && a.details[newConfig+rest] == value {
			delete(a.details, path)
			delete(a.details, newConfig+rest)
		}
	}
}

// describe says what an action does; an unknown one is described by its tag.
func (a action) describe(name func(party string) string) string {
	party := func(path string) string {
		if a.details[path] == "" {
			return "an unnamed party"
		}
		return name(a.details[path])
	}
	switch a.tag {
	case "SRARC_GrantFeaturedAppRight":
		return "Grant featured app rights to " + party("provider")
	case "SRARC_RevokeFeaturedAppRight":
		return "Revoke the featured app right " + shortID(a.details["rightCid"])
	case "SRARC_OffboardSv":
		return "Offboard the super validator " + party("sv")
	case "SRARC_UpdateSvRewardWeight":
		return fmt.Sprintf("Change the reward weight of %s to %s",
			party("svParty"), cmp.Or(a.details["newRewardWeight"], "an unknown value"))
	case "SRARC_SetConfig":
		return "Change the configuration of the network's rules"
	case "CRARC_SetConfig":
		return "Change the configuration of the coin"
	case "SRARC_CreateUnallocatedUnclaimedActivityRecord":
		return fmt.Sprintf("Grant %s of unclaimed rewards to %s",
			cmp.Or(a.details["amount"], "an unknown amount"), party("beneficiary"))
	}
	_, rest, ok := strings.Cut(a.tag, "_")
	if !ok {
		rest = a.tag
	}
	return sentence(rest)
}

// shortID shortens a contract id for people.
func shortID(id string) string {
	const shown = 16
	if len(id) > shown {
		return id[:shown] + "…"
	}
	return cmp.Or(id, "of an unknown contract")
}

var hump = regexp.MustCompile(`\p{Lu}+(?:\p{Ll}|\d)*|(?:\p{Ll}|\d)+`)

// sentence makes "Mining round start issuing" from "MiningRound_StartIssuing".
func sentence(tag string) string {
	text := strings.ToLower(strings.Join(hump.FindAllString(tag, -1), " "))
	if text == "" {
		return "Unknown action"
	}
	runes := []rune(text)
	runes[0] = unicode.ToUpper(runes[0])
	return string(runes)
}
