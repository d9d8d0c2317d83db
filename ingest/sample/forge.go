package sample

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// repository is forge/OWNER/NAME/repo.yaml.
type repository struct {
	Description string   `yaml:"description"`
	Language    string   `yaml:"language"`
	Topics      []string `yaml:"topics"`
	Licence     string   `yaml:"licence"`
	Created     string   `yaml:"created"`
	Pushed      string   `yaml:"pushed"`
	Stars       int      `yaml:"stars"`
	Forks       int      `yaml:"forks"`
	Members     []string `yaml:"members"` // logins; everybody else contributes
}

// issue is the head of issues/NUMBER.md, and of pulls/NUMBER.md with the rest.
type issue struct {
	Title     string   `yaml:"title"`
	Labels    []string `yaml:"labels"`
	Assignees []string `yaml:"assignees"`
	Milestone string   `yaml:"milestone"`
	Closed    string   `yaml:"closed"` // or merged, for pulls
	Declined  bool     `yaml:"declined"`

	Merged    string   `yaml:"merged"`
	Draft     bool     `yaml:"draft"`
	Branch    string   `yaml:"branch"`
	Additions int      `yaml:"additions"`
	Deletions int      `yaml:"deletions"`
	Files     []string `yaml:"files"`
}

// discussion is the head of discussions/NUMBER.md. The entry with the
// attribute answer is the accepted one.
type discussion struct {
	Title    string   `yaml:"title"`
	Category string   `yaml:"category"`
	Labels   []string `yaml:"labels"`
	Closed   string   `yaml:"closed"`
}

// release is the head of releases/TAG.md.
type release struct {
	Published  string `yaml:"published"`
	Author     string `yaml:"author"`
	Prerelease bool   `yaml:"prerelease"`
}

// forgeRepo collects what the forge says of one repository.
type forgeRepo struct {
	*world
	name        string // owner/name
	dir         string // of its authored files
	members     []string
	issues      []object
	comments    []object
	reviews     []object
	discussions []object
	graph       object
	open        int
}

func (w *world) forge() error {
	for _, name := range below(w.files, "forge") {
		if path.Base(name) != "repo.yaml" {
			continue
		}
		dir := path.Dir(name)
		r := &forgeRepo{world: w, name: strings.TrimPrefix(dir, "forge/"), dir: dir, graph: object{}}
		if err := r.render(); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

func (r *forgeRepo) api(rest string) string  { return "https://api.example.org/repos/" + r.name + rest }
func (r *forgeRepo) page(rest string) string { return "https://example.org/" + r.name + rest }

func (r *forgeRepo) render() error {
	var about repository
	if err := r.yaml(r.dir+"/repo.yaml", &about); err != nil {
		return err
	}
	r.members = about.Members
	for _, name := range below(r.files, r.dir) {
		var err error
		switch path.Base(path.Dir(name)) {
		case "issues":
			err = r.issue(name, false)
		case "pulls":
			err = r.issue(name, true)
		case "discussions":
			err = r.discussion(name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return r.write(about)
}

func (r *forgeRepo) write(about repository) error {
	created, err := optionalStamp(about.Created, r.anchor)
	if err != nil {
		return err
	}
	pushed, err := optionalStamp(about.Pushed, r.anchor)
	if err != nil {
		return err
	}
	releases, err := r.releases()
	if err != nil {
		return err
	}
	owner, name, _ := strings.Cut(r.name, "/")
	at := "web/api.example.org/repos/" + r.name
	r.json(at+".json", object{
		"id": identity(r.name), "name": name, "full_name": r.name, "private": false,
		"owner": object{"login": owner, "type": "Organization"}, "html_url": r.page(""), "url": r.api(""),
		"description": about.Description, "fork": false, "created_at": created, "updated_at": pushed,
		"pushed_at": pushed, "stargazers_count": about.Stars, "forks_count": about.Forks,
		"language": about.Language, "has_issues": true, "has_discussions": len(r.discussions) > 0,
		"archived": false, "license": object{"spdx_id": about.Licence}, "topics": about.Topics,
		"visibility": "public", "default_branch": "main", "open_issues_count": r.open,
	})
	if readme, ok := r.files[r.dir+"/readme.md"]; ok {
		r.json(at+"/readme.json", object{
			"name": "README.md", "path": "README.md", "sha": fmt.Sprintf("%x", identity(r.name, "readme")),
			"size": len(readme), "type": "file", "html_url": r.page("/blob/main/README.md"),
			"encoding": "base64", "content": base64.StdEncoding.EncodeToString(readme),
		})
	}
	byUpdate := func(a, b object) int { return cmp.Compare(a["updated_at"].(string), b["updated_at"].(string)) }
	for _, list := range [][]object{r.issues, r.comments, r.reviews} {
		slices.SortStableFunc(list, byUpdate)
	}
	r.json(at+"/issues.json", append([]object{}, r.issues...))
	r.json(at+"/issues/comments.json", append([]object{}, r.comments...))
	r.json(at+"/pulls/comments.json", append([]object{}, r.reviews...))
	r.json(at+"/releases.json", releases)
	slices.SortStableFunc(r.discussions,
		func(a, b object) int { return cmp.Compare(b["updatedAt"].(string), a["updatedAt"].(string)) })
	r.graph["discussions"] = object{"pageInfo": lastPage, "nodes": append([]object{}, r.discussions...)}
	r.graph["issues"] = object{"totalCount": len(r.issues) - r.pulls()}
	r.graph["pullRequests"] = object{"totalCount": r.pulls()}
	r.json("web/api.example.org/graphql/"+r.name+".json", object{"data": object{"repository": r.graph}})
	return nil
}

var lastPage = object{"hasNextPage": false, "endCursor": nil}

func (r *forgeRepo) pulls() (n int) {
	for _, i := range r.issues {
		if _, ok := i["pull_request"]; ok {
			n++
		}
	}
	return n
}

// account is a writer as REST has one.
func (r *forgeRepo) account(login string) (object, error) {
	who, err := r.people.find(login)
	if err != nil {
		return nil, err
	}
	return object{"login": who.Login, "id": identity(who.Login), "type": cmp.Or(who.Kind, "User"),
		"html_url": "https://example.org/" + who.Login}, nil
}

func (r *forgeRepo) association(login string) string {
	if slices.Contains(r.members, login) {
		return "MEMBER"
	}
	return "CONTRIBUTOR"
}

func (r *forgeRepo) issue(name string, pull bool) error {
	var head issue
	entries, err := readThread(r.files[name], r.anchor, &head, "likes", "file", "line")
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(base(name))
	if err != nil {
		return err
	}
	closed, err := optionalStamp(cmp.Or(head.Closed, head.Merged), r.anchor)
	if err != nil {
		return err
	}
	first, kind := entries[0], "issues"
	if pull {
		kind = "pull"
	}
	author, err := r.account(first.by)
	if err != nil {
		return err
	}
	updated := first.at
	for i, e := range entries[1:] {
		if err := r.comment(e, identity(r.name, number, i), number, kind); err != nil {
			return err
		}
		updated = newest(updated, e.at)
	}
	state := "open"
	if closed != nil {
		state = "closed"
		at, err := time.Parse(time.RFC3339, closed.(string))
		if err != nil {
			return err
		}
		updated = newest(updated, at)
	} else {
		r.open++
	}
	labels, assignees := []any{}, []any{}
	for _, l := range head.Labels {
		labels = append(labels, object{"id": identity(r.name, l), "name": l})
	}
	for _, login := range head.Assignees {
		who, err := r.account(login)
		if err != nil {
			return err
		}
		assignees = append(assignees, who)
	}
	i := object{
		"id": identity(r.name, number), "number": number, "title": head.Title, "body": first.text,
		"user": author, "labels": labels, "assignees": assignees, "state": state, "state_reason": nil,
		"comments": len(entries) - 1, "author_association": r.association(first.by),
		"reactions": reactions(first), "html_url": r.page(fmt.Sprintf("/%s/%d", kind, number)),
		"url": r.api(fmt.Sprintf("/issues/%d", number)), "created_at": first.stamp(),
		"updated_at": updated.Format(time.RFC3339), "closed_at": closed, "milestone": nil,
	}
	if head.Milestone != "" {
		i["milestone"] = object{"title": head.Milestone}
	}
	if closed != nil && !pull {
		i["state_reason"] = "completed"
		if head.Declined {
			i["state_reason"] = "not_planned"
		}
	}
	if pull {
		if err := r.pull(i, head, number); err != nil {
			return err
		}
	}
	r.issues = append(r.issues, i)
	return nil
}

// pull adds to an issue what makes it a pull request.
func (r *forgeRepo) pull(i object, head issue, number int) error {
	merged, err := optionalStamp(head.Merged, r.anchor)
	if err != nil {
		return err
	}
	i["draft"] = head.Draft
	i["pull_request"] = object{"url": r.api(fmt.Sprintf("/pulls/%d", number)),
		"html_url": r.page(fmt.Sprintf("/pull/%d", number)), "merged_at": merged}
	files := []any{}
	for _, f := range head.Files {
		files = append(files, object{"path": f})
	}
	details := object{
		"number": number, "headRefName": head.Branch, "baseRefName": "main", "additions": head.Additions,
		"deletions": head.Deletions, "mergeCommit": nil, "files": object{"nodes": files},
	}
	if merged != nil {
		commit, _ := expand("commit", fmt.Sprintf("%s %d", r.name, number), r.anchor) // has no way to fail
		details["mergeCommit"] = object{"oid": commit}
	}
	r.graph[fmt.Sprintf("p%d", number)] = details
	return nil
}

func (r *forgeRepo) comment(e entry, id, number int, kind string) error {
	who, err := r.account(e.by)
	if err != nil {
		return err
	}
	c := object{
		"id": id, "user": who, "body": e.text, "created_at": e.stamp(), "updated_at": e.stamp(),
		"author_association": r.association(e.by), "reactions": reactions(e),
	}
	page := r.page(fmt.Sprintf("/%s/%d", kind, number))
	if e.has("file") {
		c["path"], c["line"] = e.attr["file"], e.number("line")
		c["html_url"], c["pull_request_url"] = fmt.Sprintf("%s#discussion_r%d", page, id),
			r.api(fmt.Sprintf("/pulls/%d", number))
		r.reviews = append(r.reviews, c)
		return nil
	}
	c["html_url"], c["issue_url"] = fmt.Sprintf("%s#issuecomment-%d", page, id), r.api(fmt.Sprintf("/issues/%d", number))
	r.comments = append(r.comments, c)
	return nil
}

func reactions(e entry) object {
	return object{"total_count": e.number("likes"), "+1": e.number("likes")}
}

func (r *forgeRepo) releases() ([]object, error) {
	all := []object{}
	for _, name := range below(r.files, r.dir+"/releases") {
		tag := strings.TrimSuffix(path.Base(name), ".md")
		front, text, err := cutHead(r.files[name])
		var head release
		if err == nil {
			err = decodeYAML(front, &head)
		}
		var published any
		if err == nil {
			published, err = optionalStamp(head.Published, r.anchor)
		}
		var who object
		if err == nil {
			who, err = r.account(head.Author)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		commit, _ := expand("commit", r.name+" "+tag, r.anchor) // has no way to fail
		all = append(all, object{
			"id": identity(r.name, tag), "tag_name": tag, "name": tag, "target_commitish": commit,
			"body": strings.TrimSpace(string(text)), "draft": false, "prerelease": head.Prerelease,
			"author": who, "html_url": r.page("/releases/tag/" + tag), "url": r.api("/releases/" + tag),
			"created_at": published, "published_at": published, "assets": []any{},
		})
	}
	slices.SortStableFunc(all,
		func(a, b object) int { return cmp.Compare(b["published_at"].(string), a["published_at"].(string)) })
	return all, nil
}
