-- Ground truth. Rows are never changed or deleted; only a payload can be erased, and then its digest takes its place.
CREATE TABLE events (
    pos       INTEGER PRIMARY KEY,
    session   TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    version   INTEGER NOT NULL,
    time      INTEGER NOT NULL,
    epoch     INTEGER NOT NULL,
    turn      TEXT,
    step      TEXT,
    ignorable INTEGER NOT NULL,
    sources   BLOB,
    prev_hash BLOB    NOT NULL,
    hash      BLOB    NOT NULL,
    payload   TEXT,
    erased    BLOB,
    UNIQUE (session, seq),
    CHECK ((payload IS NULL) <> (erased IS NULL))
) STRICT;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never deleted');
END;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
WHEN NEW.payload IS NOT NULL OR OLD.payload IS NULL
  OR NEW.pos <> OLD.pos OR NEW.session <> OLD.session OR NEW.seq <> OLD.seq OR NEW.kind <> OLD.kind
  OR NEW.version <> OLD.version OR NEW.time <> OLD.time OR NEW.epoch <> OLD.epoch OR NEW.turn IS NOT OLD.turn
  OR NEW.step IS NOT OLD.step OR NEW.ignorable <> OLD.ignorable OR NEW.sources IS NOT OLD.sources
  OR NEW.prev_hash <> OLD.prev_hash OR NEW.hash <> OLD.hash
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

-- Not of any session: the writer's epoch, the projections' version, what a person set on this machine.
CREATE TABLE facts_of_store (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE folders (
    folder    TEXT PRIMARY KEY,
    path      TEXT    NOT NULL UNIQUE,
    last_used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO facts_of_store (name, value) VALUES ('epoch', 0), ('projections', 0);

-- Folded states, disposable.
CREATE TABLE snapshots (
    session TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    head    BLOB    NOT NULL,
    digest  BLOB    NOT NULL,
    state   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
