package desk

import (
	"errors"

	"almanac/retrieval/profile"
)

// Edited is the name of a profile that is in a form.
const Edited = "edited"

// Plainly says what is wrong with the text of a profile, in one sentence with the
// line if that is known.
func Plainly(err error, text string) string {
	if f, ok := errors.AsType[profile.Fault](err); ok {
		return f.In([]byte(text)).Error()
	}
	return err.Error()
}
