-- +goose Up

-- A judgment may name a record by its address at the source.
CREATE INDEX records_by_url ON records (url) WHERE deleted_at = 0 AND url <> '';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('records', 'records_by_url', '200000 1');

-- +goose Down

DROP INDEX records_by_url;
DELETE FROM sqlite_stat1 WHERE idx = 'records_by_url';
