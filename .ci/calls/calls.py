"""Uses the client that openapi-python-client makes of openapi.json.

Usage: calls.py URL FEWEST

FEWEST is how many grants there have to be.
"""

import datetime
import importlib
import pkgutil
import sys

import api
from api.models.error import Error

# All that was made, by module.
modules = {m.name: importlib.import_module(m.name) for m in pkgutil.walk_packages(api.__path__, "api.") if not m.ispkg}


def call(operation, *arguments, **options):
    """Calls an operation by its id: its module is in a package that is named for its tag."""
    [module] = (m for name, m in modules.items() if name.startswith("api.api.") and name.endswith("." + operation))
    answer = module.sync(*arguments, client=client, **options)
    assert answer is not None and not isinstance(answer, Error), f"{operation}: {answer}"
    return answer


client = api.Client(base_url=sys.argv[1], raise_on_unexpected_status=True)

proposals = call("list_cips", limit=2)
assert 0 < len(proposals.items) <= 2 and len(proposals.items) <= proposals.total, proposals
first = proposals.items[0]
assert isinstance(first.id, str) and isinstance(first.requires, list) and isinstance(first.draft, bool), first

full = call("get_cip", first.id)
assert (full.id, full.title) == (first.id, first.title) and full.content and full.header.to_dict(), full

found = call("search", q=first.title)
assert found.items, f"search for {first.title!r} finds nothing"
for hit in found.items:
    assert isinstance(hit.id, str) and 0 < hit.score <= 1, hit
    document = call("get_doc", hit.id)
    assert document.title == hit.title, (hit, document)

grants = call("get_proposals", state=modules["api.models.get_proposals_state"].GetProposalsState.ALL)
assert len(grants.items) >= int(sys.argv[2]), grants
for grant in grants.items:
    assert isinstance(grant.number, int) and isinstance(grant.merged, bool), grant
    assert isinstance(grant.created_at, datetime.datetime), grant

print(f"python: {len(proposals.items)} proposals, {len(found.items)} hits, {len(grants.items)} grants")
