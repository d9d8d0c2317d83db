package curated

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/curated/entries"
	"almanac/ingest/folder"
	"almanac/text/nearest"
)

// file is one of the file names that the folder may have.
type file struct {
	name   string
	title  string // of its schema
	read   func(r *reader, name string, data []byte) error
	schema func(title string) ([]byte, error)
}

// files are the names, in the order in which they are read: apps before the
// projects that they belong to.
var files = []file{
	kind("apps", "featured applications", readApp),
	kind("projects", "ecosystem projects", readProject),
	kind("radar", "radar", readRadar),
	kind("deprecations", "deprecations", readDeprecation),
	kind("faq", "frequent questions", readQuestion),
	kind("evm", "EVM mappings", readMapping),
	kind("apis", "API reference", readAPI),
	kind("tool-servers", "tool-call servers", readToolServer),
	kind("onboarding", "onboarding paths", readPath),
	kind("partners", "partner reference", readPartner),
	kind("foundation", "foundation pages", readFoundation),
}

// kind makes a file whose entries a function turns into records, whose keys are the
// given slugs or made from their titles.
func kind[T any](name, title string, convert func(r *reader, v T) (catalog.Entry, error)) file {
	return file{
		name: name, title: title, schema: entries.Schema[T],
		read: func(r *reader, name string, data []byte) error {
			list, err := entries.Read[T](name, data)
			if err != nil {
				return err
			}
			for _, e := range list {
				line, err := e.Err()
				var made catalog.Entry
				if err == nil {
					made, err = convert(r, e.Value)
				}
				if rec := &made.Record; err == nil && rec.Kind != "" {
					rec.Key, err = slug(rec.Key, rec.Title)
				}
				r.add(name, line, made, err)
			}
			return nil
		},
	}
}

// Names returns the names of the files that the folder may have, without
// extensions.
func Names() []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.name
	}
	return out
}

// Schema returns the JSON Schema of a YAML file by its name, such as "radar".
func Schema(name string) ([]byte, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, errors.New(nearest.Unknown("curated file", name, Names()))
	}
	return files[i].schema("almanac: " + files[i].title)
}

// reader collects the content of the files of a folder.
type reader struct {
	network  network.Network
	made     []made
	problems []problem
	warnings []problem
	apps     []App
}

// made is an entry that is ready for the sink.
type made struct {
	at    string // file:line
	entry catalog.Entry
}

// problem is an error at a place.
type problem struct {
	at  string
	err error
}

// add keeps the result of reading an entry.
func (r *reader) add(name string, line int, e catalog.Entry, err error) {
	at := fmt.Sprintf("%s:%d", name, line)
	switch ref := e.Record.Ref(); {
	case err != nil:
		r.problems = append(r.problems, problem{at, err})
	case ref.Key == "": // it has no record of its own
	default:
		if i := slices.IndexFunc(r.made, func(m made) bool { return m.entry.Record.Ref() == ref }); i >= 0 {
			err := fmt.Errorf("%q is a duplicate; the first is at %s; give this entry another slug", ref.Key,
				r.made[i].at)
			r.problems = append(r.problems, problem{at, err})
			return
		}
		e.Record.Path = name
		r.made = append(r.made, made{at, e})
	}
}

// content is a file of the folder.
type content struct {
	Name string // with its directory
	Data []byte
	of   file
}

const maxFiles = 1000 // entries of the folder

// load reads the files of a folder, in the order of their kinds, and returns the
// names of other files.
func load(fsys fs.FS, dir string) (found []content, odd []problem, err error) {
	list, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("folder %s: %w", dir, folder.Reason(err))
	}
	if len(list) > maxFiles {
		return nil, nil, fmt.Errorf("folder %s has %d files; it cannot be a folder of curated files", dir, len(list))
	}
	for _, entry := range list {
		name := path.Join(dir, entry.Name())
		if entry.IsDir() || !entries.IsFile(name) {
			continue
		}
		base := strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
		i := slices.Index(Names(), base)
		if i < 0 {
			message := fmt.Sprintf("is not a curated file; known are %s", strings.Join(Names(), ", "))
			if near := nearest.Of(base, Names()); near != "" {
				message = fmt.Sprintf("is not a curated file; did you mean %s%s?", near, path.Ext(entry.Name()))
			}
			odd = append(odd, problem{name, errors.New(message)})
			continue
		}
		data, err := folder.Read(fsys, name, int64(entries.Own.Bytes))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, folder.Reason(err))
		}
		found = append(found, content{name, data, files[i]})
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("folder %s has no curated file: write one of %s as .yaml or .csv",
			dir, strings.Join(Names(), ", "))
	}
	slices.SortStableFunc(found, func(a, b content) int {
		return cmp.Compare(slices.Index(Names(), a.of.name), slices.Index(Names(), b.of.name))
	})
	return found, odd, nil
}
