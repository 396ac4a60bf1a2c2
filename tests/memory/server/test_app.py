"""The official client against the server in this process, in both eras."""

from __future__ import annotations

from typing import Any

import anyio
import jsonschema
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from ghost_core.version import __version__
from ghost_memory.server.app import VERSIONS, build
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.service import Service
from support.mcp import ERAS, in_memory
from support.memory import Store

NAMES = list(TOOLS)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_each_era_lists_everything(service: Service, era: str) -> None:
    async def work(client: Client) -> tuple[Any, ...]:
        return (
            client.protocol_version,
            await client.list_tools(),
            await client.list_resources(),
            await client.list_resource_templates(),
            await client.list_prompts(),
        )

    version, tools, resources, templates, prompts = in_memory(build(service), era, work)
    assert version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
    assert [each.name for each in tools.tools] == NAMES
    assert [each.uri for each in resources.resources] == ["ghost://memories/global"]
    assert [each.uri_template for each in templates.resource_templates] == [
        "ghost://project/{project_id}/context",
        "ghost://project/{project_id}/decisions",
        "ghost://project/{project_id}/tasks",
    ]
    assert [each.name for each in prompts.prompts] == ["recall_project", "record_decision"]


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_promises_what_the_origin_promised(service: Service, era: str) -> None:
    tools = in_memory(build(service), era, lambda client: client.list_tools()).tools
    promised = {}
    for tool in tools:
        hints = tool.annotations
        assert hints is not None
        assert hints.title == tool.title
        assert hints.open_world_hint is False
        marks = "R" if hints.read_only_hint else "D" if hints.destructive_hint else "d"
        promised[tool.name] = marks + ("I" if hints.idempotent_hint and marks != "R" else "")
    assert promised == {
        "ghost_memory_search": "R",
        "ghost_memory_save": "dI",
        "ghost_project_context": "R",
        "ghost_memories_list": "R",
        "ghost_memory_delete": "D",
        "ghost_memory_update": "dI",
        "ghost_memory_promote": "d",
        "ghost_search_all": "R",
        "ghost_save_global": "dI",
        "ghost_memory_pin": "dI",
        "ghost_task_create": "d",
        "ghost_task_list": "R",
        "ghost_task_update": "dI",
        "ghost_task_complete": "dI",
        "ghost_decision_record": "d",
        "ghost_decisions_list": "R",
        "ghost_resolve": "d",
        "ghost_project_delete": "D",
        "ghost_list_projects": "R",
        "ghost_health": "R",
    }


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_answers_in_the_shape_that_it_promised(service: Service, era: str) -> None:
    async def work(client: Client) -> set[str]:
        called: set[str] = set()

        async def call(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            shape = dict(TOOLS[tool].data)
            jsonschema.validate(result.structured_content, shape)
            called.add(tool)
            return result.structured_content

        here = {"project_id": "app"}
        one = (await call("ghost_memory_save", **here, content="the port is 8402"))["id"]
        two = (await call("ghost_memory_save", **here, content="RESOLVED: a flake"))["id"]
        await call("ghost_save_global", content="be brief")
        await call("ghost_memory_search", **here, query="port")
        await call("ghost_search_all", query="port")
        await call("ghost_memories_list", **here, category="fact", limit=2)
        await call("ghost_project_context", **here)
        await call("ghost_memory_update", **here, memory_id=one, importance=0.9)
        await call("ghost_memory_pin", **here, memory_id=one, pinned=True)
        await call("ghost_memory_promote", **here, memory_id=one)
        await projects_and_work(call, here)
        await call("ghost_memory_delete", **here, memory_id=two)
        await call("ghost_project_delete", project="app", apply=True)
        return called

    assert in_memory(build(service), era, work) == set(NAMES)


async def projects_and_work(call: Any, here: dict[str, str]) -> None:
    task = (await call("ghost_task_create", **here, title="t", description="d"))["id"]
    await call("ghost_task_list", **here)
    await call("ghost_task_update", task_id=task, status="active")
    await call("ghost_task_complete", task_id=task, notes="n")
    decision = {"title": "t", "decision": "d", "rationale": "r", "alternatives": ["a"]}
    await call("ghost_decision_record", **here, **decision)
    await call("ghost_decisions_list", **here)
    await call("ghost_resolve", project="app", apply=True)
    await call("ghost_list_projects")
    await call("ghost_health")


@pytest.mark.parametrize("era", ERAS)
def test_every_resource_and_prompt_answers(service: Service, era: str) -> None:
    here = {"project_id": "app"}

    async def work(client: Client) -> None:
        await client.call_tool("ghost_memory_save", {**here, "content": "the port is 8402"})
        for uri in (
            "ghost://project/app/context",
            "ghost://project/app/decisions",
            "ghost://project/app/tasks",
            "ghost://memories/global",
        ):
            (contents,) = (await client.read_resource(uri)).contents
            assert isinstance(contents, types.TextResourceContents)
            assert contents.mime_type == "text/plain"
            assert contents.text
        prompts = {"recall_project": here, "record_decision": {**here, "topic": "queue"}}
        for name, arguments in prompts.items():
            (message,) = (await client.get_prompt(name, arguments)).messages
            assert message.role == "user"
            assert isinstance(message.content, types.TextContent)

    in_memory(build(service), era, work)


@pytest.mark.parametrize("era", ERAS)
def test_a_refused_call_is_a_result_that_the_model_can_read(service: Service, era: str) -> None:
    result = in_memory(
        build(service), era, lambda client: client.call_tool("ghost_memory_search", {"query": "x"})
    )
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    assert content.text == "project_id: expected a text, found nothing"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.call_tool("ghost_nothing", {}),
        lambda client: client.read_resource("ghost://project/nowhere/context"),
        lambda client: client.read_resource("file:///etc/passwd"),
        lambda client: client.get_prompt("nothing"),
        lambda client: client.get_prompt("recall_project", {"project_id": "nowhere"}),
    ],
)
def test_what_does_not_exist_is_an_error_of_the_protocol(
    service: Service, era: str, ask: Any
) -> None:
    async def work(client: Client) -> int:
        with pytest.raises(MCPError) as raised:
            await ask(client)
        return raised.value.error.code

    assert in_memory(build(service), era, work) == types.INVALID_PARAMS


def test_the_caller_is_the_client_program_by_name_and_version(
    service: Service, memory: Store
) -> None:
    session = "gh_" + "0" * 32
    server = build(service, session=session)
    for era in ERAS:

        async def work(client: Client, era: str = era) -> None:
            await client.call_tool("ghost_memory_save", {"project_id": "app", "content": era})

        in_memory(server, era, work)
    saves = [each for each in memory.changes() if each["change"] == "memory.saved"]
    assert len(saves) == 2
    for entry in saves:
        assert entry["by"] == "mcp"
        assert entry["host"].startswith("mcp")
        assert entry["session"] == session


def test_discover_lists_what_works_and_who_answers(service: Service) -> None:
    async def work(client: Client) -> Any:
        return await client.session.discover()

    found = in_memory(build(service), "auto", work)
    assert found.supported_versions == list(VERSIONS)
    assert found.supported_versions[0] == "2026-07-28"
    assert "2025-11-25" in found.supported_versions
    assert "never an instruction" in found.instructions
    assert found.capabilities.resources.subscribe is True


def test_results_that_may_be_kept_say_that_they_are_private_and_stale(service: Service) -> None:
    async def work(client: Client) -> Any:
        await client.call_tool("ghost_memory_save", {"project_id": "app", "content": "x"})
        return await client.read_resource("ghost://project/app/context")

    found = in_memory(build(service), "auto", work)
    assert (found.cache_scope, found.ttl_ms) == ("private", 0)


def test_the_server_has_the_version_of_the_product(service: Service) -> None:
    async def work(client: Client) -> Any:
        return client.server_info

    info = in_memory(build(service), "legacy", work)
    assert (info.name, info.version) == ("ghost", __version__)


@pytest.mark.filterwarnings("ignore:resources/")  # the client warns that 2026-07-28 has none
def test_a_subscriber_of_the_handshake_hears_of_every_write(
    service: Service, memory: Store
) -> None:
    heard: list[str] = []

    async def run() -> None:
        async def handler(message: Any) -> None:
            if isinstance(message, types.ResourceUpdatedNotification):
                heard.append(str(message.params.uri))

        with anyio.fail_after(20):
            async with Client(build(service), mode="legacy", message_handler=handler) as client:
                await client.call_tool(
                    "ghost_memory_save", {"project_id": "my app", "content": "x"}
                )
                memory.clock.pass_seconds(1)
                await client.subscribe_resource("ghost://project/my%20app/context")
                await client.subscribe_resource("ghost://project/my%20app/tasks")
                await client.call_tool(
                    "ghost_memory_save", {"project_id": "my app", "content": "y"}
                )
                await client.call_tool("ghost_project_delete", {"project": "my app", "apply": True})
                await client.unsubscribe_resource("ghost://project/my%20app/context")
                await client.call_tool(
                    "ghost_memory_save", {"project_id": "my app", "content": "z"}
                )
                with pytest.raises(MCPError):
                    await client.subscribe_resource("file:///etc/passwd")

    anyio.run(run)
    context, tasks = "ghost://project/my%20app/context", "ghost://project/my%20app/tasks"
    assert heard == [context, context, tasks, tasks]  # it was deleted, and is there again


def test_a_listener_of_2026_hears_of_every_write(service: Service) -> None:
    heard: list[str] = []

    async def run() -> None:
        with anyio.fail_after(20):
            async with Client(build(service), mode="auto") as client:
                uris = ["ghost://project/app/context", "ghost://memories/global"]
                async with client.listen(resource_subscriptions=uris) as events:
                    await client.call_tool(
                        "ghost_memory_save", {"project_id": "app", "content": "x"}
                    )
                    heard.append((await anext(events)).uri)
                    await client.call_tool("ghost_save_global", {"content": "y"})
                    heard.extend([(await anext(events)).uri, (await anext(events)).uri])

    anyio.run(run)
    assert heard[0] == "ghost://project/app/context"
    assert set(heard[1:]) == {"ghost://memories/global", "ghost://project/app/context"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("uri", ["ghost://project/nowhere/context", "test://none"])
def test_a_resource_that_does_not_exist_is_named_in_the_error(
    service: Service, era: str, uri: str
) -> None:
    async def work(client: Client) -> Any:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return caught.value.error

    error = in_memory(build(service), era, work)
    assert (error.code, error.data) == (-32602, {"uri": uri})
