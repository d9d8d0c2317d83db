-- +goose Up

-- A checksum of what a passage and a document say, which Check compares; '' if they were written before
-- there were any.
ALTER TABLE passages ADD COLUMN sum TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN sum TEXT COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE documents DROP COLUMN sum;
ALTER TABLE passages DROP COLUMN sum;
