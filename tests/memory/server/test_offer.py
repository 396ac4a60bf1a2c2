from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.offer import Tool


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_the_function_of_a_tool_takes_exactly_what_is_offered(tool: Tool) -> None:
    desk, *taken = inspect.signature(tool.load()).parameters.values()
    assert desk.name == "desk"
    assert {each.name for each in taken} == {each.name for each in tool.parameters}
    assert all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in taken)


def test_listing_what_is_offered_loads_nothing_of_the_store() -> None:
    program = (
        "import json, sys\n"
        "from ghost_memory.server.catalogue import prompts, resources, tools\n"
        "from ghost_memory.server.parameters import schema\n"
        "[schema(each.parameters) for each in tools.TOOLS.values()]\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert {"sqlalchemy", "sqlmodel", "numpy", "mcp", "pydantic"} & loaded == set()
