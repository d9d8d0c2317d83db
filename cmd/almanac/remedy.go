package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"almanac/cmd/config"
)

// remedies say what to do about a failed run, by words in its error; the first that
// fits counts.
var remedies = []struct{ words, remedy string }{
	{"address refused",
		"if the server is yours, name its network in the setting sync.allow (ALMANAC_SYNC_ALLOW=10.0.0.0/8)"},
	{"shrank too much", "if that is right, run `almanac sync --accept-shrink %s`"},
	{"has no branch", "set the option branch to one of them, or leave it out for the one that HEAD names"},
	{"git command was not found", "install git 2.37 or newer where almanac runs"},
	{"401 Unauthorized", "set the secret that its option token_env names, or renew it"},
	{"403 Forbidden", "set the secret that its option token_env names, or renew it"},
	{"429 Too Many Requests", "wait, or set `every` of the source to a longer time"},
	{"is not set", "set the environment variable"},
	{"no such file", "check the path: a relative one is beside the network file"},
	{"does not exist", "check the path: a relative one is beside the network file"},
	{"unknown option", "correct the option in the network file"},
	{"no space left", "free some space, or move the data directory (data.dir)"},
	{"disk is full", "free some space, or move the data directory (data.dir)"},
	{"connection refused", "is the server up, and is this its address? `almanac network check --reach FILE` asks it"},
	{"no such host", "is this its address? `almanac network check --reach FILE` asks it"},
	{"timed out", "is the server up? `almanac network check --reach FILE` asks it"},
	{"404 Not Found", "is this its address? `almanac network check --reach FILE` asks it"},
	{"no records", "check which files its options name: `almanac network check FILE` says what is read of them"},
	{"interrupted", "run `almanac sync %s` to its end"},
}

var (
	// commands are those that read the options of this command line; the files of
	// network are arguments.
	commands = regexp.MustCompile("`almanac (?:[a-z]+)")
	checks   = regexp.MustCompile("`almanac network check( --reach)? FILE`")
)

// here makes the commands that a text proposes run as they stand: with the options that
// this command was called with.
func (a *app) here(text string) string {
	options := ""
	for _, o := range [][2]string{
		{"config", a.file}, {"network", a.given("network.name", a.config.Network.Name)},
		{"data", a.given("data.dir", a.config.Data.Dir)},
	} {
		if o[1] != "" {
			options += " --" + o[0] + " " + quoted(o[1])
		}
	}
	text = checks.ReplaceAllString(text, "`almanac network check$1 "+
		strings.ReplaceAll(quoted(a.config.Network.Name), "$", "$$")+"`")
	return commands.ReplaceAllStringFunc(text, func(command string) string {
		if command == "`almanac network" {
			return command
		}
		return command + options
	})
}

// given returns the value of a setting that is from the command line.
func (a *app) given(key, value string) string {
	if a.origins[key] != config.Flag {
		return ""
	}
	return value
}

// quoted writes a word for a shell.
func quoted(word string) string {
	if strings.ContainsFunc(word, unicode.IsSpace) || strings.ContainsAny(word, "'\"$&;()*?<>|`\\") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// remedy says what to do about the error of a source's last run.
func remedy(source, message string) string {
	for _, r := range remedies {
		if strings.Contains(message, r.words) {
			if strings.Contains(r.remedy, "%s") {
				return fmt.Sprintf(r.remedy, source)
			}
			return r.remedy
		}
	}
	return fmt.Sprintf("run `almanac sync --log-level debug %s`, which says more", source)
}
