package snapshot

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"
)

// section returns a section of the content.
func section(content []byte) []byte {
	var b bytes.Buffer
	w := newWriter(&b)
	Write(w, content)
	_ = w.flush() // a buffer does not fail
	return b.Bytes()
}

// FuzzManifest reads manifests, also those whose checksum is right.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{`{"format":"f","next":3,"files":[{"name":"a-1","size":9,"sum":7}],"state":{}}`,
		`{"format":"f","files":[{"name":"../a-1"}]}`, `{"format":"f","files":[{"name":"/-1"}]}`,
		`{"format":"g"}`, `[]`, ``} {
		f.Add([]byte(text), true)
		f.Add(section([]byte(text)), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, right bool) {
		if right {
			data = section(data)
		}
		m, err := decodeManifest(data, "f")
		if err != nil {
			return
		}
		for _, file := range m.Files {
			if bytes.ContainsAny([]byte(file.Name), `/\`) || file.Name == manifestName || file.Size < 0 {
				t.Errorf("a manifest may name %+v", file)
			}
		}
	})
}

// FuzzReader reads sections of numbers of several sizes, with checksums made
// right so that what follows is reached.
func FuzzReader(f *testing.F) {
	f.Add(section([]byte("12345678")), false)
	f.Add(append(section([]byte("1234")), section(nil)...), true)
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<63), true)
	f.Fuzz(func(t *testing.T, data []byte, right bool) {
		data = bytes.Clone(data)
		for at := 0; right && len(data)-at >= headSize; {
			length := min(binary.LittleEndian.Uint64(data[at:]), uint64(len(data)-at-headSize))
			end := at + headSize + int(length)
			binary.LittleEndian.PutUint32(data[at+8:], crc32.Checksum(data[at+headSize:end], castagnoli))
			at = end
		}
		r := newReader(bytes.NewReader(data), int64(len(data)))
		read := 0
		for r.err == nil && r.left > 0 {
			read += len(Next[uint8](r)) + 8*len(Next[float64](r)) + 2*len(Next[int16](r)) + headSize
		}
		if read > len(data)+2*headSize {
			t.Errorf("%d bytes of sections in %d", read, len(data))
		}
	})
}

func TestBigEndianMachinesSwap(t *testing.T) {
	numbers := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	swap(numbers, 4)
	if !slices.Equal(numbers, []byte{4, 3, 2, 1, 8, 7, 6, 5}) {
		t.Errorf("%v", numbers)
	}
}
