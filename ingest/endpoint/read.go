package endpoint

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/text/prose"
)

// Input is a description to be read.
type Input struct {
	Path string // of the file, with slashes
	Text string
	// Resolve returns the text of another file, of which it names the path; nil: there is
	// none.
	Resolve func(path string) (text string, ok bool)
}

// API is what a description tells.
type API struct {
	Title      string
	Operations []Operation
	Notes      []string // what was odd and is left out
}

// Operation is one of an API.
type Operation struct {
	catalog.APIEndpoint
	Deprecated           bool
	Summary, Description string
}

// ErrOther is the error of a file that describes no API, or not in a known format.
var ErrOther = errors.New("is not a description of an API in OpenAPI 3 or Swagger 2")

// opening is the key that only descriptions have, as far as a text shows it.
var opening = regexp.MustCompile(`(?:^|[\s{,])["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\b`)

// Named reports whether a file may be a description by its name.
func Named(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Likely reports whether a text looks like a description, which is cheaper than to
// read it.
func Likely(text string) bool { return opening.MatchString(text) }

// Read reads a description. The error is ErrOther, or says why the text cannot be
// parsed.
func Read(in Input) (API, error) {
	r := &reader{resolve: in.Resolve, files: map[string]*file{}, mappings: map[*yaml.Node]mapping{}}
	f, err := r.parse(in.Path, in.Text)
	if err != nil {
		return API{}, err
	}
	r.files[in.Path] = f
	root := value{f, plain(f.root)}
	version := root.get("openapi").text()
	old := version == "" && strings.HasPrefix(root.get("swagger").text(), "2")
	if !old && !strings.HasPrefix(version, "3") {
		return API{}, ErrOther
	}
	d := description{reader: r, root: root, old: old, seen: map[string]bool{}}
	d.servers = d.serversOf(root)
	d.Title = line(root.get("info").get("title").text())
	for key, item := range root.get("paths").each {
		d.path(key, item)
	}
	d.Notes = r.notes
	return d.API, nil
}

// description is a description that is being read.
type description struct {
	*reader
	API
	root    value
	old     bool // Swagger 2
	servers []string
	seen    map[string]bool // methods and paths
}

// methods are those of operations, in the order of their listing.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// path reads the operations on a path, its own before those that it refers to.
func (d *description) path(key *yaml.Node, item value) {
	name := plain(key).Value
	if !strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\n\r\t") {
		return // an extension
	}
	items := []value{item}
	if item.has("$ref") {
		items = append(items, item.follow())
	}
	for _, item := range items {
		for at, op := range item.each {
			method := strings.ToLower(plain(at).Value)
			op = op.follow()
			title := strings.ToUpper(method) + " " + name
			if !slices.Contains(methods, method) || op.node == nil || op.node.Kind != yaml.MappingNode {
				continue
			}
			switch {
			case d.seen[title]:
				d.note("line %d: %.200s is there twice; the first is read", at.Line, title)
				continue
			case len(d.Operations) == maxOperations:
				d.note("it has more than %d operations; the others are left out", maxOperations)
				return
			}
			d.seen[title] = true
			o := d.operation(item, op)
			o.Method, o.Route, o.Line = strings.ToUpper(method), name, at.Line
			if item.of.path != d.root.of.path {
				o.Line = key.Line // of this file
			}
			d.Operations = append(d.Operations, o)
		}
	}
}

// operation reads an operation of a path item.
func (d *description) operation(item, op value) Operation {
	o := Operation{Summary: line(op.get("summary").text()), Description: d.long(op)}
	o.Summary = cmp.Or(o.Summary, line(item.get("summary").text()))
	o.Description = cmp.Or(o.Description, d.long(item))
	o.Operation = line(op.get("operationId").text())
	o.Groups = op.get("tags").texts(shown * 2)
	o.Deprecated = op.is("deprecated") ||
		slices.ContainsFunc(o.Groups, func(tag string) bool { return strings.EqualFold(tag, catalog.EndpointDeprecated) })
	o.Version = line(d.root.get("info").get("version").text())
	for _, v := range []value{op, item} {
		if o.Servers = d.serversOf(v); len(o.Servers) > 0 {
			break
		}
	}
	if len(o.Servers) == 0 {
		o.Servers = d.servers
	}
	o.Base = base(o.Servers)
	d.parameters(&o, item, op)
	if body := op.at("requestBody"); body.node != nil {
		o.Request = &catalog.APIContent{Required: body.is("required"), Description: line(body.get("description").text())}
		schema := content(o.Request, body)
		o.add(fields(schema, "body", 0)...)
	}
	for key, v := range op.get("responses").each {
		status := plain(key).Value
		if strings.HasPrefix(status, "x-") || len(o.Responses) == maxResponses {
			continue
		}
		v = v.follow()
		c := catalog.APIContent{Status: status, Description: line(v.get("description").text())}
		if content(&c, v); d.old && v.has("schema") {
			c.Type, c.Media = typeOf(v.get("schema"), 0), d.media("produces", op)
		}
		o.Responses = append(o.Responses, c)
	}
	return o
}

func (d *description) long(v value) string {
	return strings.TrimSpace(prose.First(v.get("description").text(), maxDescription))
}

// media are the media types of an operation of Swagger 2.
func (d *description) media(key string, op value) []string {
	if own := op.get(key).texts(shown); len(own) > 0 {
		return own
	}
	return d.root.get(key).texts(shown)
}

// parameters adds the parameters of an operation and those that its path has for all.
func (d *description) parameters(o *Operation, item, op value) {
	at := map[[2]string]int{}
	for _, list := range []value{item.get("parameters"), op.get("parameters")} {
		for _, v := range list.list(maxParameters) {
			if v = v.follow(); v.node == nil {
				continue
			}
			p := catalog.APIParameter{Name: line(v.get("name").text()), In: line(v.get("in").text()),
				Required: v.is("required"), Description: line(v.get("description").text())}
			schema := content(&catalog.APIContent{}, v) // in place of a schema
			if v.has("schema") {
				schema = v.get("schema")
			} else if schema.node == nil {
				schema = v // Swagger 2 has the type beside the name
			}
			p.Type = typeOf(schema, 0)
			switch {
			case d.old && p.In == "body":
				o.Request = &catalog.APIContent{Required: p.Required, Media: d.media("consumes", op), Type: p.Type,
					Description: p.Description}
				o.add(fields(schema, "body", 0)...)
			case p.Name == "":
			default:
				if i, again := at[[2]string{p.Name, p.In}]; again { // the operation has it its own way
					o.Parameters[i] = p
					continue
				}
				at[[2]string{p.Name, p.In}] = len(o.Parameters)
				o.add(p)
			}
		}
	}
}

func (o *Operation) add(all ...catalog.APIParameter) {
	o.Parameters = append(o.Parameters, all[:min(len(all), maxParameters-len(o.Parameters))]...)
}

// content fills in the media types of a body, and the type of the first that has one.
func content(c *catalog.APIContent, body value) (schema value) {
	for media, v := range body.get("content").each {
		if len(c.Media) == shown {
			break
		}
		c.Media = append(c.Media, line(plain(media).Value))
		if schema.node == nil {
			schema = v.get("schema")
			c.Type = typeOf(schema, 0)
		}
	}
	return schema
}

// serversOf are the addresses of servers, with the defaults of their variables.
func (d *description) serversOf(v value) (all []string) {
	if d.old {
		host, at := d.root.get("host").text(), strings.TrimSuffix(d.root.get("basePath").text(), "/")
		switch scheme := append(d.root.get("schemes").texts(1), "https")[0]; {
		case host != "":
			return []string{scheme + "://" + host + at}
		case at != "":
			return []string{at}
		}
		return nil
	}
	for _, s := range v.get("servers").list(shown) {
		address := s.get("url").text()
		for name, variable := range s.get("variables").each {
			if value := variable.get("default").text(); value != "" {
				address = strings.ReplaceAll(address, "{"+plain(name).Value+"}", value)
			}
		}
		if address = line(strings.TrimSuffix(address, "/")); address != "" {
			all = append(all, address)
		}
	}
	return all
}

// base is the path that the first server has in front of all others.
func base(servers []string) string {
	if len(servers) == 0 {
		return ""
	}
	u, err := url.Parse(servers[0])
	if err != nil || strings.Contains(u.Path, "{") {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// line makes a text one line, cut at its bound.
func line(s string) string {
	s = strings.Join(strings.Fields(prose.First(s, 20*maxLine)), " ")
	if short := prose.First(s, maxLine); short != s {
		return short + "…"
	}
	return s
}
