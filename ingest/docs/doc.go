// Package docs reads documentation trees in git repositories and in plain
// folders: pages of Markdown, MDX and reStructuredText with what they include.
//
//	sources:
//	  - name: handbook
//	    kind: docs
//	    every: 6h
//	    options:
//	      repository:
//	        url: https://forge.example.org/harbour/handbook  # or ssh, git, a path, a bundle
//	        branch: main              # default the one that its HEAD names
//	        name: harbour/handbook    # default: the end of the url
//	        token_env: FORGE_TOKEN    # variable with the token of a private repository
//	        depth: 500                # commits that are fetched; default all. What is older has no date
//	      roots:                      # directories of pages; default the whole repository
//	        - dir: docs
//	          version: "3.4"          # of what is documented
//	        - dir: versions/2.10
//	          version: "2.10"
//	          url: https://docs.example.org/2.10/{page}
//	      include: [docs/**, versions/**]  # patterns of paths in the repository; default all
//	      exclude: ["**/contributing/**"]
//	      extensions: [.md, .markdown, .mdx, .rst]  # the default; also .txt, .html, .htm
//	      url: https://docs.example.org/{page}      # of a page
//	      licence: CC-BY-4.0
//	      container: harbour/handbook # default the repository's name
//	      prefix: harbour/handbook    # in front of paths in keys; default the repository's name
//
// In place of repository, folder names a directory of pages that is not a
// repository, beside the network file or absolute:
//
//	options:
//	  folder: handbook
//	  url: https://docs.example.org/{page}
//
// An address has {repo}, {path}, {version} and {page} replaced, and in a
// repository {branch} and {commit} (that last touched the page). {page} is the
// path below the root without extension and index, or what front matter (slug,
// permalink, id) says instead; {source_path} is another name of {path}. The
// pages of a repository of a known forge link to it without an address.
//
// A page becomes a record of kind doc, keyed by prefix and path. A page that
// its front matter calls draft, hidden or unlisted has none, and neither has
// what site generators do not publish: names that begin with "_" or ".",
// directories of snippets, lists for navigation. Pages may include any file of
// the repository, which is looked up in its tree and nowhere else. A renamed
// page is found under its former keys.
//
// The first root with a version is the current version. A page of another one
// that the current one has too, under the same path below its root, is tagged
// catalog.TagOtherVersion and ranks behind it. Versions on branches of their
// own are sources of their own, each with a prefix; authority in the network
// file ranks them.
//
// Of a folder only regular files are read, and none that a symbolic link leads
// to outside. Their time of modification dates the pages, as long as the
// content changes with it.
//
// The cursor is the commit, of a folder a digest of its listing. What pages were made of is remembered beside the
// mirror, so that only pages are read that changed or include what changed.
package docs
