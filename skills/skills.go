// Package skills embeds what teaches agents to use the tools, in the format of agent
// skills: a directory with a SKILL.md.
package skills

import _ "embed"

// Almanac is the skill for the tools of this program.
//
//go:embed almanac/SKILL.md
var Almanac []byte
