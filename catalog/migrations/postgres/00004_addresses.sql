-- +goose Up

-- A judgment may name a record by its address at the source.
CREATE INDEX records_by_url ON records USING hash (url) WHERE deleted_at = 0 AND url <> '';

-- +goose Down

DROP INDEX records_by_url;
