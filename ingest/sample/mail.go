package sample

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"mime"
	"mime/quotedprintable"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"
)

// group is mail/GROUP/group.yaml. Its messages are numbered by their time.
type group struct {
	Title string `yaml:"title"`
	First int    `yaml:"first"` // number of the oldest message
}

// mailing is the head of mail/GROUP/SLUG.md. The entry that has the attribute
// re answers the entry of that number, any other but the first answers the
// first. What a mail program may do otherwise says the attribute as: html (a
// second part in HTML), latin1 (quoted-printable), attachment (what comes
// after a line "--- NAME" is a file).
type mailing struct {
	Subject string `yaml:"subject"`
}

// message is one mail of a group.
type message struct {
	entry
	from, subject string
	id            string
	refs          []string // oldest first; the last one is answered
}

const mailHost = "lists.causeway.example.org"

func (w *world) mail() error {
	for _, name := range below(w.files, "mail") {
		if path.Base(name) != "group.yaml" {
			continue
		}
		if err := w.group(path.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) group(dir string) error {
	var g group
	if err := w.yaml(dir+"/group.yaml", &g); err != nil {
		return err
	}
	name := path.Base(dir)
	var all []message
	for _, file := range below(w.files, dir) {
		if path.Ext(file) != ".md" {
			continue
		}
		messages, err := w.mailing(file, name)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, messages...)
	}
	slices.SortStableFunc(all, func(a, b message) int { return a.at.Compare(b.at) })
	var box bytes.Buffer
	for i, m := range all {
		m.write(&box, name, g.Title, g.First+i)
	}
	w.out["web/"+mailHost+"/export/"+name+".mbox"] = box.Bytes()
	return nil
}

func (w *world) mailing(file, group string) ([]message, error) {
	var head mailing
	entries, err := readThread(w.files[file], w.anchor, &head, "re", "as")
	if err != nil {
		return nil, err
	}
	var all []message
	for i, e := range entries {
		who, err := w.people.find(e.by)
		if err != nil {
			return nil, err
		}
		if who.Mail == "" {
			return nil, fmt.Errorf("%s has no mail address in people.yaml", e.by)
		}
		m := message{
			entry: e, from: fmt.Sprintf("%s <%s>", cmp.Or(who.Name, who.Login), who.Mail), subject: "Re: " + head.Subject,
			id: fmt.Sprintf("<%d.%s@%s>", identity(file, i), group, mailHost),
		}
		if i == 0 {
			m.subject = "[" + group + "] " + head.Subject
		} else {
			to := max(e.number("re"), 1)
			if to > i {
				return nil, fmt.Errorf("entry %d answers entry %d, which comes later", i+1, to)
			}
			m.refs = append(slices.Clone(all[to-1].refs), all[to-1].id)
		}
		all = append(all, m)
	}
	return all, nil
}

// write appends the message to an archive in the mbox format.
func (m message) write(box *bytes.Buffer, group, title string, number int) {
	_, address, _ := strings.Cut(m.from, "<")
	fmt.Fprintf(box, "From %s %s\n", strings.TrimSuffix(address, ">"), m.at.Format(time.ANSIC))
	fmt.Fprintf(box, "From: %s\nTo: %s@%s\nSubject: %s\nDate: %s\nMessage-ID: %s\n",
		m.from, group, mailHost, mime.QEncoding.Encode("UTF-8", m.subject), m.at.Format(time.RFC1123Z), m.id)
	if n := len(m.refs); n > 0 {
		fmt.Fprintf(box, "In-Reply-To: %s\nReferences: %s\n", m.refs[n-1], strings.Join(m.refs, "\n "))
	}
	fmt.Fprintf(box, "List-Id: %s <%s.%s>\nX-Groupsio-Msgnum: %d\nMIME-Version: 1.0\n", title, group, mailHost, number)
	text := fromLine(m.text)
	boundary := fmt.Sprintf("=_shore_%d", number)
	const plain = "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n"
	switch m.attr["as"] {
	case "html":
		fmt.Fprintf(box, "Content-Type: multipart/alternative; boundary=%q\n\n--%s\n%s%s\n", boundary, boundary, plain, text)
		paragraphs := "<p>" + strings.ReplaceAll(html.EscapeString(m.text), "\n\n", "</p>\n<p>") + "</p>"
		fmt.Fprintf(box, "--%s\nContent-Type: text/html; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n", boundary)
		fmt.Fprintf(box, "<html><body>%s</body></html>\n--%s--\n", paragraphs, boundary)
	case "attachment":
		text, file, _ := strings.Cut(text, "\n--- ")
		name, content, _ := strings.Cut(file, "\n")
		fmt.Fprintf(box, "Content-Type: multipart/mixed; boundary=%q\n\n--%s\n%s%s\n", boundary, boundary, plain, text)
		fmt.Fprintf(box, "--%s\nContent-Type: text/csv; charset=UTF-8; name=%q\n", boundary, name)
		fmt.Fprintf(box, "Content-Disposition: attachment; filename=%q\n\n%s\n--%s--\n", name, content, boundary)
	case "latin1":
		box.WriteString("Content-Type: text/plain; charset=ISO-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n")
		latin, err := charmap.ISO8859_1.NewEncoder().String(text)
		if err != nil {
			latin = text
		}
		q := quotedprintable.NewWriter(box)
		_, _ = q.Write([]byte(latin)) // a buffer takes everything
		_ = q.Close()
		box.WriteString("\n")
	default:
		box.WriteString(plain + text + "\n")
	}
	box.WriteString("\n")
}

// fromLine escapes lines that would begin the next message.
func fromLine(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll("\n"+text, "\nFrom ", "\n>From "), "\n")
}
