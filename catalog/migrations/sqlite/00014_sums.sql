-- +goose Up

-- A checksum of what a record says, which Check compares; '' if it was written before
-- there were any.
ALTER TABLE records ADD COLUMN sum TEXT NOT NULL DEFAULT '';

-- What a source withdrew is not kept: a tombstone has its key, its id and its place
-- in the log.
UPDATE records SET title = '', url = '', path = '', author = '', folded = '', summary = '', data = '', body = ''
WHERE deleted_at <> 0;

-- +goose Down

ALTER TABLE records DROP COLUMN sum;
