package network

import "strings"

// Status maps a raw status word to one of the network's statuses, without
// regard to case and surrounding space. A word that is neither allowed nor
// mapped becomes Default, and known is false so that the caller can warn.
func (p Proposals) Status(raw string) (mapped string, known bool) {
	word := strings.Join(strings.Fields(raw), " ")
	if word == "" {
		return p.Default, false
	}
	if status, ok := p.allowed(word); ok {
		return status, true
	}
	if target, ok := p.StatusMap[word]; ok {
		return p.canonical(target), true
	}
	for from, target := range p.StatusMap {
		if strings.EqualFold(from, word) {
			return p.canonical(target), true
		}
	}
	return p.Default, false
}

// allowed returns the network's spelling of an allowed status.
func (p Proposals) allowed(word string) (string, bool) {
	for _, s := range p.Statuses {
		if strings.EqualFold(s, word) {
			return s, true
		}
	}
	return "", false
}

func (p Proposals) canonical(status string) string {
	if s, ok := p.allowed(status); ok {
		return s
	}
	return status
}
