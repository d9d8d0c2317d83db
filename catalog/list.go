package catalog

import "time"

// Order is the order of a list; equal values fall back to the id, unknown
// times come last.
type Order string

// The orders of lists.
const (
	ByKey          Order = "key"           // ascending natural key, see KeyOrder
	ByKeyDesc      Order = "key_desc"      //
	ByCreated      Order = "created"       // newest first
	ByUpdated      Order = "updated"       // newest first
	ByLastActivity Order = "last_activity" // newest first
	ByFirstSeen    Order = "first_seen"    // newest first
	ByViews        Order = "views"         // most first
	ByVotes        Order = "votes"         // most first, then newest
	ByTitle        Order = "title"         // ascending
	ByStarts       Order = "starts"        // soonest first
	ByEnded        Order = "ended"         // latest end first, see TimeEnds
)

// TimeColumn says which time of a record Since and Until bound.
type TimeColumn string

// The times of records. Without EndsAt a record ends when it starts, without
// StartsAt it starts when it ends.
const (
	TimeCreated   TimeColumn = "created" // the default
	TimeUpdated   TimeColumn = "updated"
	TimeActivity  TimeColumn = "activity"
	TimeFirstSeen TimeColumn = "first_seen"
	TimeStarts    TimeColumn = "starts"
	TimeEnds      TimeColumn = "ends"
	// TimeWindow selects the records whose time span overlaps the range.
	TimeWindow TimeColumn = "window"
)

// ListQuery selects records; zero fields select everything.
type ListQuery struct {
	Kinds            []Kind
	Sources          []string
	Containers       []string // case-insensitive
	States           []string // case-insensitive
	Categories       []string // case-insensitive
	CategoryContains string   // substring of the category, case-insensitive
	Tags             []string // at least one of them, exactly as stored: see Tag
	AllTags          []string // all of them
	Parent           int64    // children of this record
	TopLevel         bool     // only records without a parent
	Unanswered       bool     // only records without a parent and without replies
	HasBody          *bool    // only records with a body, or only those without
	Author           string
	// LinksTo selects the records with a link to one of these. A reference
	// stands for all names of the record that has it as key or alias: a link to
	// PR-203 also counts for the proposal that it became. A record's links to
	// itself do not count.
	LinksTo   []Ref
	Relations []Relation // of these links; none: any
	When      TimeColumn // the time that Since and Until bound; records without it do not match
	Since     time.Time  // not before
	Until     time.Time  // before
	Text      string     // substring of title, author or category, case-insensitive
	Order     Order      // default ByKey
	Limit     int        // 0 = all
	Offset    int
	WithBody  bool // also return Body
}

// Count is the number of live records with these values.
type Count struct {
	Kind      Kind
	State     string
	Source    string
	Container string
	Category  string
	TopLevel  bool // without a parent
	N         int
}

// TagCount is the number of live records with a tag.
type TagCount struct {
	Tag string
	N   int
}
