package sqlite_test

import (
	"testing"

	"almanac/catalog"
	"almanac/testing/catalogfile"
	"almanac/testing/catalogtest"
)

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Store { return open(t, catalogfile.Empty(t)) })
}
