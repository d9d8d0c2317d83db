package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"almanac/text/dates"
)

// The types of this file are the responses of the Scan API with the fields that
// are read. Payloads are contracts of the ledger: numbers are strings, optional
// values null or absent, maps lists of pairs.

// numeral is the text of a number, which may be a JSON string.
type numeral string

func (n *numeral) UnmarshalJSON(raw []byte) error {
	value, err := plain(raw)
	switch v := value.(type) {
	case nil:
		*n = ""
	case string:
		*n = numeral(strings.TrimSpace(v))
	case json.Number:
		*n = numeral(v)
	default:
		return fmt.Errorf("%.40s is not a number", raw)
	}
	return err
}

// plain decodes JSON with its numbers as they are written.
func plain(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// whole reads an integer; nil for none.
func (n numeral) whole() (*int64, error) {
	if n == "" {
		return nil, nil
	}
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%.60q is not a 64-bit integer", string(n))
	}
	return &v, nil
}

// decimals have at most 28 digits before and 10 after the point, the limits of
// the ledger's decimals.
var decimals = regexp.MustCompile(`^-?\d{1,28}(\.\d{1,10})?$`)

// decimal reads a decimal: the nearest float, and all its digits; nil and ""
// for none.
func (n numeral) decimal() (*float64, string, error) {
	if n == "" {
		return nil, "", nil
	}
	if !decimals.MatchString(string(n)) {
		return nil, "", fmt.Errorf("%.60q is not a decimal of the ledger", string(n))
	}
	v, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return nil, "", fmt.Errorf("%.60q: %w", string(n), err)
	}
	return &v, string(n), nil
}

// pair is one entry of a map.
type pair[V any] struct {
	Key   string
	Value V
}

// pairs is a map of the ledger in its order: [["key", value], …], or an object in
// some encodings.
type pairs[V any] []pair[V]

func (p *pairs[V]) UnmarshalJSON(raw []byte) error {
	*p = nil
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		dec := json.NewDecoder(bytes.NewReader(raw))
		if _, err := dec.Token(); err != nil {
			return err
		}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			e := pair[V]{Key: fmt.Sprint(key)}
			if err := dec.Decode(&e.Value); err != nil {
				return err
			}
			*p = append(*p, e)
		}
		return nil
	}
	var list [][]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, item := range list {
		if len(item) != 2 {
			return errors.New("an entry of a map is not a pair")
		}
		var e pair[V]
		if err := json.Unmarshal(item[0], &e.Key); err != nil {
			return err
		}
		if err := json.Unmarshal(item[1], &e.Value); err != nil {
			return err
		}
		*p = append(*p, e)
	}
	return nil
}

// contract is a contract of the ledger. Its template is
// "package:Module:Entity".
type contract struct {
	TemplateID string          `json:"template_id"`
	ContractID string          `json:"contract_id"`
	Payload    json.RawMessage `json:"payload"`
	CreatedAt  string          `json:"created_at"`
}

type contractState struct {
	Contract contract `json:"contract"`
}

// read decodes the payload of a contract of an entity.
func (c contract) read(entity string, into any) error {
	if !strings.HasSuffix(c.TemplateID, ":"+entity) {
		return fmt.Errorf("has the unknown template %.200q; want %s", c.TemplateID, entity)
	}
	if err := json.Unmarshal(c.Payload, into); err != nil {
		return fmt.Errorf("its payload is not a %s: %w", entity, err)
	}
	return nil
}

type roundPayload struct {
	Round round `json:"round"`
}

type round struct {
	Number numeral `json:"number"`
}

type wireDSO struct {
	VotingThreshold *int          `json:"voting_threshold"`
	LatestRound     contractState `json:"latest_mining_round"`
	AmuletRules     contractState `json:"amulet_rules"`
	DSORules        contractState `json:"dso_rules"`
}

type rulesPayload struct {
	SVs        pairs[wireMember] `json:"svs"`
	Offboarded pairs[wireMember] `json:"offboardedSvs"`
	Config     struct {
		Next *struct {
			Time        string  `json:"time"`
			MigrationID numeral `json:"migrationId"`
		} `json:"nextScheduledSynchronizerUpgrade"`
	} `json:"config"`
}

type wireMember struct {
	Name   string  `json:"name"`
	Weight numeral `json:"svRewardWeight"`
}

type amuletPayload struct {
	ConfigSchedule struct {
		Initial amuletConfig `json:"initialValue"`
		Future  []struct {
			From   string       `json:"_1"`
			Config amuletConfig `json:"_2"`
		} `json:"futureValues"`
	} `json:"configSchedule"`
}

type amuletConfig struct {
	Packages map[string]string `json:"packageConfig"`
}

type wireSequencers struct {
	Domains []struct {
		Sequencers []struct {
			Operator    string `json:"svName"`
			ID          string `json:"id"`
			MigrationID *int   `json:"migrationId"`
		} `json:"sequencers"`
	} `json:"domainSequencers"`
}

type licencePayload struct {
	Validator string `json:"validator"`
	Sponsor   string `json:"sponsor"`
	Faucet    *struct {
		First  round   `json:"firstReceivedFor"`
		Last   round   `json:"lastReceivedFor"`
		Missed numeral `json:"numCouponsMissed"`
	} `json:"faucetState"`
	Metadata *struct {
		UpdatedAt string `json:"lastUpdatedAt"`
		Version   string `json:"version"`
		Contact   string `json:"contactPoint"`
	} `json:"metadata"`
	LastActiveAt string `json:"lastActiveAt"`
	Kind         string `json:"kind"`
}

type appPayload struct {
	Provider string `json:"provider"`
}

type wireReason struct {
	URL  string `json:"url"`
	Body string `json:"body"`
}

type requestPayload struct {
	Requester   string          `json:"requester"`
	Action      json.RawMessage `json:"action"`
	Reason      wireReason      `json:"reason"`
	VoteBefore  string          `json:"voteBefore"`
	Votes       pairs[wireVote] `json:"votes"`
	TrackingCid string          `json:"trackingCid"`
	EffectiveAt string          `json:"targetEffectiveAt"`
}

type wireVote struct {
	SV     string     `json:"sv"`
	Accept bool       `json:"accept"`
	Reason wireReason `json:"reason"`
	CastAt string     `json:"optCastAt"`
}

type resultPayload struct {
	Request     requestPayload `json:"request"`
	CompletedAt string         `json:"completedAt"`
	Offboarded  []string       `json:"offboardedVoters"`
	Abstaining  []string       `json:"abstainingSvs"`
	Outcome     struct {
		Tag   string `json:"tag"`
		Value struct {
			EffectiveAt string `json:"effectiveAt"`
			Description string `json:"description"`
		} `json:"value"`
	} `json:"outcome"`
}

// canonical returns the canonical form of a value, for comparison.
func canonical(raw json.RawMessage) json.RawMessage {
	v, err := plain(raw)
	if err != nil {
		return nil // absent
	}
	return json.RawMessage(jsonText(v))
}

// parseTime reads a time; zero if it is absent or invalid.
func parseTime(s string) time.Time { return dates.At(s, dates.Instant) }
