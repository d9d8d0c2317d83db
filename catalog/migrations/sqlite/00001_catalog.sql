-- The catalog. Times are integers: microseconds since 1970-01-01 UTC, 0 for
-- unknown. There are no foreign keys: records are never deleted, only marked
-- (deleted_at), so nothing that hangs on one can lose it.

-- +goose Up

CREATE TABLE records (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    kind             TEXT    NOT NULL,
    key              TEXT    NOT NULL,
    key_order        TEXT    NOT NULL, -- the key in the form keys are sorted by
    title            TEXT    NOT NULL,
    url              TEXT    NOT NULL,
    page             TEXT    NOT NULL,
    path             TEXT    NOT NULL,
    source           TEXT    NOT NULL,
    container        TEXT    NOT NULL,
    state            TEXT    NOT NULL,
    category         TEXT    NOT NULL,
    parent           INTEGER NOT NULL, -- 0: none
    author           TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_activity_at INTEGER NOT NULL,
    first_seen_at    INTEGER NOT NULL,
    starts_at        INTEGER NOT NULL,
    ends_at          INTEGER NOT NULL,
    views            INTEGER NOT NULL,
    replies          INTEGER NOT NULL,
    votes            INTEGER NOT NULL,
    hash             TEXT    NOT NULL,
    deleted_at       INTEGER NOT NULL, -- 0: live
    folded           TEXT    NOT NULL, -- title, author, category in lower case, a line each
    summary          TEXT    NOT NULL,
    data             TEXT    NOT NULL, -- JSON that SQL never looks into; '' for none
    body             TEXT    NOT NULL, -- last, so that lists need not read past it
    UNIQUE (kind, key)
) STRICT;

-- Ids start at 1,000,000; AUTOINCREMENT never gives one twice.
INSERT INTO sqlite_sequence (name, seq) VALUES ('records', 999999);

-- key_order and folded stand in one index so that a text filter need not
-- read the rows; counts are answered from records_counts alone.
CREATE INDEX records_by_key       ON records (kind, key_order, folded)                   WHERE deleted_at = 0;
CREATE INDEX records_by_state     ON records (kind, lower(state), created_at DESC)       WHERE deleted_at = 0;
CREATE INDEX records_by_container ON records (kind, lower(container), created_at DESC)   WHERE deleted_at = 0;
CREATE INDEX records_by_created   ON records (kind, created_at DESC)                     WHERE deleted_at = 0;
CREATE INDEX records_by_activity  ON records (kind, last_activity_at DESC)               WHERE deleted_at = 0;
CREATE INDEX records_created      ON records (created_at DESC)                           WHERE deleted_at = 0;
CREATE INDEX records_first_seen   ON records (first_seen_at DESC)                        WHERE deleted_at = 0;
CREATE INDEX records_counts       ON records (kind, state, source, container, parent)    WHERE deleted_at = 0;
CREATE INDEX records_by_path      ON records (path)                                      WHERE deleted_at = 0 AND path <> '';
CREATE INDEX records_by_parent    ON records (parent, kind, key_order)                   WHERE deleted_at = 0 AND parent <> 0;
CREATE INDEX records_by_author    ON records (author)                                    WHERE deleted_at = 0 AND author <> '';
CREATE INDEX records_by_source    ON records (source, kind, key);

CREATE TABLE record_tags (
    record INTEGER NOT NULL,
    tag    TEXT    NOT NULL,
    PRIMARY KEY (record, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_tags_by_tag ON record_tags (tag);

-- An alias or link belongs to the source that gave it: what other sources add
-- to a record survives the owner's rewrites.
CREATE TABLE record_aliases (
    record INTEGER NOT NULL,
    source TEXT    NOT NULL,
    kind   TEXT    NOT NULL, -- of the record
    alias  TEXT    NOT NULL,
    PRIMARY KEY (record, source, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_aliases_by_alias ON record_aliases (kind, alias);

CREATE TABLE links (
    record   INTEGER NOT NULL, -- it leads from
    source   TEXT    NOT NULL,
    position INTEGER NOT NULL,
    relation TEXT    NOT NULL,
    to_kind  TEXT    NOT NULL,
    to_key   TEXT    NOT NULL,
    snippet  TEXT    NOT NULL,
    PRIMARY KEY (record, source, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_target   ON links (to_kind, to_key);
CREATE INDEX links_by_relation ON links (relation);

-- Which sources add aliases or links to records they do not own; the hash of
-- the additions tells whether they changed.
CREATE TABLE additions (
    source TEXT    NOT NULL,
    record INTEGER NOT NULL,
    hash   TEXT    NOT NULL,
    PRIMARY KEY (source, record)
) STRICT, WITHOUT ROWID;

CREATE TABLE votes (
    record   INTEGER NOT NULL,
    position INTEGER NOT NULL,
    voter    TEXT    NOT NULL,
    choice   TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    cast_at  INTEGER NOT NULL,
    url      TEXT    NOT NULL,
    PRIMARY KEY (record, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     TEXT    NOT NULL,
    key      TEXT    NOT NULL,
    field    TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    old      TEXT    NOT NULL,
    new      TEXT    NOT NULL,
    raw_old  TEXT    NOT NULL,
    raw_new  TEXT    NOT NULL,
    via      TEXT    NOT NULL,
    revision TEXT    NOT NULL, -- the commit
    url      TEXT    NOT NULL,
    subject  TEXT    NOT NULL,
    source   TEXT    NOT NULL
) STRICT;
CREATE INDEX events_by_reference ON events (kind, key);
CREATE INDEX events_by_time      ON events (at);

CREATE TABLE snapshots (
    series      TEXT    NOT NULL,
    captured_at INTEGER NOT NULL,
    data        TEXT    NOT NULL, -- JSON
    PRIMARY KEY (series, captured_at)
) STRICT;

CREATE TABLE sources (
    name         TEXT    PRIMARY KEY NOT NULL,
    kind         TEXT    NOT NULL,
    last_run     INTEGER NOT NULL,
    last_success INTEGER NOT NULL,
    position     TEXT    NOT NULL, -- the cursor
    failure      TEXT    NOT NULL,
    skipped      INTEGER NOT NULL,
    freshness    INTEGER NOT NULL  -- microseconds
) STRICT;

CREATE TABLE requests (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    argument   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    done_at    INTEGER NOT NULL, -- 0: not done
    failure    TEXT    NOT NULL
) STRICT;
CREATE INDEX requests_open ON requests (id) WHERE done_at = 0;

-- Counted by UTC day, which is the day's first microsecond.
CREATE TABLE searches (
    day     INTEGER NOT NULL,
    query   TEXT    NOT NULL, -- normalised
    count   INTEGER NOT NULL,
    zero    INTEGER NOT NULL, -- how many of them found nothing
    last_at INTEGER NOT NULL,
    PRIMARY KEY (day, query)
) STRICT, WITHOUT ROWID;

CREATE TABLE csp_reports (
    day         INTEGER NOT NULL,
    directive   TEXT    NOT NULL,
    blocked_uri TEXT    NOT NULL,
    count       INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    PRIMARY KEY (day, directive, blocked_uri)
) STRICT, WITHOUT ROWID;

CREATE TABLE judgments (
    query  TEXT    NOT NULL,
    target TEXT    NOT NULL, -- path of the judged record
    judge  TEXT    NOT NULL,
    grade  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    note   TEXT    NOT NULL,
    PRIMARY KEY (query, target, judge)
) STRICT, WITHOUT ROWID;

CREATE TABLE profiles (
    name       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    active     INTEGER NOT NULL, -- 1: the revision in use
    created_at INTEGER NOT NULL,
    note       TEXT    NOT NULL,
    data       TEXT    NOT NULL, -- JSON
    PRIMARY KEY (name, revision)
) STRICT;

CREATE TABLE generations (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT    NOT NULL UNIQUE,
    checkpoint  INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE passages (
    generation INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    record     INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    anchor     TEXT    NOT NULL,
    heading    TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    terms      BLOB    NOT NULL,
    text       TEXT    NOT NULL,
    PRIMARY KEY (generation, id)
) STRICT;
CREATE INDEX passages_by_record ON passages (generation, record, ordinal);

-- One row a record: its last change. AUTOINCREMENT keeps seq growing also
-- when the newest row gives way.
CREATE TABLE changes (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    record  INTEGER NOT NULL UNIQUE,
    deleted INTEGER NOT NULL, -- 1: became a tombstone
    at      INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- What the planner is told about the tables: rows, then rows that share the
-- first column of the index, the first two, … Fixed figures of a large catalog
-- keep the plans the same for everybody and from the first row on.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('records', 'sqlite_autoindex_records_1', '200000 10000 1'),
    ('records', 'records_by_key',             '200000 10000 1 1'),
    ('records', 'records_by_state',           '200000 10000 2500 1'),
    ('records', 'records_by_container',       '200000 10000 500 1'),
    ('records', 'records_by_created',         '200000 10000 2'),
    ('records', 'records_by_activity',        '200000 10000 2'),
    ('records', 'records_created',            '200000 2'),
    ('records', 'records_first_seen',         '200000 200'),
    ('records', 'records_counts',             '200000 10000 2500 2500 500 10'),
    ('records', 'records_by_path',            '100000 1'),
    ('records', 'records_by_parent',          '150000 10 10 1'),
    ('records', 'records_by_author',          '150000 50'),
    ('records', 'records_by_source',          '200000 20000 10000 1'),
    ('record_tags', 'record_tags',            '400000 2 1'),
    ('record_tags', 'record_tags_by_tag',     '400000 400'),
    ('record_aliases', 'record_aliases',      '20000 1 1 1'),
    ('record_aliases', 'record_aliases_by_alias', '20000 5000 1'),
    ('links', 'links',                        '500000 5 5 1'),
    ('links', 'links_by_target',              '500000 100000 20'),
    ('links', 'links_by_relation',            '500000 100000'),
    ('events', 'events_by_reference',         '5000 2500 5'),
    ('events', 'events_by_time',              '5000 2'),
    ('passages', 'sqlite_autoindex_passages_1', '1000000 500000 1'),
    ('passages', 'passages_by_record',        '1000000 500000 5 1');

-- +goose Down

DROP TABLE meta;
DROP TABLE changes;
DROP TABLE passages;
DROP TABLE generations;
DROP TABLE profiles;
DROP TABLE judgments;
DROP TABLE csp_reports;
DROP TABLE searches;
DROP TABLE requests;
DROP TABLE sources;
DROP TABLE snapshots;
DROP TABLE events;
DROP TABLE votes;
DROP TABLE additions;
DROP TABLE links;
DROP TABLE record_aliases;
DROP TABLE record_tags;
DROP TABLE records;
