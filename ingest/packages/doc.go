// Package packages reads the published versions of packages from registries:
// those that speak npm's protocol and those of container images (OCI
// distribution).
//
//	sources:
//	  - name: packages
//	    kind: packages
//	    every: 6h
//	    options:
//	      npm: ["@causeway/sdk", causeway-cli]
//	      images: [registry.example.org/causeway/node, causeway/wallet]
//	      versions: 50                              # newest releases of each that are kept; default 50
//	      prereleases: 10                           # newest prereleases of each; default 10
//	      npm_page: https://packages.example.org/{name}/v/{version}   # where people read of a version
//	      image_page: https://registry.example.org/{name}:{version}
//	      npm_registry: https://npm.example.org     # instead of what npm is configured with
//	      image_registry: https://registry.example.org   # of images without a host, likewise
//	      tokens:                                   # variables with credentials, by host of the registry
//	        npm.example.org: NPM_TOKEN              # a bearer token, or user:password
//
// The registries' addresses are those that the package managers of this
// machine are configured with. For npm these are, first to last:
// NPM_CONFIG_REGISTRY, .npmrc in the network's folder, in the home directory
// (NPM_CONFIG_USERCONFIG) and for all users (NPM_CONFIG_GLOBALCONFIG, or
// /usr/local/etc/npmrc and /etc/npmrc), with @scope:registry, tokens of
// //host/:_authToken and ${VARIABLE}. An image names its registry itself; its
// mirrors, and the registry of one that does not, come from registries.conf of
// the container tools (CONTAINERS_REGISTRIES_CONF, ~/.config/containers or
// /etc/containers, with registries.conf.d) or from the mirrors of
// /etc/docker/daemon.json. A registry on this machine is asked without TLS, as
// is one that is configured as insecure.
//
// A version becomes a record of kind package_version, keyed npm:name@version
// or oci:name@tag. The newest are those of the highest precedence by Semantic
// Versioning 2.0.0; a version that a dist-tag of npm names is kept as well.
// Tags of an image that are no versions are further tags of the version that
// they share their digest with. What is no longer among the kept ones is
// removed, as is what its publisher withdrew.
//
// A run asks for what changed: by the registry's ETag, or by the list of tags.
// Where a tag points to is asked again once a day, and its image read only if
// that is another than before. A package that cannot be read keeps its records.
package packages
