"""Lists that are read page by page, and how many rows the whole list has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ghost_memory.limits import limit_of, offset_of

__all__ = ["Listing"]


@dataclass(frozen=True, slots=True)
class Listing:
    """The rows of a table as they are listed; `size` is that of a page where nobody names one."""

    table: str
    columns: str
    order: str
    size: int

    def page(
        self,
        connection: Connection,
        where: str,
        values: Mapping[str, object],
        *,
        limit: int,
        offset: int,
    ) -> tuple[Sequence[sa.RowMapping], int]:
        """Return a page of the rows that fulfil a condition of ours, and how many there are of them.

        A list among the values is meant for an `IN`.
        """
        bounds = {"limit": limit_of(limit, self.size), "offset": offset_of(offset)}
        lists = [
            sa.bindparam(name, expanding=True, type_=sa.Text())
            for name, value in values.items()
            if isinstance(value, list)
        ]
        rows = sa.text(
            f"SELECT {self.columns} FROM {self.table} WHERE {where}"
            f" ORDER BY {self.order} LIMIT :limit OFFSET :offset"
        ).bindparams(*lists)
        total = sa.text(f"SELECT count(*) FROM {self.table} WHERE {where}").bindparams(*lists)
        counted = connection.execute(total, values).scalar_one()
        return connection.execute(rows, {**values, **bounds}).mappings().all(), int(counted)
