// Package forum reads a Discourse forum through its public JSON interface:
// the categories, the list of topics, and every topic with all its posts.
//
// A topic becomes a record of kind topic, keyed by its number, with the text
// of its first post; each post becomes a child record keyed topic/number.
// Content that readers of the forum do not see is ignored: posts that were
// deleted, hidden or whispered, notes about actions, unlisted topics and private
// messages.
//
// A run lists topics by their last activity down to the start of the previous
// run and reads those whose line in the list changed. Once per sweep it lists all
// of them and so finds changes without activity, and deletions. It passes hashes of
// the lines to the next run.
package forum
