-- What is left of payloads that words were erased from. `events.erased` then holds the digest of this text after the
-- payload's own.
CREATE TABLE remains (
    pos     INTEGER PRIMARY KEY,
    payload TEXT NOT NULL
) STRICT;

-- Blobs that were taken out on purpose. `pending`: their files may still be there.
CREATE TABLE gone (
    digest  BLOB    NOT NULL PRIMARY KEY,
    why     INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    pending INTEGER NOT NULL
) STRICT;

-- Sessions that words were erased from while old bytes of them may still lie in the database's file, its log or a copy.
CREATE TABLE erasing (
    session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

DROP TRIGGER events_are_not_changed;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
WHEN NEW.payload IS NOT NULL
  OR (OLD.payload IS NULL AND (length(OLD.erased) = 32 OR substr(NEW.erased, 1, 32) <> substr(OLD.erased, 1, 32)))
  OR NEW.pos <> OLD.pos OR NEW.session <> OLD.session OR NEW.seq <> OLD.seq OR NEW.kind <> OLD.kind
  OR NEW.version <> OLD.version OR NEW.time <> OLD.time OR NEW.epoch <> OLD.epoch OR NEW.turn IS NOT OLD.turn
  OR NEW.step IS NOT OLD.step OR NEW.ignorable <> OLD.ignorable OR NEW.sources IS NOT OLD.sources
  OR NEW.prev_hash <> OLD.prev_hash OR NEW.hash <> OLD.hash
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;
