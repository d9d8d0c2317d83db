-- +goose Up

-- What sources know for certain of records that others own (catalog.Facts, as
-- JSON). Beside such a row the source '' has what the owner says of the same.
CREATE TABLE facts (
    record INTEGER NOT NULL,
    source TEXT    NOT NULL,
    facts  TEXT    NOT NULL,
    PRIMARY KEY (record, source)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('facts', 'facts', '5000 2 1');

-- +goose Down

DELETE FROM sqlite_stat1 WHERE tbl = 'facts';
DROP TABLE facts;
