package catalog

// Whitepaper is a paper, keyed by slug. Its extracted text is Record.Body,
// its description Record.Summary, its tag Record.Category.
type Whitepaper struct {
	Authors   []string `json:"authors"`
	Pages     int      `json:"pages"`
	PDF       string   `json:"pdf"` // address of the file
	Bytes     int64    `json:"bytes,omitempty"`
	Published string   `json:"published,omitempty"` // as written; also Record.CreatedAt if it is a date
	TextLayer bool     `json:"text_layer"`          // false: scanned, Record.Body is empty
}

// Blog is a blog post or news item. Record.Container is its site.
type Blog struct {
	GUID     string   `json:"guid,omitempty"` // of the feed's item
	Feed     string   `json:"feed,omitempty"` // address the feed was read from
	Authors  []string `json:"authors"`
	Image    string   `json:"image,omitempty"`
	Language string   `json:"language,omitempty"` // BCP 47
}

// Video is a talk or recording, keyed by its id on the platform.
// Record.Container is its channel, Record.CreatedAt when it was published,
// Record.Summary its description and Record.Body its transcript.
type Video struct {
	HasTranscript bool   `json:"has_transcript"`
	Transcript    string `json:"transcript,omitempty"` // origin: manual, automatic
	Language      string `json:"language,omitempty"`   // of the transcript, BCP 47
	Seconds       *int   `json:"seconds"`              // length; nil unknown
	Thumbnail     string `json:"thumbnail,omitempty"`
	Cues          []Cue  `json:"cues"`
}

// Cue maps a position in a transcript to its time in the recording.
type Cue struct {
	Seconds float64 `json:"seconds"`
	Offset  int     `json:"offset"` // byte offset in Record.Body
}
