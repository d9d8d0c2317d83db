-- +goose Up

-- Sources that have yielded records which another source owned. Nobody knows it
-- of those that were read before.
CREATE TABLE foreign_sources (
    name TEXT PRIMARY KEY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO foreign_sources (name) SELECT name FROM sources;

-- +goose Down

DROP TABLE foreign_sources;
