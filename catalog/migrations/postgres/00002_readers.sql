-- Which generation of the index each process serves that reads it, so that the one that
-- writes it drops the generation before when nobody does any more. Times are those of
-- this server's clock.

-- +goose Up

CREATE TABLE readers (
    id         TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    generation BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

-- The schema that a program must know at least to go on beside newer ones.
INSERT INTO meta (name, value) VALUES ('schema.oldest', '1');

-- +goose Down

DELETE FROM meta WHERE name = 'schema.oldest';
DROP TABLE readers;
