-- +goose Up

-- What the last run that looked at a source left out and why, and a digest of how
-- the last good run read it, by which a change of the network file is told from a
-- source that broke. Nobody knows it of runs before.
ALTER TABLE sources ADD COLUMN remark TEXT NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN settings TEXT NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE sources DROP COLUMN settings;
ALTER TABLE sources DROP COLUMN remark;
