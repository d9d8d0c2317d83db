package embedded

import (
	"bytes"
	"context"
	"hash/crc32"
)

// Compact merges all segments into one.
func (e *Engine) Compact() error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.state.Load()
	var sources []mergeSource
	for _, p := range s.parts {
		sources = append(sources, mergeSource{p.seg.forward, p.live[1]})
	}
	f, err := merge(sources)
	if err != nil {
		return err
	}
	seg, err := newSegment(f, &e.scoring)
	if err != nil {
		return err
	}
	e.state.Store(newState([]*part{newPart(seg)}, s.checkpoint))
	return nil
}

// Segments is the number of segments.
func (e *Engine) Segments() int { return len(e.state.Load().parts) }

// Snapshot returns the bytes that Flush would write.
func (e *Engine) Snapshot() []byte {
	var b bytes.Buffer
	if err := writeSnapshot(&b, e.state.Load()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// OpenBytes reads a snapshot from memory.
func OpenBytes(data []byte) (*Engine, error) {
	e, err := Open(Config{})
	if err != nil {
		return nil, err
	}
	s, err := readSnapshot(data, &e.scoring)
	if err != nil {
		return nil, err
	}
	e.state.Store(s)
	return e, nil
}

// Reseal corrects the checksums of a snapshot, so that what a test has
// changed in it is read.
func Reseal(data []byte) []byte {
	data = bytes.Clone(data)
	for at := len(snapshotMagic); len(data)-at >= sectionHead; {
		size := uint64(data[at]) | uint64(data[at+1])<<8 | uint64(data[at+2])<<16 | uint64(data[at+3])<<24
		if size > uint64(len(data)-at-sectionHead) {
			break
		}
		end := at + sectionHead + int(size)
		sum := crc32.Checksum(data[at+sectionHead:end], castagnoli)
		for i := range 4 {
			data[at+8+i] = byte(sum >> (8 * i))
		}
		at = end
	}
	return data
}

// At is the checkpoint.
func (e *Engine) At() int64 {
	at, _ := e.Checkpoint(context.Background())
	return at
}
