package sample

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// discussion renders a discussion as GraphQL has it. An entry with the
// attribute re answers the entry of that number, if it is not the first.
func (r *forgeRepo) discussion(name string) error {
	var head discussion
	entries, err := readThread(r.files[name], r.anchor, &head, "likes", "re", "answer")
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(base(name))
	if err != nil {
		return err
	}
	closed, err := optionalStamp(head.Closed, r.anchor)
	if err != nil {
		return err
	}
	page := r.page(fmt.Sprintf("/discussions/%d", number))
	comments, replies := []object{}, map[int][]object{}
	var answer any
	updated := entries[0].at
	for i, e := range entries[1:] {
		c, err := r.remark(e, page, identity(r.name, "discussion", number, i))
		if err != nil {
			return err
		}
		updated = newest(updated, e.at)
		c["at"] = i + 2
		if re := e.number("re"); re > 1 {
			replies[re] = append(replies[re], c)
		} else {
			comments = append(comments, c)
		}
		if e.has("answer") {
			answer = object{"url": c["url"], "author": c["author"]}
		}
	}
	for _, c := range comments {
		below := append([]object{}, replies[c["at"].(int)]...)
		c["replies"] = object{"totalCount": len(below), "pageInfo": lastPage, "nodes": below}
		delete(c, "at")
		for _, reply := range below {
			delete(reply, "at")
		}
	}
	author, err := r.actor(entries[0].by)
	if err != nil {
		return err
	}
	labels := []any{}
	for _, l := range head.Labels {
		labels = append(labels, object{"name": l})
	}
	r.discussions = append(r.discussions, object{
		"id": fmt.Sprintf("D_%x", identity(r.name, "discussion", number)), "number": number,
		"title": head.Title, "body": entries[0].text, "url": page, "closed": closed != nil, "closedAt": closed,
		"isAnswered": answer != nil, "upvoteCount": entries[0].number("likes"), "createdAt": entries[0].stamp(),
		"updatedAt": updated.Format(time.RFC3339), "author": author, "category": object{"name": head.Category},
		"labels": object{"nodes": labels}, "answer": answer,
		"comments": object{"totalCount": len(comments), "pageInfo": lastPage, "nodes": comments},
	})
	return nil
}

func (r *forgeRepo) remark(e entry, page string, id int) (object, error) {
	author, err := r.actor(e.by)
	if err != nil {
		return nil, err
	}
	return object{
		"id": fmt.Sprintf("DC_%x", id), "body": e.text, "url": fmt.Sprintf("%s#discussioncomment-%d", page, id),
		"author": author, "authorAssociation": r.association(e.by), "isAnswer": e.has("answer"),
		"upvoteCount": e.number("likes"), "minimizedReason": nil, "createdAt": e.stamp(),
		"updatedAt": e.stamp(), "deletedAt": nil,
		"replies": object{"totalCount": 0, "pageInfo": lastPage, "nodes": []object{}},
	}, nil
}

// actor is a writer as GraphQL has one.
func (r *forgeRepo) actor(login string) (object, error) {
	who, err := r.people.find(login)
	if err != nil {
		return nil, err
	}
	return object{"login": who.Login, "__typename": cmp.Or(who.Kind, "User")}, nil
}
