-- The catalog on PostgreSQL, table by table as in SQLite. Text compares and sorts by
-- bytes, and lower() knows ASCII alone, as it does there. What has no bound is found by
-- hashes: an index in order takes values of at most some 2,700 bytes.

-- +goose Up

-- Whoever writes locks its row first: one transaction at a time.
CREATE TABLE writers (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL
);
INSERT INTO writers (name) VALUES ('catalog');

-- Which process syncs and writes the index, and until when on this server's clock. The
-- epoch grows with each that takes over: writes of an earlier one are refused.
CREATE TABLE leases (
    name       TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    holder     TEXT COLLATE "C" NOT NULL,
    epoch      BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE records (
    id               BIGINT PRIMARY KEY,
    kind             TEXT COLLATE "C" NOT NULL,
    key              TEXT COLLATE "C" NOT NULL,
    key_order        TEXT COLLATE "C" NOT NULL, -- the key in the form keys are sorted by
    title            TEXT COLLATE "C" NOT NULL,
    url              TEXT COLLATE "C" NOT NULL,
    path             TEXT COLLATE "C" NOT NULL,
    source           TEXT COLLATE "C" NOT NULL,
    container        TEXT COLLATE "C" NOT NULL,
    state            TEXT COLLATE "C" NOT NULL,
    category         TEXT COLLATE "C" NOT NULL,
    parent           BIGINT NOT NULL, -- 0: none
    author           TEXT COLLATE "C" NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    last_activity_at BIGINT NOT NULL,
    first_seen_at    BIGINT NOT NULL,
    starts_at        BIGINT NOT NULL,
    ends_at          BIGINT NOT NULL,
    views            BIGINT NOT NULL,
    replies          BIGINT NOT NULL,
    votes            BIGINT NOT NULL,
    hash             TEXT COLLATE "C" NOT NULL,
    deleted_at       BIGINT NOT NULL, -- 0: live
    folded           TEXT COLLATE "C" NOT NULL, -- title, author, category in lower case, a line each
    summary          TEXT COLLATE "C" NOT NULL,
    data             TEXT COLLATE "C" NOT NULL, -- JSON that SQL never looks into; '' for none
    sum              TEXT COLLATE "C" NOT NULL, -- of what the record says
    body             TEXT COLLATE "C" NOT NULL,
    UNIQUE (kind, key)
);
CREATE INDEX records_by_key ON records (kind, key_order) WHERE deleted_at = 0;
CREATE INDEX records_by_state ON records USING hash (lower(state)) WHERE deleted_at = 0;
CREATE INDEX records_by_container ON records USING hash (lower(container)) WHERE deleted_at = 0;
CREATE INDEX records_by_path ON records USING hash (path) WHERE deleted_at = 0 AND path <> '';
CREATE INDEX records_by_author ON records USING hash (author) WHERE deleted_at = 0 AND author <> '';
CREATE INDEX records_by_created ON records (kind, created_at DESC) WHERE deleted_at = 0;
CREATE INDEX records_by_activity ON records (kind, last_activity_at DESC) WHERE deleted_at = 0;
CREATE INDEX records_created ON records (created_at DESC) WHERE deleted_at = 0;
CREATE INDEX records_first_seen ON records (first_seen_at DESC) WHERE deleted_at = 0;
CREATE INDEX records_by_parent ON records (parent, kind, key_order) WHERE deleted_at = 0 AND parent <> 0;
CREATE INDEX records_by_updated ON records (kind, updated_at DESC) WHERE deleted_at = 0;
CREATE INDEX records_unanswered ON records (kind, views DESC)
    WHERE deleted_at = 0 AND parent = 0 AND replies = 0;
CREATE INDEX records_by_body ON records (kind, (CASE WHEN body = '' THEN 0 ELSE 1 END), created_at DESC)
    WHERE deleted_at = 0;
CREATE INDEX records_by_source ON records (source, kind, key);

CREATE TABLE record_tags (
    record BIGINT NOT NULL,
    tag    TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX record_tags_once ON record_tags (record, md5(tag));
CREATE INDEX record_tags_by_tag ON record_tags USING hash (tag);

CREATE TABLE record_aliases (
    record BIGINT NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    kind   TEXT COLLATE "C" NOT NULL, -- of the record
    alias  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record, source, alias)
);
CREATE INDEX record_aliases_by_alias ON record_aliases (kind, alias);

CREATE TABLE links (
    record   BIGINT NOT NULL, -- it leads from
    source   TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    relation TEXT COLLATE "C" NOT NULL,
    to_kind  TEXT COLLATE "C" NOT NULL,
    to_key   TEXT COLLATE "C" NOT NULL,
    snippet  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record, source, position)
);
CREATE INDEX links_by_target ON links (to_kind, to_key);
CREATE INDEX links_by_relation ON links (relation);

CREATE TABLE additions (
    source TEXT COLLATE "C" NOT NULL,
    record BIGINT NOT NULL,
    hash   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (source, record)
);

CREATE TABLE votes (
    record   BIGINT NOT NULL,
    position BIGINT NOT NULL,
    voter    TEXT COLLATE "C" NOT NULL,
    choice   TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    cast_at  BIGINT NOT NULL,
    url      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record, position)
);
CREATE INDEX votes_by_voter ON votes USING hash (lower(voter));

CREATE TABLE events (
    id       BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind     TEXT COLLATE "C" NOT NULL,
    key      TEXT COLLATE "C" NOT NULL,
    field    TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    old      TEXT COLLATE "C" NOT NULL,
    new      TEXT COLLATE "C" NOT NULL,
    raw_old  TEXT COLLATE "C" NOT NULL,
    raw_new  TEXT COLLATE "C" NOT NULL,
    via      TEXT COLLATE "C" NOT NULL,
    revision TEXT COLLATE "C" NOT NULL, -- the commit
    url      TEXT COLLATE "C" NOT NULL,
    subject  TEXT COLLATE "C" NOT NULL,
    source   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX events_by_reference ON events USING hash (key);
CREATE INDEX events_by_time ON events (at);

CREATE TABLE snapshots (
    series      TEXT COLLATE "C" NOT NULL,
    captured_at BIGINT NOT NULL,
    data        TEXT COLLATE "C" NOT NULL, -- JSON
    PRIMARY KEY (series, captured_at)
);

CREATE TABLE sources (
    name         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL,
    last_run     BIGINT NOT NULL,
    last_success BIGINT NOT NULL,
    position     TEXT COLLATE "C" NOT NULL, -- the cursor
    failure      TEXT COLLATE "C" NOT NULL,
    skipped      BIGINT NOT NULL,
    freshness    BIGINT NOT NULL, -- microseconds
    remark       TEXT COLLATE "C" NOT NULL DEFAULT '',
    settings     TEXT COLLATE "C" NOT NULL DEFAULT ''
);

CREATE TABLE requests (
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    argument   TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    done_at    BIGINT NOT NULL, -- 0: not done
    failure    TEXT COLLATE "C" NOT NULL,
    author     TEXT COLLATE "C" NOT NULL DEFAULT '',
    started_at BIGINT NOT NULL DEFAULT 0,
    attempts   BIGINT NOT NULL DEFAULT 0,
    done       BIGINT NOT NULL DEFAULT 0,
    total      BIGINT NOT NULL DEFAULT 0,
    cancelled  BIGINT NOT NULL DEFAULT 0,
    result     TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX requests_open ON requests (id) WHERE done_at = 0;

CREATE TABLE searches (
    day       BIGINT NOT NULL,
    query     TEXT COLLATE "C" NOT NULL, -- normalised
    count     BIGINT NOT NULL,
    zero      BIGINT NOT NULL, -- how many of them found nothing
    last_at   BIGINT NOT NULL,
    corrected BIGINT NOT NULL DEFAULT 0,
    degraded  BIGINT NOT NULL DEFAULT 0,
    took      BIGINT NOT NULL DEFAULT 0,
    longest   BIGINT NOT NULL DEFAULT 0,
    clients   BIGINT NOT NULL DEFAULT 0,
    visitors  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (day, query)
);
CREATE INDEX searches_public_zero ON searches (day, zero) WHERE clients >= 5 AND zero > 0;
CREATE INDEX searches_public ON searches (day, count) WHERE clients >= 5;

CREATE TABLE csp_reports (
    day         BIGINT NOT NULL,
    directive   TEXT COLLATE "C" NOT NULL,
    blocked_uri TEXT COLLATE "C" NOT NULL,
    count       BIGINT NOT NULL,
    last_at     BIGINT NOT NULL,
    clients     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (day, directive, blocked_uri)
);

CREATE TABLE publications (
    id     BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind   TEXT COLLATE "C" NOT NULL,
    name   TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL, -- 0: that of the configuration
    at     BIGINT NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    note   TEXT COLLATE "C" NOT NULL
);
CREATE INDEX publications_by_kind ON publications (kind, id);

CREATE TABLE revisions (
    kind       TEXT COLLATE "C" NOT NULL, -- profile, synonyms, pins
    name       TEXT COLLATE "C" NOT NULL, -- of a profile
    number     BIGINT NOT NULL,
    base       BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    data       TEXT COLLATE "C" NOT NULL, -- YAML
    PRIMARY KEY (kind, name, number)
);

CREATE TABLE generations (
    id          BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    fingerprint TEXT COLLATE "C" NOT NULL UNIQUE,
    checkpoint  BIGINT NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE TABLE passages (
    generation BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    record     BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    anchor     TEXT COLLATE "C" NOT NULL,
    heading    TEXT COLLATE "C" NOT NULL,
    text       TEXT COLLATE "C" NOT NULL,
    section    TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (generation, id)
);
CREATE INDEX passages_by_record ON passages (generation, record, ordinal);

CREATE TABLE changes (
    seq     BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    record  BIGINT NOT NULL UNIQUE,
    deleted BIGINT NOT NULL, -- 1: became a tombstone
    at      BIGINT NOT NULL
);

CREATE TABLE meta (
    name  TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE words (
    generation BIGINT NOT NULL,
    word       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (generation, word)
);

CREATE TABLE documents (
    generation BIGINT NOT NULL,
    record     BIGINT NOT NULL,
    data       BYTEA NOT NULL,
    PRIMARY KEY (generation, record)
);

CREATE TABLE audit (
    id      BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at      BIGINT NOT NULL,
    author  TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    before  TEXT COLLATE "C" NOT NULL,
    after   TEXT COLLATE "C" NOT NULL,
    note    TEXT COLLATE "C" NOT NULL
);

CREATE TABLE cases (
    id          BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    every       BIGINT NOT NULL -- microseconds; 0: never
);

CREATE TABLE case_queries (
    collection BIGINT NOT NULL, -- the case
    query      TEXT COLLATE "C" NOT NULL,
    position   BIGINT NOT NULL,
    text       TEXT COLLATE "C" NOT NULL,
    class      TEXT COLLATE "C" NOT NULL,
    need       TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    revision   BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, query)
);

CREATE TABLE judgments (
    collection BIGINT NOT NULL,
    query      TEXT COLLATE "C" NOT NULL,
    target     TEXT COLLATE "C" NOT NULL, -- path of the judged record, or kind:key
    judge      TEXT COLLATE "C" NOT NULL,
    grade      BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (collection, query, target, judge)
);

CREATE TABLE evaluations (
    id         BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    collection BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    author     TEXT COLLATE "C" NOT NULL,
    profile    TEXT COLLATE "C" NOT NULL,
    revision   BIGINT NOT NULL,
    judges     TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    model      TEXT COLLATE "C" NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    summary    TEXT COLLATE "C" NOT NULL, -- JSON
    data       TEXT COLLATE "C" NOT NULL -- JSON
);
CREATE INDEX evaluations_by_case ON evaluations (collection, id);

CREATE TABLE clicks (
    day      BIGINT NOT NULL,
    query    TEXT COLLATE "C" NOT NULL, -- normalised
    record   BIGINT NOT NULL,
    position BIGINT NOT NULL, -- from 1
    shown    BIGINT NOT NULL, -- how often it was shown there
    clicked  BIGINT NOT NULL,
    PRIMARY KEY (day, query, record, position)
);

CREATE TABLE shadows (
    day       BIGINT NOT NULL,
    live      TEXT COLLATE "C" NOT NULL, -- what was in force
    candidate TEXT COLLATE "C" NOT NULL,
    query     TEXT COLLATE "C" NOT NULL, -- normalised
    count     BIGINT NOT NULL,
    jaccard   DOUBLE PRECISION NOT NULL, -- sums
    rbo       DOUBLE PRECISION NOT NULL,
    was       TEXT COLLATE "C" NOT NULL, -- JSON: records of the last search
    would     TEXT COLLATE "C" NOT NULL, -- and as the candidate ranks
    last_at   BIGINT NOT NULL,
    PRIMARY KEY (day, live, candidate, query)
);
CREATE INDEX shadows_by_age ON shadows (last_at);

CREATE TABLE foreign_sources (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL
);

CREATE TABLE facts (
    record BIGINT NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    facts  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (record, source)
);

-- Which generation of the index each process serves that reads it, so that the one that
-- writes it drops the generation before when nobody does any more. Times are those of
-- this server's clock.
CREATE TABLE readers (
    id         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    generation BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

-- The schema that a program must know at least to go on beside newer ones.
INSERT INTO meta (name, value) VALUES ('schema.oldest', '1');
