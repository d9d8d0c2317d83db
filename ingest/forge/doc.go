// Package forge reads a code forge with GitHub's REST API and GraphQL v4:
// github.com itself or a GitHub Enterprise Server. It has two connectors.
//
// Kind ("forge") reads repositories: their description and readme, issues,
// pull requests, comments, releases, and discussions with comments.
//
// Proposals ("forge-proposals") reads the pull requests of one repository
// as drafts of improvement proposals or as grant proposals, with their labels,
// their column on a project board and their comments. Labels, columns and states
// are facts (catalog.Facts): they count also if a source that reads the
// repository with git owns the records.
//
// Without a token everything public is read at sixty requests an hour, except
// for content that only GraphQL has: discussions, boards, the branches and files
// of pull requests. The run warns of that. When the forge's rate limit is used
// up, the run ends and the next one continues with the same repository, so a
// source without a token should run every hour.
//
// Issues and comments are read by the time of their last change, oldest first,
// from the newest one seen; deletions upstream are found by reading everything
// again once a week. Responses are cached in the working directory with their
// ETags, so that unchanged content does not count against the rate limit.
//
// Comments by bots are ignored. Their issues and pull requests are kept, with
// "[bot]" after the author's name.
package forge
