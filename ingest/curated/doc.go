// Package curated reads what people of a network keep by hand, as YAML or CSV
// files in a folder beside the network's file.
//
//	sources:
//	  - name: curated
//	    kind: curated
//	    every: 1h
//	    options:
//	      dir: curated              # folder below the network's own; the default
//
// Every file is a list of entries of one kind and may be missing; NAME.yaml and
// NAME.csv may stand side by side. Schema gives the JSON Schema of each, which
// editors find by a first line such as
//
//	# yaml-language-server: $schema=radar.schema.json
//
//	projects       ecosystem projects
//	radar          breaking changes and deadlines to know of
//	deprecations   what is not to be used any more, and what instead
//	faq            frequent questions with their answers
//	evm            concepts of EVM chains and their equivalents
//	apis           the network's APIs
//	tool-servers   known tool-call servers
//	onboarding     paths for newcomers, one a background
//	partners       reference data of partners' products
//	foundation     pages of the foundation, with the facts they state
//	apps           what featured applications are called and are for
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
// In CSV the items of a list are parted by semicolons; fields that have fields
// of their own need YAML.
//
// An entry is keyed by its slug, else by one made of its title. A bad entry is
// reported with file and line and left out, and what the catalog holds of its
// file stays; a file that cannot be read at all fails the run and everything
// stays. An entry that is not in the files any more is removed.
//
// apps is different: featured applications are facts of the ledger, and their
// records are made by the connector that reads it. It reads this file with Apps,
// so that name, category and description stand in the columns that lists filter
// and sort by, and in the text that search finds. This connector checks the
// file and links projects with the applications that name them.
package curated
