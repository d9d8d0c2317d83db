// Package packages reads the published versions of packages from registries:
// those that speak npm's protocol and those of container images (OCI
// distribution).
//
// The addresses of npm's registries come from npm's configuration on this
// machine: in order of precedence NPM_CONFIG_REGISTRY, .npmrc in the network's
// folder, in the home directory (NPM_CONFIG_USERCONFIG) and for all users
// (NPM_CONFIG_GLOBALCONFIG, or /usr/local/etc/npmrc and /etc/npmrc), with
// @scope:registry, tokens of //host/:_authToken and ${VARIABLE}. An image names
// its registry, or option image_registry does; without either it is read from
// Docker Hub (docker.io), where docker pull looks for it. A registry on this
// machine is queried without TLS.
//
// A version becomes a record of kind package_version, keyed npm:name@version or
// oci:name@tag. The newest are those of the highest precedence by Semantic
// Versioning 2.0.0; versions named by npm dist-tags are kept as well. Image
// tags that are not versions become additional tags of the version with the
// same digest. Versions that are no longer kept, or that were withdrawn, are
// removed.
//
// A run only reads what changed, by the registry's ETag or the list of tags.
// Tags are resolved again once a day, and an image is read again only if its
// digest changed. A package that cannot be read keeps its records.
package packages
