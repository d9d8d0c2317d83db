// Package cips holds the operations on improvement proposals: rows, texts,
// history, attachments, references, summaries and dependencies.
package cips

import (
	"errors"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		kb.New(b, listSpec, s.list),
		kb.New(b, tldrsSpec, s.tldrs),
		kb.New(b, batchSpec, s.batch),
		kb.New(b, graphSpec, s.graph),
		kb.New(b, getSpec, s.get),
		kb.New(b, historySpec, s.history),
		kb.New(b, attachmentsSpec, s.attachments),
		kb.New(b, tldrSpec, s.tldr),
		kb.New(b, mentionsSpec, s.mentions),
		kb.New(b, citationsSpec, s.citations),
		kb.New(b, chainSpec, s.chain),
		kb.New(b, implementationSpec, s.implementation),
	}
}

var (
	kinds    = []catalog.Kind{catalog.KindCIP}
	notFound = []error{op.ErrNotFound}
)

type idIn struct {
	ID kb.CIPID `json:"id" required:"true"`
}

func isNotFound(err error) bool { return errors.Is(err, op.ErrNotFound) }
