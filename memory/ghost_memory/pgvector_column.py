"""The column in which pgvector sees the vectors of memories, made where the extension is there or may be.

What is stored stays the bytes; the server makes the column from them, whoever writes. So the two never
differ, a process that knows nothing of the column writes it too, and `DROP EXTENSION vector CASCADE` takes
it away and leaves the bytes.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from ghost_core import db

__all__ = ["ready"]

_STATE: Final = sa.text(
    "SELECT quote_ident(s.nspname) AS place, c.attname IS NOT NULL"
    " AND has_schema_privilege(s.oid, 'USAGE') AND has_column_privilege(t.oid, c.attnum, 'SELECT')"
    " AS is_there, c.attname IS NULL AND pg_has_role(t.relowner, 'USAGE') AND (s.oid IS NOT NULL"
    " OR EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')"
    " AND has_database_privilege(current_database(), 'CREATE')) AS may_make"
    " FROM pg_class t LEFT JOIN pg_attribute c"
    " ON c.attrelid = t.oid AND c.attname = 'vector' AND NOT c.attisdropped"
    " LEFT JOIN (pg_extension x JOIN pg_namespace s ON s.oid = x.extnamespace) ON x.extname = 'vector'"
    " WHERE t.oid = to_regclass('memory_embeddings')"
)
# Little-endian float32 in plain SQL, exactly: sign, exponent and fraction of each four bytes. What is no
# vector (another length, a number that is not finite) is NULL and no error, so that its bytes are kept.
_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION ghost_vector(data bytea, dimensions integer) RETURNS {place}.vector
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
  SELECT CAST(numbers AS {place}.vector) FROM (
    SELECT ARRAY(
      SELECT CAST(CASE exponent
          WHEN 255 THEN NULL
          WHEN 0 THEN sign * fraction * power(CAST(2 AS float8), -149)
          ELSE sign * (fraction | 8388608) * power(CAST(2 AS float8), exponent - 150)
        END AS real)
      FROM (
        SELECT CASE WHEN bits < 0 THEN -1 ELSE 1 END AS sign,
          (bits >> 23) & 255 AS exponent, bits & 8388607 AS fraction
        FROM (
          SELECT get_byte(flat, n) | (get_byte(flat, n + 1) << 8)
            | (get_byte(flat, n + 2) << 16) | (get_byte(flat, n + 3) << 24) AS bits
          FROM generate_series(0, octet_length(flat) - 4, 4) n OFFSET 0
        ) words
      ) parts
    ) AS numbers
    FROM (SELECT data || CAST('' AS bytea) AS flat OFFSET 0) given
  ) made
  WHERE octet_length(data) = 4 * dimensions AND dimensions BETWEEN 1 AND 16000
    AND array_position(numbers, NULL) IS NULL
)
"""
# MAIN: the vector stays in its row, where a scan reads it; the bytes beside it move out.
_COLUMN: Final = (
    "ALTER TABLE memory_embeddings ADD COLUMN IF NOT EXISTS vector {place}.vector"
    " GENERATED ALWAYS AS (ghost_vector(embedding, dimensions)) STORED,"
    " ALTER COLUMN vector SET STORAGE MAIN"
)


def ready(engine: Engine) -> str:
    """Return the schema of pgvector, as SQL, where its column can be asked; empty where it cannot.

    Makes extension and column first, where this role may. That reads every vector once, and writers wait.
    Raises as `db.write`.
    """
    with db.read(engine) as connection:
        found = _state(connection)
    if found is not None and found.may_make:
        with db.write(engine) as connection:
            found = _made(connection)
    return str(found.place) if found is not None and found.is_there else ""


def _made(connection: Connection) -> Row[tuple[object, ...]] | None:
    """Make what is missing, unless another process has done so meanwhile."""
    connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
    found = _state(connection)
    if found is not None and found.may_make:
        for statement in (_FUNCTION, _COLUMN):
            connection.exec_driver_sql(statement.format(place=found.place))
    return _state(connection)


def _state(connection: Connection) -> Row[tuple[object, ...]] | None:
    return connection.execute(_STATE).one_or_none()
