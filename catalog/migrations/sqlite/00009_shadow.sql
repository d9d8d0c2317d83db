-- +goose Up

-- How much a candidate profile changes the results of what people search for.
CREATE TABLE shadows (
    day       INTEGER NOT NULL,
    live      TEXT    NOT NULL, -- what was in force
    candidate TEXT    NOT NULL,
    query     TEXT    NOT NULL, -- normalised
    count     INTEGER NOT NULL,
    jaccard   REAL    NOT NULL, -- sums
    rbo       REAL    NOT NULL,
    was       TEXT    NOT NULL, -- JSON: records of the last search
    would     TEXT    NOT NULL, -- and as the candidate ranks
    last_at   INTEGER NOT NULL,
    PRIMARY KEY (day, live, candidate, query)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadows_by_age ON shadows (last_at);

-- +goose Down

DROP TABLE shadows;
