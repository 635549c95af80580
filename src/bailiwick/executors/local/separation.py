"""For one executor and each of its jobs: as which user it runs, where its files lie, its walls.

Rules:

- Asked before anything is made: a job that cannot be kept apart from others is refused, with the
  field ``owner``.
- Where a job's own files lie is found again without knowing in which mode it was started.
- What a job could have put in the place of its own files is never followed.
- A member that runs on the host has no walls: its files are the machine's, its user the server's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bailiwick.executors.images.unpacked import Images
from bailiwick.executors.local.launch import ROOT, TMP, TOKEN, WORK, Own
from bailiwick.executors.local.modes import (
    Apart,
    JobMode,
    OneTenant,
    ProjectUsers,
    check_host,
    choose_mode,
    image_plan,
    open_work_root,
    sandbox_plan,
)
from bailiwick.executors.port import JobSpec
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import PLAIN_PATH

HOST_PROC, IMAGE_ROOT = "BAILIWICK_HOST_PROC", "BAILIWICK_IMAGE_ROOT"
"""What a member on the host is told: where the machine's own ``/proc`` lies, and its image."""

_USERS, _TENANT = "users.json", "tenant.json"
_IMAGES, _UNPACKED = "images", ".images"


class Separation:
    """How the jobs of one root folder are kept apart."""

    def __init__(self, root: Path, apart: Apart) -> None:
        self.mode = choose_mode(apart.mode)
        self._root = root
        self._apart = Apart(
            mode=self.mode,
            shown=apart.shown,
            hidden=tuple(dict.fromkeys(path.resolve() for path in (*apart.hidden, root))),
            host_members=apart.host_members,
        )
        self._images = Images(apart.images or root.parent / _IMAGES, root / _UNPACKED)
        for shown in apart.shown:
            if any(shown.path.is_relative_to(path) for path in self._apart.hidden):
                raise InvalidValue("job-path", str(shown.path), "a folder outside the server's own")
        if apart.host_members:
            check_host()
        self._users = ProjectUsers(root / _USERS)
        self._tenant = OneTenant(root / _TENANT)
        self._elsewhere: Path | None = None
        if os.geteuid() == 0:
            name = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
            self._elsewhere = Path("/var/tmp") / f"bailiwick-jobs-{name}"
            if self.mode is JobMode.USERS:
                self._elsewhere = open_work_root(name)

    @property
    def keeps_files_in(self) -> bool:
        """Whether a job can leave nothing on the machine's disks but in its own folder."""
        is_walled = self.mode is JobMode.SANDBOX and not self._apart.host_members
        return is_walled and not any(folder.is_writable for folder in self._apart.shown)

    def own_of(self, lease_id: int) -> Path:
        """Where the own files of a lease's job lie."""
        folder = self._root / str(lease_id)
        other = None if self._elsewhere is None else self._elsewhere / str(lease_id)
        return other if other is not None and other.is_dir() else folder

    def plan_own(self, spec: JobSpec) -> Own:
        """What will be the job's own; ``InvalidValue`` if it cannot be kept apart."""
        folder = self._root / str(spec.lease_id)
        if spec.on_host:
            return self._plan_host(spec, folder)
        if spec.image is not None and self.mode is not JobMode.SANDBOX:
            why = f"a machine that runs jobs in a sandbox; here the mode is {self.mode}"
            raise InvalidValue("image", spec.image, why)
        if spec.image is not None:
            self._images.unpacked(spec.image)
        match self.mode:
            case JobMode.SANDBOX:
                uid = self._users.of(spec.owner) if os.geteuid() == 0 else None
                return Own(folder, uid, is_apart=True)
            case JobMode.USERS:
                assert self._elsewhere is not None
                uid = self._users.of(spec.owner)
                return Own(self._elsewhere / str(spec.lease_id), uid, is_apart=True)
            case JobMode.TRUSTED:
                self._check_tenant(spec)
                return Own(folder)
            case JobMode.CLOSED:
                why = "a machine that can keep jobs apart, or a server started with --trust-jobs"
                raise InvalidValue("owner", spec.owner, why)

    def _plan_host(self, spec: JobSpec, folder: Path) -> Own:
        """What is the own of a member that runs as the machine's own, if any may here."""
        if not self._apart.host_members:
            why = "a machine whose operator gives members the host (--host-members)"
            raise InvalidValue("on_host", spec.owner, why)
        if self.mode is JobMode.TRUSTED:
            self._check_tenant(spec)
        if spec.image is not None:
            self._images.unpacked(spec.image)
        return Own(folder, is_host=True)

    def _check_tenant(self, spec: JobSpec) -> None:
        tenant = spec.owner.partition("/")[0]
        if tenant and not self._tenant.admit(tenant):
            raise InvalidValue("owner", spec.owner, "the one tenant whose jobs are trusted here")

    def plan_walls(self, spec: JobSpec, own: Own) -> dict[str, Any]:
        """What the supervisor is told about it."""
        user = None if own.uid is None else [own.uid, own.uid]
        if own.is_host:
            walls = {"host": True, "user": None} if os.geteuid() == 0 else None
            return {"user": None, "walls": walls, "is_apart": False}
        if self.mode is not JobMode.SANDBOX:
            return {"user": user, "walls": None, "is_apart": user is not None}
        mine = [
            (own.folder / WORK, own.folder / WORK, True),
            (own.folder / TOKEN, own.folder / TOKEN, False),
        ]
        indices, tmp = spec.device_indices, own.folder / TMP
        if spec.image is None:
            plan = sandbox_plan(mine, tmp, apart=self._apart, devices=indices)
        else:
            root = self._images.unpacked(spec.image).root
            plan = image_plan(root, mine, tmp=tmp, apart=self._apart, devices=indices)
        return {"user": user, "walls": plan | {"user": user}, "is_apart": True}

    def image_env(self, spec: JobSpec, own: Own) -> Mapping[str, str]:
        """What the job's image puts into its environment; nothing without one.

        Who runs on the host is told where its image lies, and its programs are found there first.
        """
        image = None if spec.image is None else self._images.unpacked(spec.image)
        if not own.is_host:
            return {} if image is None else image.env
        told = {HOST_PROC: str(own.folder / ROOT) if os.geteuid() == 0 else "/proc"}
        if image is None:
            return told
        paths = image.env.get("PATH", PLAIN_PATH).split(":")
        found = [f"{image.root}{path}" for path in paths if path.startswith("/")]
        return told | {IMAGE_ROOT: str(image.root), "PATH": ":".join([*found, PLAIN_PATH])}

    def forget(self, lease_id: int) -> None:
        """Remove what lies elsewhere of a job that is over."""
        own = self.own_of(lease_id)
        if own.parent != self._root:
            shutil.rmtree(own)
