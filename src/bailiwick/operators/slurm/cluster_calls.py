"""Asking the members of one cluster from a command, beside the operator that looks after it.

It goes through the platform, like all that members are asked. So it takes what the operator's token
carries, and no other way in.
"""

from __future__ import annotations

import json
from typing import Any, Final

from bailiwick.client import Client, ClientError
from bailiwick.client.http_client import Places
from bailiwick.operators.kit import OperatorSettings
from bailiwick.operators.kit.inside import run_inside
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.slurm.questions import question_of
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.wire.actions.instances import INSTANCE_LIST, INSTANCE_MEMBER_LIST, INSTANCE_READ
from bailiwick.wire.actions.shared import SHARED_RUNTIME_READ
from bailiwick.wire.instances import Instance, InstanceMember

_WAIT_S: Final = 30.0
_WAY_S: Final = 30.0


class ClusterCalls:
    """One cluster, by the name of its instance; ``with`` it."""

    def __init__(self, settings: OperatorSettings, name: str) -> None:
        ca_file = None if settings.ca_file is None else str(settings.ca_file)
        token = SecretFile(settings.token_file).read()
        self._client = Client(settings.server, token, ca_file=ca_file)
        self._home: Places = {"tenant": settings.tenant, "project": settings.project}
        self._app, self._name, self._runtime = settings.app, name, settings.runtime

    @property
    def is_shared(self) -> bool:
        """Whether it is the cluster of a shared runtime."""
        return self._runtime is not None

    def __enter__(self) -> ClusterCalls:
        return self

    def __exit__(self, *raised: object) -> None:
        self._client.close()

    @property
    def instance(self) -> Instance:
        """The instance; of a shared runtime, the one behind it."""
        if self._runtime is not None:
            where: Places = {"tenant": self._home["tenant"], "runtime": self._runtime}
            number = self._client.send(SHARED_RUNTIME_READ, path=where).runtime.instance_id
            found = self._client.send(INSTANCE_READ, path={**self._home, "instance_id": number})
            if found.name == self._name:
                return found
            raise NotFound("instance", self._name, hint=f"the runtime's is {found.name}")
        rows = self._client.pages(INSTANCE_LIST, path=self._home, query={"app": self._app}).items
        for row in rows:
            if row.name == self._name:
                return row
        raise NotFound("instance", self._name)

    @property
    def members(self) -> dict[str, InstanceMember]:
        """Those that are ready, by what they are called."""
        path: Places = {**self._home, "instance_id": self.instance.instance_id}
        rows = self._client.pages(INSTANCE_MEMBER_LIST, path=path).items
        return {row.component_key: row for row in rows if row.phase is MemberPhase.READY}

    def ask(self, member: str, **question: Any) -> dict[str, Any]:
        """What a member answers."""
        found = self.members.get(member)
        if found is None:
            raise NotFound("member", member, hint="wait until it is ready")
        within_s = float(question.get("wait_s", _WAIT_S)) + _WAY_S
        command, given = question_of(question, is_shared=self.is_shared)
        job_id = found.job_id or 0
        ran = run_inside(self._client, job_id, command=command, given=given, within_s=within_s)
        answer: dict[str, Any] = json.loads(ran.stdout) if ran.is_well else {"error": ran.why}
        if "error" in answer:
            raise Conflict("member", member, f"will not: {answer['error']}")
        return answer

    def conditions(self) -> dict[str, dict[str, Any] | str]:
        """What each says of its condition; of one that could not be asked, why."""
        found: dict[str, dict[str, Any] | str] = {}
        for key in self.members:
            try:
                found[key] = self.ask(key, do="condition")
            except (ClientError, Conflict, NotFound) as error:
                found[key] = str(error)
        return found
