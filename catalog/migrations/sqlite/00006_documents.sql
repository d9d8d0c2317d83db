-- +goose Up

-- What the reranker reads of a record, encoded by package retrieval/corpus: one
-- row a record, where each passage had its terms before. The index is built
-- again.
DELETE FROM passages;
DELETE FROM words;
DELETE FROM generations;
ALTER TABLE passages DROP COLUMN hash;
ALTER TABLE passages DROP COLUMN terms;
CREATE TABLE documents (
    generation INTEGER NOT NULL,
    record     INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    PRIMARY KEY (generation, record)
) STRICT;

-- +goose Down

DELETE FROM passages;
DELETE FROM words;
DELETE FROM generations;
DROP TABLE documents;
ALTER TABLE passages ADD COLUMN hash TEXT NOT NULL DEFAULT '';
ALTER TABLE passages ADD COLUMN terms BLOB NOT NULL DEFAULT x'';
