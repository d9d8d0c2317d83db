package proposal

import (
	"errors"
	"fmt"

	"almanac/text/markdown"
)

// Bounds of what is parsed, wherever a proposal comes from: anybody may propose.
const (
	// MaxText is the maximum size of a proposal's text in bytes.
	MaxText = 2 << 20
	// maxHeader is that of its header.
	maxHeader = markdown.MaxFront
)

// ErrTooLarge: a text, or its header, is larger than what is parsed.
var ErrTooLarge = errors.New("larger than the limit")

func tooLarge(what string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return fmt.Errorf("its %s has %d bytes, %w of %d", what, size, ErrTooLarge, limit)
}
