package distil

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// draw samples at most limit of the texts it is given: those with the smallest
// hashes under the seed. So neither the order of texts nor copies matter, and
// two collections that share most texts give nearly the same sample. It keeps
// no more than twice the limit.
type draw struct {
	limit int
	seed  uint64
	taken []drawn
}

type drawn struct {
	order [16]byte
	text  string
}

func (d *draw) add(text string) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	if text == "" {
		return
	}
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, d.seed), text...))
	d.taken = append(d.taken, drawn{[16]byte(sum[:]), text})
	if len(d.taken) >= 2*d.limit {
		d.settle()
	}
}

// settle drops copies and what exceeds the limit.
func (d *draw) settle() {
	slices.SortFunc(d.taken, func(a, b drawn) int { return bytes.Compare(a.order[:], b.order[:]) })
	d.taken = slices.CompactFunc(d.taken, func(a, b drawn) bool { return a.order == b.order })
	if len(d.taken) > d.limit {
		clear(d.taken[d.limit:])
		d.taken = d.taken[:d.limit]
	}
}

// texts returns the sample in the order of its hashes: any part of it is as random as the whole.
func (d *draw) texts() []string {
	d.settle()
	out := make([]string, len(d.taken))
	for i, t := range d.taken {
		out[i] = t.text
	}
	return out
}
