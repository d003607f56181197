DROP TABLE IF EXISTS sessions;
DROP TABLE IF EXISTS needs_you;
DROP TABLE IF EXISTS spent;

CREATE TABLE sessions (
    session  TEXT PRIMARY KEY,
    events   INTEGER NOT NULL,
    head     BLOB    NOT NULL,
    last_pos INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    folder   TEXT    NOT NULL,
    root     TEXT    NOT NULL,
    title    TEXT    NOT NULL,
    mode     TEXT    NOT NULL,
    provider TEXT,
    model    TEXT,
    tour     INTEGER NOT NULL,
    activity TEXT    NOT NULL,
    waiting  INTEGER NOT NULL,
    turns    INTEGER NOT NULL,
    calls    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE needs_you (
    session TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    kind    TEXT    NOT NULL,
    call    TEXT    NOT NULL,
    pos     INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    since   INTEGER NOT NULL,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

-- What attempts of a session cost in a quarter of an hour, and how much more was allowed for its day.
CREATE TABLE spent (
    slot      INTEGER NOT NULL,
    session   TEXT    NOT NULL,
    micros    INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    unknown   INTEGER NOT NULL,
    raised    INTEGER NOT NULL,
    PRIMARY KEY (slot, session)
) STRICT, WITHOUT ROWID;
