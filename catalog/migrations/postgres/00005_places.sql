-- The headings in a passage that has several, as JSON.

-- +goose Up

ALTER TABLE passages ADD COLUMN places TEXT NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE passages DROP COLUMN places;
