-- Attached content: small, and written by the transaction of the event that names it. A row comes and goes whole.
CREATE TABLE blobs (
    digest BLOB    NOT NULL PRIMARY KEY,
    time   INTEGER NOT NULL,
    bytes  BLOB    NOT NULL
) STRICT;
