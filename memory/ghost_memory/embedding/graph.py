"""Writes a model in the ONNX format, as far as one needs it: nodes, constants, one input, one output.

The format is protocol buffers of the schema `onnx.proto` (numbers of fields are from there). Writing them
takes a page; the package that does it in general is larger than the model.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Graph"]

type Array = npt.NDArray[Any]

OPSET: Final = 17  # the first with LayerNormalization
IR_VERSION: Final = 8
_FLOAT, _INT, _INTS = 1, 2, 7  # kinds of attributes
_TYPES: Final = {np.dtype(np.float32): 1, np.dtype(np.int8): 3, np.dtype(np.int64): 7}


class Graph:
    """A graph that is written node by node; each method returns the name of what it adds."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}

    def constant(self, name: str, values: Array) -> str:
        """Add numbers that are part of the model; float32, int8 or int64."""
        parts = [_number(1, size) for size in values.shape]
        parts += [_number(2, _TYPES[values.dtype]), _text(8, name), _bytes(9, values.tobytes())]
        self._constants[name] = b"".join(parts)
        return name

    def add(self, operator: str, *inputs: str, **attributes: float | list[int]) -> str:
        """Add a node with one output."""
        return self.add_many(operator, 1, *inputs, **attributes)[0]

    def add_many(
        self, operator: str, outputs: int, *inputs: str, **attributes: float | list[int]
    ) -> list[str]:
        """Add a node with several outputs."""
        made = [f"{operator}_{len(self._nodes)}_{number}" for number in range(outputs)]
        parts = [_text(1, each) for each in inputs]
        parts += [_text(2, each) for each in made]
        parts += [_text(4, operator)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(b"".join(parts))
        return made

    def model(self, *, takes: str, gives: str, size: int) -> bytes:
        """Return the file: it takes a row of numbers of pieces and gives a row of `size` numbers."""
        parts = [_bytes(1, node) for node in self._nodes]
        parts += [_text(2, "ghost")]
        parts += [_bytes(5, constant) for constant in self._constants.values()]
        parts += [_bytes(11, _value(takes, np.dtype(np.int64), _text(2, "pieces")))]
        parts += [_bytes(12, _value(gives, np.dtype(np.float32), _number(1, size)))]
        opset = _number(2, OPSET)
        return b"".join([_number(1, IR_VERSION), _bytes(7, b"".join(parts)), _bytes(8, opset)])


def _value(name: str, kind: np.dtype[Any], dimension: bytes) -> bytes:
    shape = _bytes(1, dimension)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, _TYPES[kind]) + _bytes(2, shape)))


def _attribute(name: str, value: float | list[int]) -> bytes:
    if isinstance(value, list):
        return _text(1, name) + b"".join(_number(8, each) for each in value) + _number(20, _INTS)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INT)
    exact = np.float32(value).tobytes()
    return _text(1, name) + _varint(2 << 3 | 5) + exact + _number(20, _FLOAT)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value % 2**64)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
