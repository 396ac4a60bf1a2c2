from __future__ import annotations

import inspect

from ghost_memory.server.catalogue.prompts import PROMPTS
from ghost_memory.server.prompts import RENDERED


def test_every_prompt_is_made_by_a_function_that_takes_what_is_offered() -> None:
    assert list(PROMPTS) == list(RENDERED) == ["recall_project", "record_decision"]
    for name, prompt in PROMPTS.items():
        desk, *taken = inspect.signature(RENDERED[name]).parameters
        assert desk == "desk"
        assert taken == [each.name for each in prompt.parameters]
        assert all(each.required for each in prompt.parameters)
