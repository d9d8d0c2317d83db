-- +goose Up

-- What people change to tune relevance, and what they measure it with. Revisions
-- and publications are only ever added.
DROP TABLE judgments; -- was never written
DROP TABLE profiles;  -- nor was this

CREATE TABLE revisions (
    kind       TEXT    NOT NULL, -- profile, synonyms, pins
    name       TEXT    NOT NULL, -- of a profile
    number     INTEGER NOT NULL,
    base       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    note       TEXT    NOT NULL,
    data       TEXT    NOT NULL, -- YAML
    PRIMARY KEY (kind, name, number)
) STRICT;

CREATE TABLE publications (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    kind   TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    number INTEGER NOT NULL, -- 0: that of the configuration
    at     INTEGER NOT NULL,
    author TEXT    NOT NULL,
    note   TEXT    NOT NULL
) STRICT;
CREATE INDEX publications_by_kind ON publications (kind, id);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    author  TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    before  TEXT    NOT NULL,
    after   TEXT    NOT NULL,
    note    TEXT    NOT NULL
) STRICT;

CREATE TABLE cases (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,
    description TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    every       INTEGER NOT NULL -- microseconds; 0: never
) STRICT;

CREATE TABLE case_queries (
    collection INTEGER NOT NULL, -- the case
    query      TEXT    NOT NULL,
    position   INTEGER NOT NULL,
    text       TEXT    NOT NULL,
    class      TEXT    NOT NULL,
    need       TEXT    NOT NULL,
    note       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    PRIMARY KEY (collection, query)
) STRICT, WITHOUT ROWID;

CREATE TABLE judgments (
    collection INTEGER NOT NULL,
    query      TEXT    NOT NULL,
    target     TEXT    NOT NULL, -- path of the judged record, or kind:key
    judge      TEXT    NOT NULL,
    grade      INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    note       TEXT    NOT NULL,
    PRIMARY KEY (collection, query, target, judge)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    profile    TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    judges     TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    model      TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    summary    TEXT    NOT NULL, -- JSON
    data       TEXT    NOT NULL  -- JSON
) STRICT;
CREATE INDEX evaluations_by_case ON evaluations (collection, id);

ALTER TABLE requests ADD COLUMN author     TEXT    NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN attempts   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN done       INTEGER NOT NULL DEFAULT 0; -- steps
ALTER TABLE requests ADD COLUMN total      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN cancelled  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN result     TEXT    NOT NULL DEFAULT ''; -- JSON

-- +goose Down

ALTER TABLE requests DROP COLUMN author;
ALTER TABLE requests DROP COLUMN started_at;
ALTER TABLE requests DROP COLUMN attempts;
ALTER TABLE requests DROP COLUMN done;
ALTER TABLE requests DROP COLUMN total;
ALTER TABLE requests DROP COLUMN cancelled;
ALTER TABLE requests DROP COLUMN result;
DROP TABLE evaluations;
DROP TABLE judgments;
DROP TABLE case_queries;
DROP TABLE cases;
DROP TABLE audit;
DROP TABLE publications;
DROP TABLE revisions;
CREATE TABLE judgments (
    query  TEXT    NOT NULL,
    target TEXT    NOT NULL,
    judge  TEXT    NOT NULL,
    grade  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    note   TEXT    NOT NULL,
    PRIMARY KEY (query, target, judge)
) STRICT, WITHOUT ROWID;
CREATE TABLE profiles (
    name       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    active     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    note       TEXT    NOT NULL,
    data       TEXT    NOT NULL,
    PRIMARY KEY (name, revision)
) STRICT;
