package packages

import (
	"net"
	"strings"

	"almanac/text/webaddress"
)

// endpoint is where an image is read.
type endpoint struct {
	host string // of the registry as people write it; option tokens goes by it
	base string // address without /v2
	name string // of the repository
}

// The registry of images that name none, as for docker pull, the server that
// answers for it, and its namespace of images with one name.
const (
	dockerHub       = "docker.io"
	dockerHubServer = "registry-1.docker.io"
	dockerHubSpace  = "library/"
)

// endpoint returns where an image is read: from the registry that it names, else
// from that of option image_registry, else from Docker Hub. A registry on this
// machine is queried without TLS, as container tools do.
func (s settings) endpoint(image string) endpoint {
	host, name := splitImage(image)
	switch {
	case host == "" && s.ImageRegistry != "":
		return endpoint{webaddress.Host(s.ImageRegistry), s.ImageRegistry, name}
	case host == "" || host == dockerHub:
		if !strings.Contains(name, "/") {
			name = dockerHubSpace + name
		}
		return endpoint{dockerHub, "https://" + dockerHubServer, name}
	case onThisMachine(host):
		return endpoint{host, "http://" + host, name}
	}
	return endpoint{host, "https://" + host, name}
}

// splitImage splits an image's name into host and repository. The first part is
// a host if it has a dot or a port, or is localhost.
func splitImage(image string) (host, name string) {
	first, rest, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") && imageHost.MatchString(first) {
		return first, rest
	}
	return "", image
}

func onThisMachine(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
