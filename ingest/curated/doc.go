// Package curated reads content that a network's people maintain by hand: YAML
// and CSV files in the network's folder.
//
// Every file is a list of entries of one kind and is optional; NAME.yaml and
// NAME.csv may both exist. Schema returns the JSON Schema of each, which editors
// find by a first line such as
//
//	# yaml-language-server: $schema=radar.schema.json
//
//	projects       ecosystem projects
//	radar          breaking changes and deadlines
//	deprecations   what is deprecated, and what to use instead
//	faq            frequent questions with their answers
//	evm            concepts of EVM chains and their equivalents
//	apis           the network's APIs
//	tool-servers   known tool-call servers
//	onboarding     paths for newcomers, one per background
//	partners       reference data of partners' products
//	foundation     pages of the foundation, with the facts they state
//	apps           names and descriptions of featured applications
//
// Two entries show the form:
//
//	# radar.yaml
//	- slug: node-2-5-ends
//	  title: Node 2.5 gets no more fixes
//	  level: important              # critical, important, ecosystem
//	  deadline: 2031-10-15          # a date, or words such as "third quarter"
//	  affected: [node]
//	  action: Upgrade to 2.6.
//	  url: https://www.example.org/announcements/2-5
//	  text: Security fixes for 2.5 end with this date.
//
//	# deprecations.csv
//	name,category,replacement,since,patterns
//	GetTransactions,api,GetUpdates,2.3.0,GetTransactions;getTransactions
//
// In CSV the items of a list are separated by semicolons; nested fields require
// YAML.
//
// The key of an entry is its slug, or one made from its title. A bad entry is
// reported with file and line and skipped, and the catalog's records from its
// file stay; a file that cannot be read at all fails the run, and everything
// stays. An entry that is no longer in the files is removed.
//
// The file apps is different: featured applications are facts of the ledger, so
// the ledger connector makes their records. It reads this file with Apps, so
// that name, category and description are in the columns that lists filter and
// sort by, and in the text that search finds. This connector checks the file and
// links projects to the applications that name them.
package curated
