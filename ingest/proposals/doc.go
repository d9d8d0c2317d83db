// Package proposals reads a git repository of improvement proposals, or of
// grant proposals, with its whole history: the files of the main branch, the
// drafts of unmerged pull requests, every change of status, and the files next
// to a proposal.
//
//	sources:
//	  - name: proposals
//	    kind: proposals
//	    every: 15m
//	    options:
//	      repository: https://forge.example.org/harbour/lips  # or ssh, git, a path, a bundle
//	      name: harbour/lips        # default: the end of the address
//	      branch: main              # default: the one that its HEAD names
//	      token_env: FORGE_TOKEN    # variable with the token of a private repository
//	      kind: cip                 # or grant: one proposal for each pull request
//	      paths: [proposals/**]     # patterns of the files that are proposals; default: all
//	      exclude: ["**/_template.md"]  # of those files, the ones that are none; default none
//	      index: README.md          # the file with a table of all proposals
//	      bulk_pulls: [17]          # pull requests that edit many proposals and are not proposals themselves
//	      url:                      # not needed for a known forge
//	        file: https://forge.example.org/{repo}/blob/{commit}/{path}  # of a file; {branch} is known too
//	        pull: https://forge.example.org/{repo}/pull/{number}         # of a pull request
//
// This package fills a proposal.Repository from git; package proposal says how
// it is read.
package proposals
