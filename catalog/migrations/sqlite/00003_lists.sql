-- +goose Up

-- What lists filter by beside 00001: the category in counts, changes since,
-- what has no answer, most viewed first, and what has a text.
DROP INDEX records_counts; -- with its figures
CREATE INDEX records_counts     ON records (kind, state, source, container, category, parent) WHERE deleted_at = 0;
CREATE INDEX records_by_updated ON records (kind, updated_at DESC)                            WHERE deleted_at = 0;
CREATE INDEX records_unanswered ON records (kind, views DESC)
    WHERE deleted_at = 0 AND parent = 0 AND replies = 0;
CREATE INDEX records_by_body    ON records (kind, (CASE WHEN body = '' THEN 0 ELSE 1 END), created_at DESC)
    WHERE deleted_at = 0;
CREATE INDEX votes_by_voter     ON votes (lower(voter));

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('records', 'records_counts',     '200000 10000 2500 2500 500 100 10'),
    ('records', 'records_by_updated', '200000 10000 2'),
    ('records', 'records_unanswered', '50000 5000 10'),
    ('records', 'records_by_body',    '200000 10000 5000 2'),
    ('votes', 'votes',                '50000 25 1'),
    ('votes', 'votes_by_voter',       '50000 1000');

-- +goose Down

DROP INDEX votes_by_voter;
DROP INDEX records_by_body;
DROP INDEX records_unanswered;
DROP INDEX records_by_updated;
DROP INDEX records_counts;
CREATE INDEX records_counts ON records (kind, state, source, container, parent) WHERE deleted_at = 0;
DELETE FROM sqlite_stat1 WHERE tbl = 'votes';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('records', 'records_counts', '200000 10000 2500 2500 500 10');
