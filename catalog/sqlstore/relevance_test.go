package sqlstore_test

import (
	"encoding/json"
	"errors"

	"almanac/catalog"
)

// conflict checks that an error is a conflict with another's change.
func (f fixture) conflict(err error, by string, revision int64) {
	f.Helper()
	var c *catalog.ConflictError
	if !errors.As(err, &c) || !errors.Is(err, catalog.ErrConflict) {
		f.Fatalf("error is %v, want a conflict", err)
	}
	if c.By != by || c.Revision != revision || c.At.IsZero() {
		f.Fatalf("conflict is %+v, want one with revision %d of %s", c, revision, by)
	}
}

// save saves a revision of a profile.
func (f fixture) save(name string, base int, by, data string) catalog.Revision {
	f.Helper()
	r := must(f.store.SaveRevision(f.ctx, catalog.Revision{
		Kind: catalog.ProfileRevision, Name: name, Base: base, By: by, Note: "why", Data: data}))
	return r
}

var relevancePromises = []promise{
	{"revisions are numbered by kind and name, and nobody's is lost", func(f fixture) {
		first := f.save("default", 0, "ada", "a: 1")
		f.equal("number", first.Number, 1)
		f.equal("of another name", f.save("other", 0, "ada", "b: 1").Number, 1)
		second := f.save("default", 1, "ben", "a: 2")
		_, err := f.store.SaveRevision(f.ctx, catalog.Revision{Kind: catalog.ProfileRevision, Name: "default", Base: 1,
			By: "ada", Data: "a: 3"})
		f.conflict(err, "ben", 2)
		f.equal("newest", must(f.store.Revision(f.ctx, catalog.ProfileRevision, "default", 0)), second)
		f.equal("first", must(f.store.Revision(f.ctx, catalog.ProfileRevision, "default", 1)), first)
		f.equal("all", len(must(f.store.Revisions(f.ctx, catalog.ProfileRevision))), 3)
		_, err = f.store.Revision(f.ctx, catalog.PinsRevision, "", 0)
		f.missing(err)
		_, err = f.store.SaveRevision(f.ctx, catalog.Revision{Kind: catalog.PinsRevision, Base: 4})
		f.missing(err)
	}},
	{"the last publication of a kind is in force, and rolling back is publishing", func(f fixture) {
		f.save("default", 0, "ada", "a: 1")
		f.save("default", 1, "ada", "a: 2")
		_, head, err := f.store.Published(f.ctx)
		f.check(err)
		f.equal("head before the first", head, int64(0))
		publish := func(number int, since int64) (catalog.Publication, error) {
			return f.store.Publish(f.ctx, catalog.Publication{Kind: catalog.ProfileRevision, Name: "default",
				Number: number, By: "ada"}, since)
		}
		second, err := publish(2, 0)
		f.check(err)
		_, err = publish(1, second.ID)
		f.check(err)
		_, err = publish(2, second.ID)
		f.conflict(err, "ada", second.ID+1)
		_, err = publish(3, 0)
		f.missing(err)
		list, head, err := f.store.Published(f.ctx)
		f.check(err)
		f.equal("number", len(list), 1)
		f.equal("in force", list[0].Number, 1)
		f.equal("head", head, list[0].ID)
		_, err = publish(0, 0)
		f.check(err)
		was := must(f.store.Publications(f.ctx, catalog.ProfileRevision, 3))
		f.equal("history", []int{was[0].Number, was[1].Number, was[2].Number}, []int{0, 1, 2})
		f.equal("of another kind", len(must(f.store.Publications(f.ctx, catalog.PinsRevision, 0))), 0)
		audit := must(f.store.Audit(f.ctx, 2))
		f.equal("audit", []string{audit[0].Action, audit[0].Before, audit[0].After, audit[1].Before, audit[1].After},
			[]string{"publish", "default/1", "default/0", "default/2", "default/1"})
	}},
	{"a case keeps queries, judgments by judge, and conflicts", func(f fixture) {
		c := must(f.store.PutCase(f.ctx, catalog.Case{Name: "sample", Description: "d"}, "ada"))
		again := must(f.store.PutCase(f.ctx, catalog.Case{Name: "sample", Description: "e"}, "ada"))
		f.equal("id", again.ID, c.ID)
		f.equal("created", again.CreatedAt, c.CreatedAt)
		f.check(f.store.PutQueries(f.ctx, c.ID, []catalog.CaseQuery{{ID: "q2", Text: "b"}, {ID: "q1", Text: "a"}}, "ada"))
		edit := []catalog.CaseQuery{{ID: "q3", Text: "c"}, {ID: "q1", Text: "a", Need: "need", Revision: 1}}
		f.check(f.store.PutQueries(f.ctx, c.ID, edit, "ben"))
		f.conflict(f.store.PutQueries(f.ctx, c.ID, []catalog.CaseQuery{{ID: "q4", Text: "x"}, edit[1]}, "ada"), "ben", 2)
		queries := must(f.store.Queries(f.ctx, c.ID))
		f.equal("queries", queries, []catalog.CaseQuery{{ID: "q2", Text: "b", Revision: 1},
			{ID: "q1", Text: "a", Need: "need", Revision: 2}, {ID: "q3", Text: "c", Revision: 1}})
		j := catalog.Judgment{Query: "q1", Target: "a.md", Judge: "person/ada", Grade: 3, At: day(1)}
		other := j
		other.Judge, other.Grade = "model/m", 1
		f.check(f.store.PutJudgments(f.ctx, c.ID, []catalog.Judgment{j, other}))
		j.Grade, other.Grade = 2, -1
		f.check(f.store.PutJudgments(f.ctx, c.ID, []catalog.Judgment{j, other}))
		f.equal("judgments", must(f.store.Judgments(f.ctx, c.ID)), []catalog.Judgment{j})
		f.missing(f.store.DropQuery(f.ctx, c.ID, "q9", "ada"))
		f.check(f.store.DropQuery(f.ctx, c.ID, "q1", "ada"))
		f.equal("judgments of a dropped query", len(must(f.store.Judgments(f.ctx, c.ID))), 0)
		audit := must(f.store.Audit(f.ctx, 1))
		var before catalog.CaseContent
		f.check(json.Unmarshal([]byte(audit[0].Before), &before))
		f.equal("what can be undone", before, catalog.CaseContent{Queries: queries[1:2], Judgments: []catalog.Judgment{j}})
		id := must(f.store.AddEvaluation(f.ctx, catalog.Evaluation{Case: c.ID, At: day(2), By: "ada", Profile: "default",
			Revision: 2, Summary: "{}", Data: "[]"}))
		f.check(f.store.DropCase(f.ctx, c.ID, "ada"))
		f.missing(f.store.DropCase(f.ctx, c.ID, "ada"))
		f.missing(f.store.PutJudgments(f.ctx, c.ID, nil))
		e := must(f.store.Evaluation(f.ctx, id))
		f.equal("data", e.Data, "[]")
		list := must(f.store.Evaluations(f.ctx, c.ID, 0))
		e.Data = ""
		f.equal("list", list, []catalog.Evaluation{e})
	}},
	{"a job says how far it is, and can be cancelled", func(f fixture) {
		id := must(f.store.Enqueue(f.ctx, catalog.Request{Kind: "eval", Argument: "{}", By: "ada"}))
		f.check(f.store.StartRequest(f.ctx, id))
		f.check(f.store.StartRequest(f.ctx, id)) // a process left it unfinished
		f.equal("cancel", must(f.store.ProgressRequest(f.ctx, id, 3, 9)), false)
		f.check(f.store.CancelRequest(f.ctx, id))
		f.equal("cancel", must(f.store.ProgressRequest(f.ctx, id, 4, 9)), true)
		f.check(f.store.FinishRequest(f.ctx, id, `{"a":1}`, "cancelled"))
		f.missing(f.store.CancelRequest(f.ctx, id))
		job := must(f.store.Job(f.ctx, id))
		f.equal("job", []any{job.By, job.Done, job.Total, job.Result, job.Failure, job.StartedAt.IsZero(), job.Attempts},
			[]any{"ada", 4, 9, `{"a":1}`, "cancelled", false, 2})
		waiting := must(f.store.Enqueue(f.ctx, catalog.Request{Kind: "eval"}))
		f.check(f.store.CancelRequest(f.ctx, waiting))
		f.equal("open", len(must(f.store.Requests(f.ctx))), 0)
		f.equal("newest", must(f.store.Jobs(f.ctx, 1))[0].ID, waiting)
		_, err := f.store.Job(f.ctx, 99)
		f.missing(err)
	}},
}
