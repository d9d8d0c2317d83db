package sample

import (
	"io/fs"
	"time"
)

// Texts are the embedded files, rendered at an anchor.
func Texts(anchor time.Time) (map[string]string, error) {
	files := map[string]string{}
	functions := dates(day(anchor))
	functions["pseudonym"] = func(address string) string { return address }
	err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "sample.vectors" {
			return err
		}
		text, err := render(name, functions)
		files[name] = string(text)
		return err
	})
	return files, err
}
