"""Rows between folds and Postgres: JSON out through one parameter, typed dataclasses back in.

A projection cannot hold U+0000 (jsonb and text refuse it); it shows U+FFFD there, the journal keeps the original bytes.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import orjson

from domain.contracts.payloads import is_list, is_object
from domain.journal.rows import RowKey, Table


def encode(rows: Iterable[tuple[Table, Any]]) -> str:
    """`{"table": [row, ...]}` as JSON text for `projection.write`."""
    tables: dict[str, list[Any]] = {}
    for table, row in rows:
        tables.setdefault(table.name, []).append(row)
    text = orjson.dumps(tables)
    if b"\\u0000" in text:
        text = orjson.dumps(_without_nul(orjson.loads(text)))
    return text.decode()


def encode_reads(reads: Iterable[tuple[Table, RowKey, int]]) -> str:
    """`{"table": [{key..., "version": n}]}` as JSON text for `projection.stale`."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for table, key, version in reads:
        tables.setdefault(table.name, []).append({**dict(zip(table.key, key, strict=True)), "version": version})
    return orjson.dumps(tables).decode()


@lru_cache(maxsize=64)
def select(table: Table) -> bytes:
    """The statement that reads aggregates of `table` by their keys: parameters are the project and one array per key column."""
    hints = typing.get_type_hints(table.row)
    arrays = ", ".join(f"%s::{'bigint' if hints[column] is int else 'text'}[]" for column in table.key)
    match = " AND ".join(f"t.{column} = k.{column}" for column in table.key)
    columns = ", ".join(f"t.{column}" for column in table.columns)
    # OFFSET 0 keeps this one index probe for each key whatever the statistics say of the table
    statement = (
        f"SELECT t.* FROM unnest({arrays}) AS k({', '.join(table.key)}) CROSS JOIN LATERAL "
        f"(SELECT {columns} FROM projection.{table.name} t WHERE t.project_id = %s AND {match} OFFSET 0) AS t"
    )
    return statement.encode()


def decode(table: Table, record: Sequence[Any]) -> Any:
    """The dataclass of one database record in column order."""
    return table.row(*(convert(value) for convert, value in zip(_converters(table), record, strict=True)))


@lru_cache(maxsize=64)
def _converters(table: Table) -> tuple[Callable[[Any], Any], ...]:
    hints = typing.get_type_hints(table.row)
    return tuple(_to_tuple if _is_tuple(hints[item.name]) else _as_is for item in fields(table.row))


def _is_tuple(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_is_tuple(part) for part in typing.get_args(hint))
    return origin is tuple


def _to_tuple(value: Any) -> Any:
    return None if value is None else tuple(value)


def _as_is(value: Any) -> Any:
    return value


def _without_nul(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd")
    if is_list(value):
        return [_without_nul(item) for item in value]
    if is_object(value):
        return {str(_without_nul(key)): _without_nul(item) for key, item in value.items()}
    return value
