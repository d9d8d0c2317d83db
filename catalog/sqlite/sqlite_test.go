package sqlite_test

import (
	"testing"

	"almanac/catalog/sqlstore"
	"almanac/testing/catalogfile"
	"almanac/testing/catalogtest"
)

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) *sqlstore.Store { return open(t, catalogfile.Empty(t)) })
}
