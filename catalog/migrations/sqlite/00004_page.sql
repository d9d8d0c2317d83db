-- +goose Up

-- Our own address of a record is computed where it is shown.
ALTER TABLE records DROP COLUMN page;

-- +goose Down

ALTER TABLE records ADD COLUMN page TEXT NOT NULL DEFAULT '';
