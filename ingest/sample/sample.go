// Package sample is the Causeway Network, a small ledger network that does not exist: the network, its organisations,
// its people, its software and its addresses are fiction. It lets the program show every kind of content without
// network access.
//
// The files below captured/ are what the connectors of its sources would yield, in the lines of package archive:
// records/SOURCE.jsonl has a record a line with its links and votes, a thread before its parts; events/SOURCE.jsonl
// the history of proposals; snapshots/SOURCE.jsonl the states of series. Those below files/ are what people keep by
// hand, the curated lists and the calendar, which the connectors of these read.
//
// All files are templates: their dates hang on an anchor day so that there is always something recent (dates.go
// shows how).
package sample

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
)

// Vectors are those of the passages by the transformer in the program, but of passages
// with dates that hang on the anchor day: package embed reads them.
//
//go:embed sample.vectors
var Vectors []byte

//go:embed captured files
var embedded embed.FS

//go:embed judged/queries.jsonl judged/qrels.tsv
var judged embed.FS

// Judged is the collection of judged queries over the sample: queries.jsonl
// and qrels.tsv, as package eval reads them.
func Judged() fs.FS {
	sub, err := fs.Sub(judged, "judged")
	if err != nil {
		panic(err) // the name is not valid
	}
	return sub
}

// FS renders what the network's people keep by hand, with all dates relative to the day of anchor in UTC. The file
// system is in memory and does not change. An error means that an embedded file is wrong.
func FS(anchor time.Time) (fs.FS, error) {
	const root = "files/"
	var archive bytes.Buffer // an archive in memory is a file system
	w := zip.NewWriter(&archive)
	err := fs.WalkDir(embedded, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := render(name, dates(day(anchor)))
		if err != nil {
			return err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: strings.TrimPrefix(name, root), Method: zip.Store})
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
}

// connectorOption names, in a source's options, the connector that reads it from the sample's folder.
const connectorOption = "connector"

// Connector makes the constructor of the sample's sources, rendered at the day of anchor. A source whose options name
// a connector of known is read by it from what people keep by hand, with the rest of its options. All others are
// captured, by the source's name, and have no options.
func Connector(anchor time.Time, known ingest.Registry) ingest.Constructor {
	folder := sync.OnceValues(func() (fs.FS, error) { return FS(anchor) })
	return func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
		name := src.Options.Text(connectorOption)
		if name == "" {
			return newCaptured(src, env, day(anchor))
		}
		files, err := folder()
		if err != nil {
			return nil, err
		}
		env.Files = files
		src.Kind, src.Options = name, src.Options.Without(connectorOption)
		return known.Connector(src, env)
	}
}
