package sqlstore

// ration bounds the rows of each day in a table of counts.
type ration struct {
	t     *txn
	table string
	most  int
	rows  map[int64]int // by day
}

func (t *txn) ration(table string, most int) *ration {
	return &ration{t, table, most, map[int64]int{}}
}

// admits reports whether a row of a day may be written: it is there already, or
// the day has room for it. key selects it among those of the day.
func (r *ration) admits(day int64, key string, args ...any) (bool, error) {
	there, err := r.count(day, ` AND `+key, args...)
	if err != nil || there > 0 {
		return there > 0, err
	}
	if _, known := r.rows[day]; !known {
		if r.rows[day], err = r.count(day, ``); err != nil {
			return false, err
		}
	}
	if r.rows[day] >= r.most {
		return false, nil
	}
	r.rows[day]++
	return true, nil
}

func (r *ration) count(day int64, and string, args ...any) (n int, err error) {
	row := r.t.QueryRow(`SELECT COUNT(*) FROM `+r.table+` WHERE day = ?`+and, append([]any{day}, args...)...)
	return n, row.Scan(&n)
}
