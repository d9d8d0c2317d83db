package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Checksum is that of the manifest.
func Checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// What is read of any line is written the same way again.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"id":1000001,"kind":"doc","key":"a","title":"A","tags":["x"],"data":{"a":1},"links":[{"relation":"cites","kind":"cip","key":"C-1"}]}`,
		`{"kind":"doc","key":"a","aliases":["b",""]}`, `{"kind":"doc","key":"` + strings.Repeat("k", 2000) + `"}`,
		`{"kind":"","key":""}`, `{"id":-1,"kind":"doc","key":"\u0000","data":"x"}`,
		`{"created_at":"0000-01-01T00:00:00Z","kind":"a","key":"b"}`, `{`, `null`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		_, _ = parseManifest(line)
		_ = eachLine(bytes.NewReader(line), func(l entryLine) error {
			e, err := checked(l.entry(), row{})
			if err != nil {
				return nil
			}
			text, err := json.Marshal(lineOf(e))
			if err != nil {
				t.Fatal(err)
			}
			var again entryLine
			if err := json.Unmarshal(text, &again); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			back, err := checked(again.entry(), row{})
			if err != nil || back.ContentHash() != e.ContentHash() || !reflect.DeepEqual(back, e) {
				t.Fatalf("%s\n%+v\n%+v\n%v", text, e, back, err)
			}
			return nil
		})
	})
}
