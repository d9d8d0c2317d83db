// Package docs reads documentation trees in git repositories and in plain
// folders: pages in Markdown, MDX and reStructuredText with their includes, and
// descriptions of APIs.
//
// Instead of repository, folder names a directory of pages that is not a
// repository, relative to the network file or absolute:
//
//	options:
//	  folder: handbook
//	  url: https://docs.example.org/{page}
//
// In an address, {repo}, {path}, {version} and {page} are replaced, and for a
// repository {branch} and {commit} (that last changed the page). {page} is the
// path below the root without extension and index, or the slug, permalink or id
// in the front matter; {source_path} is another name for {path}. Without an
// address, pages of a repository on a known forge link to the forge.
//
// A page becomes a record of kind doc, keyed by prefix and path. A page marked
// draft, hidden or unlisted in its front matter (YAML or TOML) has no record, nor
// do files that site generators do not publish: names that begin with "_" or ".",
// directories of snippets, navigation lists. Those that no page includes are
// skipped with the reason. Pages may include any file of the
// repository, in MDX also by an alias such as @site/, but nothing outside its
// tree. A renamed page is found under its former keys.
//
// A file in YAML or JSON that describes an API (OpenAPI 3, Swagger 2), wherever the
// options name files, becomes a record of kind endpoint for each operation, keyed by
// the path of the file, that of the operation, and its method. It links to the line of
// the file where that is known: at the forge, or where the address has {path}. Other
// files that it refers to are read with it.
//
// The first root with a version is the current version. If a page of another
// version has the same path below its root as one of the current version, it is
// tagged catalog.TagOtherVersion and ranks lower. Versions on separate branches
// are separate sources, each with a prefix; authority in the network file ranks
// them.
//
// In a folder only regular files are read, and no symbolic links to files
// outside. Their modification time dates the pages, if the content has changed
// too.
//
// A source that knows of each file where it is from makes the same records with Text,
// and those of release notes and of readmes.
//
// A run passes the state of the tree to the next one, which is a commit or a digest
// of the folder's listing, with the inputs of pages, so that only pages are read that
// changed or whose includes changed.
package docs
