package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.out, "almanac", version())
	return err
}

// release is the version of the program; the build adds the revision.
const release = "0.1.0"

func version() string {
	if r := commit(); r != "" {
		return release + "+" + r
	}
	return release
}

// commit is the one that the program was built from, "" = unknown.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	revision, dirty := "", ""
	for i := 0; info != nil && i < len(info.Settings); i++ {
		switch s := info.Settings[i]; {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-modified"
		}
	}
	return revision + dirty
}
