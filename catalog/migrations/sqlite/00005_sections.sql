-- +goose Up
-- What to read around a passage.
ALTER TABLE passages ADD COLUMN section TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE passages DROP COLUMN section;
