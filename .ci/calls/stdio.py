"""Calls a tool over stdio as the first thing a process is asked, with the official Python client; again if the process
takes longer to load than a call waits.

Usage: stdio.py BIN DATA
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(binary, data):
    for state in ("an empty directory", "an index"):
        server = StdioServerParameters(command=binary, args=["mcp", "--data", data])
        async with Client(stdio_client(server)) as client:
            text = "loading, "
            while "loading, " in text:
                res = await client.call_tool("get_cip", {"id": "CIP-4"})
                text = "".join(c.text for c in res.content)
            if res.is_error or "Traffic accounting" not in text:
                sys.exit(f"stdio.py: the first call over {state} answers {text[:300]}")
    print("stdio.py: the first call answers, with and without an index")


asyncio.run(main(*sys.argv[1:]))
