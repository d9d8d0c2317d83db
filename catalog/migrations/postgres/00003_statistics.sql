-- What counts in an index: a row for each batch of changes, from one position in the change
-- log to another, encoded by package retrieval/corpus. The first is that of all batches
-- before.

-- +goose Up

CREATE TABLE statistics (
    generation BIGINT NOT NULL,
    until      BIGINT NOT NULL,
    since      BIGINT NOT NULL,
    data       BYTEA  NOT NULL,
    PRIMARY KEY (generation, until)
);

-- +goose Down

DROP TABLE statistics;
