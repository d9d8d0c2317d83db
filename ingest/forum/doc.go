// Package forum reads a Discourse forum through its public JSON interface:
// the categories, the list of topics, and every topic with all its posts.
//
//   - name: forum
//     kind: forum
//     every: 30m
//     options:
//     url: https://forum.example.org    # where the forum's pages begin
//     exclude: [lounge, staff/archive]  # slugs of categories to leave out, with what is below them
//     sweep: 24h                        # how often the whole list is read; default 24h
//
// A topic becomes a record of kind topic, keyed by its number, with the text
// of its first post; each post becomes a child record keyed topic/number.
// What readers of the forum do not see is left out: posts that were deleted,
// hidden, whispered or only say that something was done; unlisted topics and
// private messages.
//
// A run lists topics by their last activity down to where the run before
// began and reads those whose line in the list changed. Once a sweep it lists
// all of them and so notices what changed without activity, and what was
// deleted. What the lines said is remembered in the working directory under
// the name that the cursor holds; without that file everything is read again.
package forum
