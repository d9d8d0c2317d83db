package catalog

// CIP is the data of an improvement proposal. Its status is Record.State
// (mapped), its type Record.Category, its abstract's summary Record.Summary; a
// draft is keyed PR-203 and has no Number.
type CIP struct {
	Number       string            `json:"number,omitempty"`   // padded as the network writes it
	RawStatus    string            `json:"raw_status"`         // as the header spells it
	Category     string            `json:"category,omitempty"` // the header's category if it also has a type
	Authors      []string          `json:"authors"`
	Layer        string            `json:"layer,omitempty"`
	Created      string            `json:"created,omitempty"`  // as written; also Record.CreatedAt if it is a date
	Approved     string            `json:"approved,omitempty"` // as written
	License      string            `json:"license,omitempty"`
	Discussions  string            `json:"discussions,omitempty"` // where the proposal is discussed
	Requires     []string          `json:"requires"`              // keys: CIP-0056
	Replaces     []string          `json:"replaces"`
	SupersededBy []string          `json:"superseded_by"`
	Header       map[string]string `json:"header"` // every header field, as written
	Pull         *PullRequest      `json:"pull,omitempty"`
	TLDRAt       string            `json:"tldr_at,omitempty"` // RFC 3339; when Summary was made
}

// PullRequest is the pull request of a draft or a grant proposal.
type PullRequest struct {
	Number      int    `json:"number"`
	State       string `json:"state"` // open, merged, closed
	Head        string `json:"head,omitempty"`
	Author      string `json:"author,omitempty"`
	FirstCommit string `json:"first_commit,omitempty"` // RFC 3339
	LastCommit  string `json:"last_commit,omitempty"`
	MergedAt    string `json:"merged_at,omitempty"`
	MergeCommit string `json:"merge_commit,omitempty"`
}

// Attachment is a file beside a proposal: a supporting document, a figure, a
// signed-vote PDF. Record.Body is its text if it has a text layer.
type Attachment struct {
	Filename  string `json:"filename"`
	MediaType string `json:"media_type"`
	Role      string `json:"role"` // proposal, vote_record, figure, other
	Bytes     int64  `json:"bytes"`
	Pages     int    `json:"pages,omitempty"`
	TextLayer bool   `json:"text_layer"` // false: scanned, or not text
	Blob      string `json:"blob,omitempty"`
}

// AttachmentFigure is the role of an attachment that is a picture, and the category of its record.
const AttachmentFigure = "figure"

// Grant is a grant proposal, keyed by the number of its pull request.
// Record.State is open or closed; events tell whether it was merged or closed
// without merging.
type Grant struct {
	Number      int          `json:"number"`
	BoardStatus string       `json:"board_status,omitempty"`
	RawStatus   string       `json:"raw_status,omitempty"`
	Champion    string       `json:"champion,omitempty"`
	Labels      []string     `json:"labels"`
	Funding     string       `json:"funding,omitempty"`
	Milestones  []Milestone  `json:"milestones"`
	Cites       []string     `json:"cites"` // proposals it cites: CIP-0056
	Files       []string     `json:"files"`
	Merged      bool         `json:"merged"`
	Pull        *PullRequest `json:"pull,omitempty"`
}

// Outcomes of a grant proposal.
const (
	GrantOpen   = "open"
	GrantMerged = "merged" // accepted
	GrantClosed = "closed" // without merging
)

// Outcome is what became of a grant proposal whose record has a state.
func (g Grant) Outcome(state string) string {
	switch {
	case g.Merged:
		return GrantMerged
	case state == GrantOpen:
		return GrantOpen
	}
	return GrantClosed
}

// Milestone is one step of a grant proposal, as numbered in its text.
type Milestone struct {
	Number string `json:"number"`
	Title  string `json:"title"`
}
