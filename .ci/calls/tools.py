"""Calls every tool of a server with the official Python client, which validates the answers.

Usage: tools.py URL FEWEST

FEWEST is 0 where a network lacks some kinds of records: the tools that take an id of theirs are then not called, and
those that take nothing may return an error.
"""

import asyncio
import sys

from mcp import Client

# What a required argument is by its name, where it means the same for every tool.
NAMED = {
    "query": lambda a: a.proposal["title"],
    "days": lambda a: 30,
    "pattern": lambda a: a.proposal["title"],
    "description": lambda a: a.proposal["title"],
    "feature": lambda a: a.proposal["title"],
    "cip_id": lambda a: a.proposal["id"],
    "cip_number": lambda a: a.proposal["id"],
}

# The arguments of single tools. A proposal is also found by its label, and a list by the network's own status words.
OF_TOOL = {
    "list_cips": lambda a: {"status": a.proposal["status_raw"]},
    "get_cip": lambda a: {"id": a.proposal["label"]},
    "get_cip_history": lambda a: {"id": a.proposal["id"]},
    "get_cip_attachments": lambda a: {"id": a.proposal["id"]},
    "get_cip_mentions": lambda a: {"id": a.proposal["id"]},
    "get_discussion": lambda a: {"id": a.hits["discussion"]["id"]},
    "get_doc": lambda a: {"id": a.hits["doc"]["id"]},
    "get_governance_vote": lambda a: {"tracking_cid": a.listed("list_governance_votes")["id"]},
    "get_app_metrics": lambda a: {"app_id": a.listed("list_featured_apps")["id"]},
    "check_deprecation": lambda a: {"name": a.listed("list_deprecations")["title"]},
    "get_faq": lambda a: {"question": a.proposal["title"]},
    "get_api_reference": lambda a: {"api": a.listed("api_reference")["title"]},
    "get_started_guide": lambda a: {"background": a.listed("onboarding")["title"]},
    "get_whitepaper": lambda a: {"slug": a.listed("list_whitepapers")["slug"]},
    "get_video": lambda a: {"id": a.listed("list_videos")["id"]},
    "get_mailing_thread": lambda a: {"id": a.listed("list_mailing_threads")["id"]},
    "get_forge_discussion": lambda a: {"id": a.listed("list_forge_discussions")["id"]},
}


class Answers:
    """What arguments are taken from."""

    def __init__(self, proposal):
        self.proposal = proposal  # of list_cips
        self.hits = {}  # the first result of search by search type
        self.said = {}  # answers by tool; lists come before what reads their items

    def listed(self, tool):
        return self.said[tool]["items"][0]

    def arguments(self, tool):
        if tool.name in OF_TOOL:
            return OF_TOOL[tool.name](self)
        return {name: NAMED[name](self) for name in tool.input_schema.get("required", [])}


class Failure(Exception):
    pass


async def call(client, tool, arguments):
    if tool.output_schema is None:
        raise RuntimeError("no output schema")
    result = await client.call_tool(tool.name, arguments)
    if result.is_error:
        raise Failure(f"{arguments}: {result.content[0].text}")
    return result.structured_content


async def every_tool(client, tools, fewest):
    """Calls the tools and yields what is wrong."""
    search = tools["search"]
    answers = Answers((await call(client, tools["list_cips"], {}))["items"][0])
    types = search.input_schema["properties"]["type"]["enum"]
    for kind in types:
        found = await call(client, search, {"query": answers.proposal["title"], "type": kind})
        if found["items"]:
            answers.hits[kind] = found["items"][0]
    for kind in ("api_reference", "onboarding"):  # no list has them
        answers.said[kind] = await call(client, search, {"query": f"api start kind:{kind}"})
    for tool in tools.values():
        try:
            arguments = answers.arguments(tool)
        except IndexError:
            if fewest:
                yield f"{tool.name}: the list that its argument is taken from is empty"
            continue
        except KeyError as missing:
            if missing.args[0] not in types:
                yield f"{tool.name}: no value for the argument {missing}: add one to {__file__}"
            elif fewest:
                yield f"{tool.name}: search has no result of the type {missing}"
            continue
        try:
            answers.said[tool.name] = await call(client, tool, arguments)
        except Failure as e:
            if fewest or arguments:
                yield f"{tool.name}: {e}"
        except RuntimeError as e:  # not as the output schema says
            yield f"{tool.name}: {e}"


async def main(url, fewest):
    async with Client(url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        wrong = [text async for text in every_tool(client, tools, fewest)]
    for text in wrong:
        print("mcp:", text, file=sys.stderr)
    print(f"mcp: {len(tools)} tools, {len(wrong)} failures")
    return bool(wrong)


sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]))))
