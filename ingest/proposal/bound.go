package proposal

import (
	"errors"
	"fmt"

	"almanac/text/markdown"
)

// maxHeader is the most bytes of a proposal's header, wherever it comes from: anybody
// may propose.
const maxHeader = markdown.MaxFront

// ErrTooLarge: a text, or its header, is larger than what is parsed.
var ErrTooLarge = errors.New("larger than the limit")

func tooLarge(what string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return fmt.Errorf("its %s has %d bytes, %w of %d", what, size, ErrTooLarge, limit)
}
