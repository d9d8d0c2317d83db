-- +goose Up

-- How many clients typed a query or reported an address on a day, to five or so:
-- what few did is nobody else's to read. visitors are those of them that typed it on
-- a page.
ALTER TABLE searches ADD COLUMN clients  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN visitors INTEGER NOT NULL DEFAULT 0;
ALTER TABLE csp_reports ADD COLUMN clients INTEGER NOT NULL DEFAULT 0;

-- The queries of a day that are public (catalog.PublicClients), most first.
CREATE INDEX searches_public ON searches (day, count) WHERE clients >= 5;
CREATE INDEX searches_public_zero ON searches (day, zero) WHERE clients >= 5 AND zero > 0;

-- Days had no bound before (catalog.DaySearches, catalog.DayClicks).
DELETE FROM searches WHERE (day, query) IN (SELECT day, query FROM (
    SELECT day, query, ROW_NUMBER() OVER (PARTITION BY day ORDER BY count DESC, query) AS place FROM searches
) AS ranked WHERE place > 5000);
DELETE FROM clicks WHERE (day, query, record, position) IN (SELECT day, query, record, position FROM (
    SELECT day, query, record, position,
        ROW_NUMBER() OVER (PARTITION BY day ORDER BY shown DESC, query, record, position) AS place FROM clicks
) AS ranked WHERE place > 10000);

-- Addresses were kept with their paths, whoever reported them: of those only the
-- scheme stays.
CREATE TEMPORARY TABLE reports AS
SELECT day, directive, count, last_at, CASE
    WHEN instr(blocked_uri, '://') > 0 THEN substr(blocked_uri, 1, instr(blocked_uri, '://') - 1)
    ELSE blocked_uri END AS blocked FROM csp_reports;
DELETE FROM csp_reports;
INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at)
SELECT day, directive, CASE WHEN blocked IN ('inline', 'eval', 'wasm-eval', 'data', 'blob', 'self', 'filesystem', 'about',
    'trusted-types-policy', 'trusted-types-sink', 'unknown', 'http', 'https', 'ws', 'wss', 'file', 'chrome-extension',
    'moz-extension', 'safari-extension', 'safari-web-extension') THEN blocked ELSE 'other' END AS kept,
    SUM(count), MAX(last_at) FROM reports GROUP BY day, directive, kept;
DROP TABLE reports;

-- +goose Down

DROP INDEX searches_public_zero;
DROP INDEX searches_public;
ALTER TABLE searches DROP COLUMN clients;
ALTER TABLE searches DROP COLUMN visitors;
ALTER TABLE csp_reports DROP COLUMN clients;
