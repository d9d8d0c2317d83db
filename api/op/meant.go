package op

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// vocabulary has rows of names that say the same of a tool's argument: models that know
// one tool call the next with its words. A name may be in several rows.
var vocabulary = [][]string{
	{"query", "q", "topic", "question", "feature", "description", "goal", "pattern", "idea", "concept", "draft_text",
		"error_text", "text", "search", "keywords"},
	{"id", "cip_id", "cip_number", "cip", "proposal", "number", "pr_number", "tracking_cid", "app_id", "slug",
		"record_id", "doc_id", "thread_id", "video_id", "discussion_id", "read"},
	{"name", "id", "query", "q", "slug", "title", "project", "package", "api", "asset", "sv_name", "validator"},
	{"limit", "max_results", "top_k", "limit_per_source"},
	{"days", "window_days"},
	{"repo", "repository"},
}

// rename gives the members of a tool call the names of its arguments.
func (o Operation) rename(members map[string]json.RawMessage) error {
	given := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	return renamed(o, members, o.arguments(), given)
}

// renamed gives values the names of the arguments that they stand for; those that stand
// for none keep theirs.
func renamed[V any](o Operation, values map[string]V, known []string, given func(V) bool) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		argument := o.standsFor(name, known)
		if argument == name || argument == "" {
			continue
		}
		if given(values[argument]) {
			return Invalid("%s is another name of %s, which is given: leave one out", name, argument)
		}
		values[argument] = values[name]
		delete(values, name)
	}
	return nil
}

// standsFor returns which of the known arguments a name stands for: itself, what is called
// so on REST, or what it is in the vocabulary; "": none.
func (o Operation) standsFor(name string, known []string) string {
	if slices.Contains(known, name) {
		return name
	}
	for _, p := range o.Params {
		if p.REST && p.Name == name && slices.Contains(known, p.ToolName) {
			return p.ToolName
		}
	}
	return StandsFor(name, known)
}

// StandsFor returns which of the known arguments a name stands for in the vocabulary: the
// only one of a row; "": none.
func StandsFor(name string, known []string) string {
	for _, row := range vocabulary {
		if !slices.Contains(row, name) {
			continue
		}
		var of []string
		for _, argument := range known {
			if slices.Contains(row, argument) {
				of = append(of, argument)
			}
		}
		if len(of) == 1 {
			return of[0]
		}
	}
	return ""
}

// meant returns the value that a model means by another one: numbers in quotes and
// strings without, one value for a list, JSON in a string, and nil for an optional
// argument that is null or empty. What cannot be meant is returned as it is, and fails.
func (a *argument) meant(raw json.RawMessage) json.RawMessage {
	text, quoted := unquote(raw)
	switch {
	case string(raw) == "null", quoted && text == "" && !a.required:
		return nil
	case a.list:
		return a.meantList(raw, text, quoted)
	}
	return a.meantValue(raw, text, quoted)
}

// meantList also drops items that are null or empty.
func (a *argument) meantList(raw json.RawMessage, text string, quoted bool) json.RawMessage {
	var items []json.RawMessage
	switch isList := json.Unmarshal(raw, &items) == nil; {
	case isList, quoted && json.Unmarshal([]byte(text), &items) == nil:
	case quoted && text != "":
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, quote(strings.TrimSpace(item)))
		}
	case !quoted:
		items = []json.RawMessage{raw}
	}
	meant := []json.RawMessage{}
	for _, item := range items {
		text, quoted := unquote(item)
		if string(item) != "null" && (!quoted || text != "") {
			meant = append(meant, a.meantValue(item, text, quoted))
		}
	}
	if len(meant) == 0 && !a.required {
		return nil
	}
	list, err := json.Marshal(meant)
	if err != nil {
		return raw
	}
	return list
}

func (a *argument) meantValue(raw json.RawMessage, text string, quoted bool) json.RawMessage {
	switch a.form {
	case formInteger, formFloat, formObject:
		if quoted && text != "" && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case formBoolean:
		if !quoted {
			text = string(raw)
		}
		switch strings.ToLower(text) {
		case "true", "1":
			return json.RawMessage("true")
		case "false", "0":
			return json.RawMessage("false")
		}
	case formText:
		if !quoted && isDecimal(raw) {
			return quote(string(raw))
		}
	}
	return raw
}

// isDecimal reports whether a value is a number without an exponent, such as the
// version 3.2.
func isDecimal(raw []byte) bool {
	whole, fraction, _ := bytes.Cut(raw, []byte("."))
	return isInteger(whole) && len(bytes.Trim(fraction, "0123456789")) == 0
}

// unquote returns the text of a JSON string without the blanks around it.
func unquote(raw json.RawMessage) (text string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return strings.TrimSpace(text), ok
}

func quote(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return nil
	}
	return raw
}
