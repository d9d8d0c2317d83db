package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"almanac/cmd/config"
	"almanac/cmd/manual"
)

type completionCmd struct {
	Shell string `arg:"" enum:"${shells}" help:"${shells}."`
}

func (c completionCmd) Run(a *app, k *kong.Context) error {
	return manual.Complete(a.out, k.Model, c.Shell)
}

type manCmd struct{}

func (manCmd) Run(a *app, k *kong.Context) error {
	var env strings.Builder
	env.WriteString("Every setting has a variable; `almanac config` prints them with values and origins.\n")
	for _, name := range config.Variables() {
		fmt.Fprintf(&env, "  %s\n", name)
	}
	return manual.Page(a.out, k.Model, version(), [][2]string{
		{"EXIT STATUS", "0 on success, 1 after a failure, 2 for an invalid command line or configuration."},
		{"ENVIRONMENT", env.String()},
		{"FILES", "  $XDG_DATA_HOME/almanac/NETWORK   data directory, one for each network"},
	})
}
