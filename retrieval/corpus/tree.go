package corpus

// tree maps records to encoded documents. It is persistent: a version that was
// published never changes, and the next one shares all nodes but those on the
// way to what changed (Driscoll, Sarnak, Sleator, Tarjan: Making data
// structures persistent, 1989). Ids are counted up, so a radix tree of them is
// full and shallow.
type tree struct {
	root   *node
	levels int // of nodes, at least 1 if there is a root
	n      int // documents
}

const (
	fanBits = 6
	fan     = 1 << fanBits
)

// node has children, or, on the lowest level, documents; "" is none.
type node struct {
	edit      *edit // whose changes may still write to it
	children  *[fan]*node
	documents *[fan]string
}

// edit is one series of changes, between two published versions.
type edit struct{ _ byte }

func (t *tree) get(record int64) (raw string, ok bool) {
	if record < 0 || t.root == nil || uint64(record)>>(fanBits*t.levels) != 0 {
		return "", false
	}
	n := t.root
	for level := t.levels - 1; level > 0 && n != nil; level-- {
		n = n.children[record>>(fanBits*level)&(fan-1)]
	}
	if n == nil {
		return "", false
	}
	raw = n.documents[record&(fan-1)]
	return raw, raw != ""
}

// all yields the documents by record until yield returns false, which it reports.
func (n *node) all(level int, first int64, yield func(record int64, raw string) bool) bool {
	if n == nil {
		return true
	}
	for i := range int64(fan) {
		at := first<<fanBits | i
		switch {
		case level > 0:
			if !n.children[i].all(level-1, at, yield) {
				return false
			}
		case n.documents[i] != "" && !yield(at, n.documents[i]):
			return false
		}
	}
	return true
}

// set stores a document, or removes it if raw is "", and returns what was
// stored before. Records are not negative.
func (t *tree) set(e *edit, record int64, raw string) (before string) {
	before, _ = t.get(record)
	if raw == before {
		return before
	}
	for t.root == nil || uint64(record)>>(fanBits*t.levels) != 0 {
		up := &node{edit: e}
		if t.root == nil {
			up.documents = new([fan]string)
		} else {
			up.children = new([fan]*node)
			up.children[0] = t.root
		}
		t.root = up
		t.levels++
	}
	at := &t.root
	for level := t.levels - 1; level > 0; level-- {
		n := (*at).writable(e, false)
		*at = n
		at = &n.children[record>>(fanBits*level)&(fan-1)]
	}
	*at = (*at).writable(e, true)
	(*at).documents[record&(fan-1)] = raw
	switch {
	case before == "":
		t.n++
	case raw == "":
		t.n--
	}
	return before
}

// writable returns the node, or a copy of it, that this edit may change.
func (n *node) writable(e *edit, lowest bool) *node {
	if n != nil && n.edit == e {
		return n
	}
	next := &node{edit: e}
	switch {
	case lowest:
		next.documents = new([fan]string)
		if n != nil {
			*next.documents = *n.documents
		}
	default:
		next.children = new([fan]*node)
		if n != nil {
			*next.children = *n.children
		}
	}
	return next
}
