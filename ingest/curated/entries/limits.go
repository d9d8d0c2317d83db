package entries

// Limits are what a file may have. They are checked before it is parsed, because
// its tree takes some hundred times its size.
type Limits struct {
	Bytes   int
	Values  int // of lists and fields, estimated
	Entries int
}

var (
	// Own are the limits of files that the operator wrote.
	Own = Limits{Bytes: 8 << 20, Values: 1_000_000, Entries: 100_000}
	// Foreign are those of what an address answers.
	Foreign = Limits{Bytes: 512 << 10, Values: 100_000, Entries: 5000}
)

// values estimates the values of a file: those of YAML that a file of this size can
// have, and of CSV. Every value but the first stands after a character that is
// counted; some of these are text.
func values(data []byte) (n int) {
	for i, c := range data {
		switch c {
		case ',', ';', '[', '{', '\n', '\r':
			n++
		case ':', '-', '?':
			if i+1 == len(data) || structural(data[i+1]) || c == ':' && i > 0 && quoted(data[i-1]) {
				n++
			}
		}
	}
	return n
}

// structural reports whether a mark in front of the character may be one of YAML's.
func structural(c byte) bool {
	switch c {
	case 0xc2, 0xe2: // its other line ends begin so
		return true
	case ' ', '\t', '\n', '\r', ',', '[', ']', '{', '}', '"', '\'', '&', '*', '!':
		return true
	}
	return false
}

// quoted reports whether a colon after the character needs no blank, as in JSON.
func quoted(c byte) bool { return c == '"' || c == '\'' || c == ']' || c == '}' }
