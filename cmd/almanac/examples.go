package main

import "strings"

// examples are command lines by command, for its help; a test parses them.
var examples = map[string]string{
	"serve": "almanac serve\nalmanac serve --folder ./docs\n" +
		"almanac serve --network ./mine.yaml --data ./data --listen 0.0.0.0:8080",
	"sync": "almanac sync\nalmanac sync --network ./mine.yaml docs forum",
	"search": "almanac search how do I reserve a mooring\nalmanac search --type cip --explain 'CIP-56'\n" +
		"almanac search --source docs --since 2026-01-31 --files upgrade",
	"show":        "almanac show CIP-56\nalmanac show 1000054#setup\nalmanac show --json 1000054",
	"mcp":         "almanac mcp\nalmanac mcp --network ./mine.yaml --toolsets cips,search",
	"export":      "almanac export ./backup",
	"import":      "almanac import --network ./backup/network.yaml --data ./data ./backup",
	"backup":      "almanac backup --network ./mine.yaml mine.tar.gz",
	"restore":     "almanac restore --network ./mine.yaml mine.tar.gz",
	"reindex":     "almanac reindex --network ./mine.yaml",
	"jobs list":   "almanac jobs\nalmanac jobs list --json --limit 5",
	"jobs cancel": "almanac jobs cancel 7",
	"eval": "almanac eval\nalmanac eval --queries ./judged --stages --markdown\n" +
		"almanac eval --floor ndcg10=.60,mrr=.80 --json >report.json",
	"judge list":   "almanac judge list --json",
	"judge import": "almanac judge import harbour ./judged --judge ada",
	"judge export": "almanac judge export harbour ./judged --judges person/ada --trec",
	"tune":         "almanac tune --queries ./judged --out tuned.yaml",
	"profile list": "almanac profile list\n" +
		"almanac profile list --json",
	"profile show":     "almanac profile show default >mine.yaml\nalmanac profile show default@3",
	"profile save":     "almanac profile save mine.yaml --base 3 --note titles",
	"profile publish":  "almanac profile publish default@4",
	"profile rollback": "almanac profile rollback\nalmanac profile rollback 2",
	"profile diff":     "almanac profile diff live default@4\nalmanac profile diff default@3 mine.yaml",
	"doctor":           "almanac doctor --network ./mine.yaml",
	"health":           "almanac health",
	"config":           "almanac config\nALMANAC_LIMIT_REST=0 almanac config",
	"version":          "almanac version",
	"man":              "almanac man | man -l -",
	"completion": "source <(almanac completion bash)\n" +
		"almanac completion fish >~/.config/fish/completions/almanac.fish",
	"complete":      "almanac complete sources",
	"tools list":    "almanac tools list --network ./mine.yaml\nalmanac tools list get_cip",
	"tools call":    "almanac tools call list_cips status=Final limit=5",
	"network new":   "almanac network new mine.yaml",
	"network check": "almanac network check ./mine.yaml",
	"network source add": "almanac network source add mine.yaml forum url=https://forum.example.org\n" +
		"almanac network source add mine.yaml docs folder=guides --name guides",
	"network source remove": "almanac network source remove mine.yaml forum",
	"network source rename": "almanac network source rename mine.yaml docs guides",
	"network kinds":         "almanac network kinds\nalmanac network kinds docs",
	"network schema":        "almanac network schema >network.schema.json\nalmanac network schema calendar",
	"network show":          "almanac network show sample",
}

// examplesOf returns the examples of a command as its help has them.
func examplesOf(command string) string {
	return "Examples:\n  " + strings.ReplaceAll(examples[command], "\n", "\n  ")
}
