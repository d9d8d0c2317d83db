package desk

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// NewCase makes a case whose name is free.
func (d *Desk) NewCase(r *http.Request, name, description string) (catalog.Case, error) {
	_, err := workbench.CaseNamed(r.Context(), d.Store, name)
	if err == nil {
		return catalog.Case{}, Invalid(fmt.Sprintf("there is a case %q already", name)).In("name")
	}
	if !errors.Is(err, catalog.ErrNotFound) {
		return catalog.Case{}, err
	}
	return d.Store.PutCase(r.Context(), catalog.Case{Name: name, Description: strings.TrimSpace(description)},
		admin.User(r.Context()))
}

// CasePath is the address of a case.
func CasePath(id int64) string { return "/cases/" + strconv.FormatInt(id, 10) }
