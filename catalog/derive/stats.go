package derive

import "almanac/catalog"

// Stats computes a catalog's statistics from its counts and its proposals:
// counts alone do not tell a numbered proposal from a draft. Additional files
// of a grant proposal do not count as proposals.
func Stats(counts []catalog.Count, proposals []catalog.Record) catalog.Stats {
	s := catalog.Stats{RecordsByKind: map[catalog.Kind]int{}}
	for _, c := range counts {
		s.RecordsByKind[c.Kind] += c.N
		if c.Kind == catalog.KindGrant && c.TopLevel {
			s.Proposals += c.N
		}
	}
	for kind, to := range map[catalog.Kind]*int{
		catalog.KindTopic: &s.Topics, catalog.KindPost: &s.Posts, catalog.KindIssue: &s.Issues,
		catalog.KindPull: &s.Pulls, catalog.KindDoc: &s.Docs, catalog.KindVideo: &s.Videos, catalog.KindBlog: &s.Blogs,
		catalog.KindMailThread: &s.MailThreads, catalog.KindRadar: &s.Radar,
	} {
		*to = s.RecordsByKind[kind]
	}
	for _, r := range proposals {
		d, err := catalog.Decode[catalog.CIP](r)
		if err != nil || d.Number == "" {
			continue
		}
		s.CIPs++
		switch r.State {
		case "Review":
			s.CIPsInReview++
		case "Final":
			s.CIPsFinal++
		}
	}
	return s
}
