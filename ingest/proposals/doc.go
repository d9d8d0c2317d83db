// Package proposals reads a git repository of improvement proposals, or of
// grant proposals, with its whole history: the files of the main branch, the
// drafts of unmerged pull requests, every change of status, and the files next
// to a proposal.
//
// This package fills a proposal.Repository from git; package proposal says how
// it is read.
package proposals
