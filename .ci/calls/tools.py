"""Calls every tool of a server with the official Python client, which validates the answers.

Usage: tools.py URL FEWEST WALK

WALK is the table of arguments (.ci/calls/walk.json). FEWEST is 0 where a network lacks some kinds of records: the tools that
take an id of theirs are then not called.
"""

import asyncio
import json
import sys

from mcp import Client


class Failure(Exception):
    pass


def at(value, path):
    """The values that a path names; * stands for every index."""
    if not path:
        return [value]
    head, _, rest = path.partition(".")
    if isinstance(value, dict):
        return at(value.get(head), rest)
    if isinstance(value, list):
        return [v for i, e in enumerate(value) if head in ("*", str(i)) for v in at(e, rest)]
    return []


class Walk:
    """Calls of tools whose arguments are taken from answers of others."""

    def __init__(self, client, tools, rows):
        self.client, self.tools, self.rows, self.answers = client, tools, rows, {}

    async def answer(self, row):
        """A full answer of a row, else its last one, else None if there are no arguments to ask with."""
        if row not in self.answers:
            self.answers[row] = None
            spec = self.rows[row]
            for arguments in await self.arguments(spec.get("args", {})):
                self.answers[row] = await self.call(spec.get("call", row), arguments)
                if any(at(self.answers[row], spec.get("full", "items"))):
                    break
        return self.answers[row]

    async def arguments(self, spec):
        ways = [{}]
        for name, value in spec.items():
            if isinstance(value, str) and value.startswith("<"):
                row, _, path = value.strip("<>").partition(" ")
                values = at(await self.answer(row), path)
            else:
                values = [value]
            ways = [way | {name: v} for v in values for way in ways]
        return ways

    async def call(self, name, arguments):
        tool = self.tools[name]
        if tool.output_schema is None:
            raise Failure("no output schema")
        try:
            result = await self.client.call_tool(name, arguments)
        except RuntimeError as e:  # not as the output schema says
            raise Failure(f"{arguments}: {e}") from e
        if result.is_error:
            raise Failure(f"{arguments}: {result.content[0].text}")
        return result.structured_content


async def every_tool(walk, fewest):
    """Calls the tools and yields what is wrong."""
    for name in walk.tools:
        if name not in walk.rows:
            yield f"{name}: the table of arguments has no row for it"
            continue
        try:
            if await walk.answer(name) is None and fewest:
                yield f"{name}: the answers that its arguments are taken from are empty"
        except Failure as e:
            yield f"{name}: {e}"


async def main(url, fewest, table):
    with open(table, encoding="utf-8") as file:
        rows = json.load(file)
    async with Client(url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        wrong = [text async for text in every_tool(Walk(client, tools, rows), fewest)]
    for text in wrong:
        print("mcp:", text, file=sys.stderr)
    print(f"mcp: {len(tools)} tools, {len(wrong)} failures")
    return bool(wrong)


sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
