-- +goose Up

-- What the last run of a source leaves for the next one; position is its digest.
ALTER TABLE sources ADD COLUMN state bytea;

-- +goose Down

ALTER TABLE sources DROP COLUMN state;
