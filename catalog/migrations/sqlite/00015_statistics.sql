-- +goose Up

-- What counts in an index: a row for each batch of changes, from one position in the change
-- log to another, encoded by package retrieval/corpus. The first is that of all batches
-- before. Only kept where processes may leave the documents in the catalog.
CREATE TABLE statistics (
    generation INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    PRIMARY KEY (generation, until)
) STRICT;

-- +goose Down

DROP TABLE statistics;
