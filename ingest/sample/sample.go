// Package sample is the files of the Causeway Network, a small ledger network
// that does not exist: the network, its organisations, its people, its
// software and its addresses are fiction. It lets the program show every kind
// of content, in the formats of its real sources, without network access.
//
// The files lie below files/ as a snapshot directory would hold them; what is
// rendered at run time are dates, which hang on an anchor day so that there
// is always something recent, and the manifest. What the files mean is the
// business of package snapshot.
//
// It may import ingest, ingest/snapshot, catalog and catalog/network.
package sample

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/snapshot"
)

//go:embed files
var embedded embed.FS

const root = "files"

// FS renders the sample with all its dates relative to the day of anchor in
// UTC. The file system is a snapshot directory with its manifest, in memory,
// and does not change. An error means that an embedded file is wrong.
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
			text, err := render(string(data), day(anchor))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			data = []byte(text)
		}
		files[strings.TrimPrefix(name, root+"/")] = data
		return nil
	})
	if err == nil {
		files[manifestName], err = manifest(files)
	}
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	fsys, err := pack(files)
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return fsys, nil
}

// Connector makes the constructor of the sample's sources, rendered at the
// day of anchor. Their options are those of a snapshot but for its directory.
func Connector(anchor time.Time) ingest.Constructor {
	return func(src network.Source, env ingest.Environment) (ingest.Connector, error) {
		if _, ok := src.Options["dir"]; ok {
			return nil, fmt.Errorf("sample: option dir: its files come with the program; a directory of your own is read by kind snapshot")
		}
		fsys, err := FS(anchor)
		if err != nil {
			return nil, err
		}
		return snapshot.New(fsys, src, env)
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
