package proposal

import "almanac/catalog"

// Proposal, Grant and GrantFile parse the text of a file and make its entry.

func (r Reader) Proposal(in File) (catalog.Entry, error) { return r.made(in, r.proposal) }

func (r Reader) Grant(in File) (catalog.Entry, error) { return r.made(in, r.grant) }

func (r Reader) GrantFile(in File) (catalog.Entry, error) { return r.made(in, r.grantFile) }

func (r Reader) made(in File, make func(File) (catalog.Entry, error)) (catalog.Entry, error) {
	v, err := r.parse(in.Path, in.Text)
	if err != nil {
		return catalog.Entry{}, err
	}
	in.Text, in.header = v.text, v.header
	return make(in)
}

// Number finds the proposals among files.
func (r Reader) Number(files []string, named bool, text func(file string) (string, error)) Numbering {
	return r.number(files, named, func(file string) (version, error) {
		text, err := text(file)
		if err != nil {
			return version{}, err
		}
		return r.parse(file, text)
	})
}
