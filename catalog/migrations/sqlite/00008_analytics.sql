-- +goose Up

-- What became of searches besides finding nothing, and what people chose of the
-- results where the operator switched that on.
ALTER TABLE searches ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN degraded  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN took      INTEGER NOT NULL DEFAULT 0; -- microseconds, of all
ALTER TABLE searches ADD COLUMN longest   INTEGER NOT NULL DEFAULT 0; -- microseconds, of one

CREATE TABLE clicks (
    day      INTEGER NOT NULL,
    query    TEXT    NOT NULL, -- normalised
    record   INTEGER NOT NULL,
    position INTEGER NOT NULL, -- from 1
    shown    INTEGER NOT NULL, -- how often it was shown there
    clicked  INTEGER NOT NULL,
    PRIMARY KEY (day, query, record, position)
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE clicks;
ALTER TABLE searches DROP COLUMN corrected;
ALTER TABLE searches DROP COLUMN degraded;
ALTER TABLE searches DROP COLUMN took;
ALTER TABLE searches DROP COLUMN longest;
