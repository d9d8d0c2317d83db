// Package sample is the files of the Causeway Network, a small ledger network
// that does not exist: the network, its organisations, its people, its
// software and its addresses are fiction. It lets the program show every kind
// of content, in the formats of its real sources, without network access.
//
// Most of the files below files/ are what a snapshot directory would hold.
// Those below files/web are what servers answer, by host and path, for the
// connectors that ask servers; files/calendar and files/curated are files of
// the network's own folder; files/past is statistics of the days before. What
// people write in a forum, on a forge, in mailing lists, a journal, recordings,
// papers and votes is authored in a form that is easy to write and to review
// (page.go shows it); the templates below answers/ render it into the answers
// of those servers: JSON, mbox, RSS, HTML, Atom, WebVTT, PDF. All files are
// templates: their dates hang on an anchor day so that there is always
// something recent (template.go shows how). What the files mean is the
// business of the connectors.
//
// The connectors but snapshot's are handed to it.
package sample

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/ingest/snapshot"
	"almanac/text/options"
)

// Vectors are those of the passages by the transformer in the program, but of passages
// with dates that hang on the anchor day: package embed reads them.
//
//go:embed sample.vectors
var Vectors []byte

//go:embed files
var embedded embed.FS

const root = "files"

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

// FS renders the sample with all its dates relative to the day of anchor in
// UTC. The file system, a snapshot directory with its manifest and what other
// connectors read, is in memory and does not change. An error means that an embedded file is wrong.
func FS(anchor time.Time) (fs.FS, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(embedded, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".pdf" {
			text, err := render(name, string(data), day(anchor))
			if err != nil {
				return err
			}
			data = []byte(text)
		}
		files[strings.TrimPrefix(name, root+"/")] = data
		return nil
	})
	if err == nil {
		err = serve(files, day(anchor))
	}
	if err == nil {
		files[manifestName], err = manifest(files)
	}
	var fsys fs.FS
	if err == nil {
		fsys, err = pack(files)
	}
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return fsys, nil
}

// connectorOption names, in a source's options, the connector that reads it.
const connectorOption = "connector"

// Connector makes the constructor of the sample's sources, rendered at the
// day of anchor. A source is read by the connector of known that its option
// connector names, with the rest of its options and their templates
// rendered: its files are the sample's, and the servers it asks answer from
// the sample's files below web/. Without that option the sample is read as a
// snapshot, whose directory is no option then.
func Connector(anchor time.Time, known ingest.Registry) ingest.Constructor {
	world := sync.OnceValues(func() (fs.FS, error) { return FS(anchor) })
	return func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
		files, err := world()
		if err != nil {
			return nil, err
		}
		name := src.Options.Text(connectorOption)
		if name == "" {
			if src.Options.Text("dir") != "" {
				return nil, errors.New("sample: option dir: its files come with the program; " +
					"a directory of your own is read by kind snapshot")
			}
			name, src.Options = snapshot.Kind.Name, src.Options.With("dir", ".")
		}
		rendered, err := src.Options.Without(connectorOption).Map(nil, func(_ options.Field, text string) (string, error) {
			return render("option", text, day(anchor))
		})
		if err != nil {
			return nil, fmt.Errorf("sample: options: %w", err)
		}
		src.Kind, src.Options = name, rendered
		env.Files = files
		env.HTTP = outbound.New(outbound.Config{Transport: Servers(files), Now: env.Now})
		env.Getenv = func(string) string { return "fiction" } // tokens of servers that ask for none
		c, err := known.Connector(src, env)
		if err != nil || name != "ledger" && name != "market" {
			return c, err
		}
		return past{c, files, day(anchor)}, nil
	}
}

// pack makes a file system of files: an archive in memory is one.
func pack(files map[string][]byte) (fs.FS, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, data := range files {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
}
