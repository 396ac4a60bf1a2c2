"""The SDK's server over our service: what is offered in its types, and who hears of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from ghost_core.version import __version__
from ghost_memory.server.announcer import Announcer
from ghost_memory.server.catalogue.prompts import PROMPTS
from ghost_memory.server.catalogue.resources import FIXED, TEMPLATES
from ghost_memory.server.catalogue.tools import TOOLS
from ghost_memory.server.instructions import INSTRUCTIONS
from ghost_memory.server.offer import Prompt, Tool
from ghost_memory.server.parameters import schema
from ghost_memory.server.service import Caller, Failure, Service

__all__ = ["build"]

NAME: Final = "ghost"
TEXT: Final = "text/plain"
VERSIONS: Final = (*reversed(MODERN_PROTOCOL_VERSIONS), *reversed(HANDSHAKE_PROTOCOL_VERSIONS))

type Context = ServerRequestContext[Any, Any]
type Page = types.PaginatedRequestParams | None


def build(service: Service, *, session: str = "") -> Server[Any]:
    """Return a server for any number of clients; `session` is the ghost session in which all run."""
    announcer = Announcer(service)
    handlers = _Handlers(service, session, announcer)
    server: Server[Any] = Server(
        NAME,
        lifespan=announcer.lifespan,
        version=__version__,
        title="Ghost memory",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscribe_resource=announcer.subscribe,
        on_unsubscribe_resource=announcer.unsubscribe,
        on_subscriptions_listen=announcer.listen,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    server.add_request_handler("server/discover", types.RequestParams, partial(_discover, server))
    return server


async def _discover(
    server: Server[Any], context: Context, _params: types.RequestParams
) -> types.DiscoverResult:
    """Name every version that works here, the handshake's too."""
    return types.DiscoverResult(
        supported_versions=list(VERSIONS),
        capabilities=server.get_capabilities(protocol_version=context.protocol_version),
        instructions=INSTRUCTIONS,
    )


class _Handlers:
    """What answers each method; the work is done in threads, the loop stays free."""

    def __init__(self, service: Service, session: str, announcer: Announcer) -> None:
        self._service = service
        self._session = session
        self._announcer = announcer

    async def list_tools(self, _context: Context, _params: Page) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each) for each in TOOLS.values()])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        caller = self._caller(context)
        try:
            call = partial(self._service.call, params.name, params.arguments or {}, caller)
            answer = await anyio.to_thread.run_sync(call)
        except Failure as failure:
            raise MCPError(types.INVALID_PARAMS, failure.text) from failure
        if not TOOLS[params.name].reads:
            await self._announcer.tell()
        content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
        data = None if answer.failed else dict(answer.data)
        return types.CallToolResult(
            content=content, structured_content=data, is_error=answer.failed
        )

    async def list_resources(self, _context: Context, _params: Page) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    title=each.title,
                    description=each.about,
                    mime_type=TEXT,
                )
                for each in FIXED
            ]
        )

    async def list_templates(
        self, _context: Context, _params: Page
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.uri,
                    name=each.name,
                    title=each.title,
                    description=each.about,
                    mime_type=TEXT,
                )
                for each in TEMPLATES
            ]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._told(partial(self._service.read, uri, self._caller(context)), uri=uri)
        contents = types.TextResourceContents(uri=uri, text=text, mime_type=TEXT)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, _context: Context, _params: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(each) for each in PROMPTS.values()])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        render = partial(
            self._service.prompt, params.name, params.arguments or {}, self._caller(context)
        )
        text = await self._told(render)
        message = types.PromptMessage(
            role="user", content=types.TextContent(type="text", text=text)
        )
        return types.GetPromptResult(description=PROMPTS[params.name].about, messages=[message])

    async def _told(self, work: partial[str], **asked: str) -> str:
        """Return a text, or raise what went wrong with what was asked for."""
        try:
            return await anyio.to_thread.run_sync(work)
        except Failure as failure:
            code = types.INVALID_PARAMS if failure.missing else types.INTERNAL_ERROR
            raise MCPError(code, failure.text, asked or None) from failure

    def _caller(self, context: Context) -> Caller:
        known = context.session.client_params
        info = known.client_info if known is not None else None
        return Caller.of(info.name if info else "", info.version if info else "", self._session)


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=schema(tool.parameters),
        output_schema=dict(tool.data),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats or tool.reads,
            open_world_hint=False,
        ),
    )


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments: Sequence[Mapping[str, object]] = [
        {"name": each.name, "description": each.about, "required": each.required}
        for each in prompt.parameters
    ]
    return types.Prompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.about,
        arguments=[types.PromptArgument.model_validate(each) for each in arguments],
    )
