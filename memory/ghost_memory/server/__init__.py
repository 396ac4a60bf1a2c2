"""Memory as an MCP server: tools, resources and prompts over one store, on stdio and on loopback HTTP.

What a tool does knows nothing of the SDK; `app` and the transports translate.
"""
