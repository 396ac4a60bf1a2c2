"""Roles of a shared database: one role per kind of user, with exactly the rights it is given (PostgreSQL).

The role that owns the tables can do anything to them; the others are for those who should not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_core.errors import UsageError

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}\Z")

type Rights = Mapping[str, str]
"""What a role may do to each table, such as `SELECT, INSERT`."""


def give(connection: Connection, role: str, rights: Rights) -> bool:
    """Give a role these rights and no other to tables of ours; return whether it was made.

    A new role may log in; how it proves who it is, the server's `pg_hba.conf` says.

    Raises: UsageError `database.role` where a name is none, or no grant would limit the role.
    """
    if not _NAME.match(role):
        raise _unfit(role, "is no name: a letter or _, then letters, digits and _, at most 63")
    made = not _exists(connection, role)
    if made:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
    _refuse_mighty(connection, role)
    schema = str(connection.scalar(sa.text("SELECT quote_ident(current_schema())")))
    for statement in _statements(role, schema, rights):
        connection.exec_driver_sql(statement)
    return made


def holders(connection: Connection, table: str) -> dict[str, set[str]]:
    """Return who was given what to a table, without its owner: the rights of each role by name."""
    rows = connection.execute(
        sa.text(
            "SELECT grantee, privilege_type FROM information_schema.role_table_grants"
            " WHERE table_schema = current_schema() AND table_name = :table AND grantee <> grantor"
        ),
        {"table": table},
    )
    found: dict[str, set[str]] = {}
    for role, right in rows:
        found.setdefault(str(role), set()).add(str(right))
    return found


def _statements(role: str, schema: str, rights: Rights) -> list[str]:
    tables, sequences = (f"ALL {kind} IN SCHEMA {schema}" for kind in ("TABLES", "SEQUENCES"))
    made = [f"GRANT {given} ON {schema}.{table} TO {role}" for table, given in rights.items()]
    if any("INSERT" in given for given in rights.values()):
        made.append(f"GRANT USAGE ON {sequences} TO {role}")
    return [
        f"REVOKE ALL ON {tables} FROM PUBLIC, {role}",
        f"REVOKE ALL ON {sequences} FROM PUBLIC, {role}",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        *made,
    ]


def _exists(connection: Connection, role: str) -> bool:
    query = sa.text("SELECT 1 FROM pg_roles WHERE rolname = :role")
    return connection.scalar(query, {"role": role}) is not None


def _refuse_mighty(connection: Connection, role: str) -> None:
    query = sa.text(
        "SELECT rolsuper, pg_has_role(rolname, current_user, 'MEMBER') FROM pg_roles WHERE rolname = :role"
    )
    mighty, ours = connection.execute(query, {"role": role}).one()
    if mighty:
        raise _unfit(role, "is a superuser, which no grant limits")
    if ours:
        raise _unfit(role, "is the owner of the tables or acts as it, which no grant limits")


def _unfit(role: str, why: str) -> UsageError:
    return UsageError(f"role {role!r}: {why}", code="database.role", hint="choose another role")
