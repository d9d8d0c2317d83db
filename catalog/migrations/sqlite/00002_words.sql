-- +goose Up

-- The words of a generation's passages: what a misspelt word can be read as.
-- A word stays when the last passage that holds it goes; its frequency, which
-- is counted elsewhere, says so.
CREATE TABLE words (
    generation INTEGER NOT NULL,
    word       TEXT    NOT NULL,
    PRIMARY KEY (generation, word)
) STRICT, WITHOUT ROWID;

-- +goose Down

DROP TABLE words;
