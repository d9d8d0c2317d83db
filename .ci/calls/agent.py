"""Connects the official Python client as a paste for agents says and asks one question.

Usage: agent.py url|command QUERY WANTED [WORD…] <TEXT

TEXT, such as a page, has the paste somewhere: the first {"mcpServers": …} whose server has a url, or a command, which
then begins with the words. WANTED must be in the answer.
"""

import asyncio
import html
import json
import os
import sys

from mcp import Client, StdioServerParameters


def pasted(text, key):
    """The first server of a paste that has a key."""
    text, decoder = html.unescape(text), json.JSONDecoder()
    for at, character in enumerate(text):
        if character != "{":
            continue
        try:
            value, _ = decoder.raw_decode(text, at)
        except ValueError:
            continue
        for server in value.get("mcpServers", {}).values():
            if key in server:
                return server
    sys.exit(f"agent.py: no paste has a {key}")


async def main(key, query, wanted, *words):
    server = pasted(sys.stdin.read(), key)
    if key == "command":
        command, *args = [*words, server["command"], *server.get("args", [])]
        server = StdioServerParameters(command=command, args=args, env=dict(os.environ))
    else:
        server = server["url"]
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        answer = "loading, "
        while "loading, " in answer:  # it takes longer than a call waits
            res = await client.call_tool("search", {"query": query})
            answer = "".join(c.text for c in res.content)
        if res.is_error or wanted not in answer:
            sys.exit(f"agent.py: {query!r} is answered without {wanted!r}: {answer[:300]}")
        print(f"agent.py: {len(tools)} tools; {query!r} is answered by {wanted!r}")


asyncio.run(main(*sys.argv[1:]))
