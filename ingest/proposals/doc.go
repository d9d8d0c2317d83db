// Package proposals reads a git repository of improvement proposals, or of
// grant proposals, with its whole history: the files of the main branch, the
// drafts of unmerged pull requests, every change of status, and the files
// that lie beside a proposal.
//
// ParseHeader and Reader turn one file into a catalog entry and know nothing
// of git; other connectors that meet proposals use them too. Change and
// Reader.Events turn status changes, wherever they were found, into events.
package proposals
