"""Pays, waits and pages with Python's standard library, by what the sandbox's /openapi.json describes."""
import json, os, time, urllib.parse, urllib.request

root = os.environ["PAYMENTS_ROOT_URL"]
key = os.environ.get("PAYMENTS_API_KEY", "sk_sandbox_0000000000000000")
with urllib.request.urlopen(f"{root}/openapi.json") as response:
    api = json.load(response)


def call(operation, body=None, id="", **query):
    """Calls an operation by its name: its path, method and server are in the description."""
    path, item, method = next(
        (path, item, method)
        for path, item in api["paths"].items()
        for method, described in item.items()
        if isinstance(described, dict) and described.get("operationId") == operation
    )
    url = item.get("servers", api["servers"])[0]["url"] + path.replace("{id}", id)
    if query:
        url += "?" + urllib.parse.urlencode(query)
    data = None if body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method.upper())
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def pages(operation, **query):
    while True:
        page = call(operation, **query)
        yield from page["data"]
        if not page["hasMore"]:
            return
        query["cursor"] = page["nextCursor"]


account = next(each for each in pages("accounts.list") if float(each["availableBalance"]) > 20)
payee = next(pages("counterparties.list"))
payment = {"sourceAccountId": account["id"], "counterpartyId": payee["id"], "amount": "12.50"}
transfer = call("transfers.create", {**payment, "description": "INV-1042-python"})
while transfer["status"] in ("pending", "processing"):
    time.sleep(0.05)
    transfer = call("transfers.get", id=transfer["id"])
count = sum(1 for _ in pages("transfers.list", limit=2))
print(f"{transfer['id']} {transfer['status']}, {count} transfers")
