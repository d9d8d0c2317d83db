-- The catalog. Times are integers: microseconds since 1970-01-01 UTC, 0 for
-- unknown. There are no foreign keys: records are never deleted, only marked
-- (deleted_at), so nothing that hangs on one can lose it. Columns that came after
-- the first release of a table are added to it here too: SQLite keeps the text that
-- made a table, and Check compares that with what this file makes.

-- +goose Up

CREATE TABLE records (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    kind             TEXT    NOT NULL,
    key              TEXT    NOT NULL,
    key_order        TEXT    NOT NULL, -- the key in the form keys are sorted by
    title            TEXT    NOT NULL,
    url              TEXT    NOT NULL,
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
CREATE INDEX records_by_path      ON records (path)                                      WHERE deleted_at = 0 AND path <> '';
CREATE INDEX records_by_parent    ON records (parent, kind, key_order)                   WHERE deleted_at = 0 AND parent <> 0;
CREATE INDEX records_by_author    ON records (author)                                    WHERE deleted_at = 0 AND author <> '';
CREATE INDEX records_by_source    ON records (source, kind, key);
CREATE INDEX records_counts     ON records (kind, state, source, container, category, parent) WHERE deleted_at = 0;
CREATE INDEX records_by_updated ON records (kind, updated_at DESC)                            WHERE deleted_at = 0;
CREATE INDEX records_unanswered ON records (kind, views DESC)
    WHERE deleted_at = 0 AND parent = 0 AND replies = 0;
CREATE INDEX records_by_body    ON records (kind, (CASE WHEN body = '' THEN 0 ELSE 1 END), created_at DESC)
    WHERE deleted_at = 0;

-- A checksum of what a record says, which Check compares; '' if it was written before
-- there were any.
ALTER TABLE records ADD COLUMN sum TEXT NOT NULL DEFAULT '';

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
CREATE INDEX votes_by_voter     ON votes (lower(voter));

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

-- What the last run that looked at a source left out and why, and a digest of how
-- the last good run read it, by which a change of the network file is told from a
-- source that broke.
ALTER TABLE sources ADD COLUMN remark TEXT NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN settings TEXT NOT NULL DEFAULT '';

-- Sources that have yielded records which another source owned.
CREATE TABLE foreign_sources (
    name TEXT PRIMARY KEY NOT NULL
) STRICT, WITHOUT ROWID;

-- What sources know for certain of records that others own (catalog.Facts, as
-- JSON). Beside such a row the source '' has what the owner says of the same.
CREATE TABLE facts (
    record INTEGER NOT NULL,
    source TEXT    NOT NULL,
    facts  TEXT    NOT NULL,
    PRIMARY KEY (record, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    argument   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    done_at    INTEGER NOT NULL, -- 0: not done
    failure    TEXT    NOT NULL
) STRICT;
ALTER TABLE requests ADD COLUMN author     TEXT    NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN attempts   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN done       INTEGER NOT NULL DEFAULT 0; -- steps
ALTER TABLE requests ADD COLUMN total      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN cancelled  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN result     TEXT    NOT NULL DEFAULT ''; -- JSON
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
ALTER TABLE searches ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN degraded  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN took      INTEGER NOT NULL DEFAULT 0; -- microseconds, of all
ALTER TABLE searches ADD COLUMN longest   INTEGER NOT NULL DEFAULT 0; -- microseconds, of one

-- How many clients typed a query or reported an address on a day, to five or so:
-- what few did is nobody else's to read. visitors are those of them that typed it on
-- a page.
ALTER TABLE searches ADD COLUMN clients  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN visitors INTEGER NOT NULL DEFAULT 0;

-- The queries of a day that are public (catalog.PublicClients), most first.
CREATE INDEX searches_public ON searches (day, count) WHERE clients >= 5;
CREATE INDEX searches_public_zero ON searches (day, zero) WHERE clients >= 5 AND zero > 0;

CREATE TABLE csp_reports (
    day         INTEGER NOT NULL,
    directive   TEXT    NOT NULL,
    blocked_uri TEXT    NOT NULL,
    count       INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    PRIMARY KEY (day, directive, blocked_uri)
) STRICT, WITHOUT ROWID;
ALTER TABLE csp_reports ADD COLUMN clients INTEGER NOT NULL DEFAULT 0;

-- What people chose of the results where the operator switched that on.
CREATE TABLE clicks (
    day      INTEGER NOT NULL,
    query    TEXT    NOT NULL, -- normalised
    record   INTEGER NOT NULL,
    position INTEGER NOT NULL, -- from 1
    shown    INTEGER NOT NULL, -- how often it was shown there
    clicked  INTEGER NOT NULL,
    PRIMARY KEY (day, query, record, position)
) STRICT, WITHOUT ROWID;

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
    text       TEXT    NOT NULL,
    PRIMARY KEY (generation, id)
) STRICT;
CREATE INDEX passages_by_record ON passages (generation, record, ordinal);
-- What to read around a passage.
ALTER TABLE passages ADD COLUMN section TEXT NOT NULL DEFAULT '';

-- The words of a generation's passages: what a misspelt word can be read as.
-- A word stays when the last passage that holds it goes; its frequency, which
-- is counted elsewhere, says so.
CREATE TABLE words (
    generation INTEGER NOT NULL,
    word       TEXT    NOT NULL,
    PRIMARY KEY (generation, word)
) STRICT, WITHOUT ROWID;

-- What the reranker reads of a record, encoded by package retrieval/corpus.
CREATE TABLE documents (
    generation INTEGER NOT NULL,
    record     INTEGER NOT NULL,
    data       BLOB    NOT NULL,
    PRIMARY KEY (generation, record)
) STRICT;

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

-- What people change to tune relevance, and what they measure it with. Revisions
-- and publications are only ever added.
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
    ('records', 'records_counts',             '200000 10000 2500 2500 500 100 10'),
    ('records', 'records_by_updated',         '200000 10000 2'),
    ('records', 'records_unanswered',         '50000 5000 10'),
    ('records', 'records_by_body',            '200000 10000 5000 2'),
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
    ('votes', 'votes',                        '50000 25 1'),
    ('votes', 'votes_by_voter',               '50000 1000'),
    ('facts', 'facts',                        '5000 2 1'),
    ('events', 'events_by_reference',         '5000 2500 5'),
    ('events', 'events_by_time',              '5000 2'),
    ('passages', 'sqlite_autoindex_passages_1', '1000000 500000 1'),
    ('passages', 'passages_by_record',        '1000000 500000 5 1');
