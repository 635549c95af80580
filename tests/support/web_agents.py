"""What the agent of a node tells a server, where no agent runs: by the node's own token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.request import Request, urlopen

from tests.support.web_campus import Campus

WARM = {"check": "thermal", "level": "warn", "gpu": 2, "value": 86, "limit": 85}
BROKEN = {"check": "ecc", "level": "fail", "gpu": 0, "value": 3, "limit": 0}


@dataclass(frozen=True, slots=True)
class ToldAgent:
    """A node's token, and the server that believes it."""

    address: str
    node: str
    token: str

    def tell(self, path: str, body: object) -> None:
        """What it has to say below its node's address."""
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        address = f"{self.address}/v1/nodes/{self.node}/{path}"
        asked = Request(address, json.dumps(body).encode(), headers, method="POST")
        with urlopen(asked, timeout=60) as answer:
            assert answer.status == 200, answer.read()

    def tell_health(self, *findings: object) -> None:
        """All that is wrong with its machine now; none, and it is well."""
        self.tell("health", {"findings": findings, "can_test": True})


def agent_of(campus: Campus, node: str) -> ToldAgent:
    """The agent of a node that is registered."""
    campus.ask("PUT", "/v1/members", {"member": f"node:{node}", "role": "node_agent"})
    wish = {"principal": f"node:{node}", "kind": "node", "ttl_s": 3600}
    wish |= {"keys": ["scheduler.node.report"]}
    token = campus.ask("POST", "/v1/tokens", wish)["token"]
    return ToldAgent(campus.server.address, node, str(token))
