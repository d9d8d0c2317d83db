package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Edition is the version of what the program makes of what sources say: of its
// connectors, of its readers of pages, documents and proposals, of the pipeline
// (masking, mentions, references, summaries) and of derived facts. With another edition
// every source is read again, even what is unchanged upstream, and every fact is made
// again; records that come out equal are not written.
const Edition = 7

// Digest returns a digest of plain data as 16 hexadecimal digits.
func Digest(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic("ingest: a digest is of plain data: " + err.Error())
	}
	return digestOf(raw)[:16]
}

// digestOf returns the digest of bytes as 32 hexadecimal digits.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// maxState is the most bytes of a state: a million items.
const maxState = 256 << 20

// pack returns a state as the catalog stores it, and its digest, which is the cursor.
func pack(state []byte) (cursor string, packed []byte, err error) {
	if len(state) > maxState {
		return "", nil, fmt.Errorf("what the source has is too much to remember: %d bytes", len(state))
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", nil, err
	}
	defer w.Close()
	return digestOf(state), w.EncodeAll(state, nil), nil
}

// unpack returns the state that a cursor is the digest of; nil if it is not there: a
// program that kept states elsewhere stored the cursor.
func unpack(cursor string, packed []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxState))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	state, err := r.DecodeAll(packed, nil)
	if err != nil || digestOf(state) != cursor {
		return nil, nil
	}
	return state, nil
}
