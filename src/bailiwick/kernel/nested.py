"""The values inside commands that a record tells too: how each is spelled, and what it may hold.

Rules:

- A value is spelled as its record spells it, but for its owner: a tenant and a project stand beside
  it in the command.
- An unknown field, or one of another type than the record's row says, is refused with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bailiwick.apps.overlays import Overlay
from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import RateCard, card_body, card_of
from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.body_spec import Fields
from bailiwick.journal.fields import AMOUNT, Words
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.spelling import OVERLAY_WORDS, overlay_body, overlay_from
from bailiwick.kernel.fleet.spelling import (
    inventory_body,
    inventory_from,
    quota_body,
    quota_from,
    settings_body,
    settings_from,
)
from bailiwick.kernel.health.spelling import finding_body, finding_from
from bailiwick.kernel.money.events import budget_body, budget_of
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.settings import NUMBERS, Settings
from bailiwick.kernel.spelling import Body, request_body, request_from
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.values import check_kind

Encode: TypeAlias = Callable[[Any], Body]
Decode: TypeAlias = Callable[[Mapping[str, Any], Owner], Any]


@dataclass(frozen=True, slots=True)
class Nested:
    """One type of value inside a command."""

    name: str
    """What the field is called in the command's spelling."""
    fields: Fields
    """What it may hold: some of the fields of the record that tells such values."""
    encode: Encode
    decode: Decode
    is_owned: bool = False
    """Whether the value says whose it is."""

    def read(self, plain: object, owner: Owner) -> Any:
        """The value that this spells; anything else is refused."""
        if not isinstance(plain, Mapping):
            raise InvalidValue(self.name, plain, "an object")
        for each, value in plain.items():
            field = self.fields.get(each)
            if field is None:
                raise InvalidValue("field", each, "one of " + ", ".join(self.fields))
            field.check(each, value)
        return self.decode(plain, owner)


def _of(kind: RecordKind, *names: str) -> Fields:
    """These fields of a record, with their types."""
    held = {**kind.body.required, **kind.body.optional}
    return {name: held[name] for name in names}


def _request(body: Mapping[str, Any], owner: Owner) -> PlacementRequest:
    request = request_from(body, owner.tenant, project=owner.project)  # type: ignore[arg-type]
    asked = body["resources"].get("gpu_milli", request.gpu_milli_total)
    if asked != request.gpu_milli_total:
        raise InvalidValue("resources.gpu_milli", asked, f"{request.gpu_milli_total} or nothing")
    return request


_CEILING = ("priority_max", "lease_classes", "term_max_ms", "waiting_max")


def _quota(body: Mapping[str, Any], owner: Owner) -> Quota:
    del owner
    burst = [each for each in body if each.startswith("burst_")]
    if len(burst) not in (0, 4):
        raise InvalidValue("quota", burst, "all of burst credit or nothing")
    ceiling = [each for each in _CEILING if each in body]
    if len(ceiling) not in (0, len(_CEILING)):
        raise InvalidValue("quota", ceiling, "all of a ceiling or nothing")
    return quota_from(body)


def _card(body: Mapping[str, Any], owner: Owner) -> RateCard:
    del owner
    return check_kind("card", card_of(body), RateCard)


NESTED: Mapping[type, Nested] = {
    PlacementRequest: Nested(
        "request",
        _of(
            RecordKind.ADMISSION_APPROVED,
            *("resources", "priority", "lease_class", "tag", "labels", "gang_size", "ttl_ms"),
            "job_labels",
            *("gpu_count", "gpu_milli", "gpu_vram", "gpu_models", "gpu_generation", "exclusivity"),
            *("deadline_ms", "preemptible_on_budget"),
        ),
        request_body,
        _request,
        is_owned=True,
    ),
    NodeCapacity: Nested(
        "inventory",
        _of(
            RecordKind.NODE_REGISTERED,
            *("resources", "labels", "gpu_generations", "gpu_vram_bytes", "gpu_models"),
            *("gpu_fabrics", "gpu_partitionable", "gpu_numa", "cache_milli", "cache_numa"),
        ),
        inventory_body,
        lambda body, _: inventory_from(body),
    ),
    Quota: Nested(
        "quota",
        _of(
            RecordKind.QUOTA_CHANGED,
            *("limits", "gpu_limits", "burst_dimension", "burst_capacity"),
            *("burst_refill_per_s", "burst_ceiling"),
            *_CEILING,
        ),
        quota_body,
        _quota,
    ),
    Settings: Nested(
        "settings",
        _of(
            RecordKind.SETTINGS_CHANGED,
            *NUMBERS,
            *("strategy", "weights", "headroom", "headroom_priority", "preempt_from"),
            *("confirm_teardown", "priority_max", "lease_classes"),
            *("aging_ceiling", "offer_platform_managed"),
        ),
        settings_body,
        lambda body, _: settings_from(body),
    ),
    RateCard: Nested(
        "card",
        _of(
            RecordKind.RATE_CARD_CHANGED,
            *("card", "of_tenant", "currency", "effective_ms", "gpu_micros_per_hour"),
            *("core_micros_per_hour", "mem_micros_per_gib_hour", "block_micros_per_gib_hour"),
            *("class_per_mille", "app_unit_micros"),
        ),
        card_body,
        _card,
    ),
    Overlay: Nested(
        "overlay",
        _of(RecordKind.APP_ENTITLEMENT_SET, *OVERLAY_WORDS),
        overlay_body,
        lambda body, _: overlay_from(body),
    ),
    Budget: Nested(
        "budget",
        _of(
            RecordKind.BUDGET_CHANGED,
            *("limit_micros", "cap_micros", "from_ms", "until_ms", "thresholds"),
        ),
        budget_body,
        budget_of,
        is_owned=True,
    ),
    HealthFinding: Nested(
        "finding",
        {
            "check": Words((HealthCheck,)),
            "level": Words((HealthLevel,)),
            **dict.fromkeys(("gpu", "value", "limit", "code"), AMOUNT),
        },
        finding_body,
        lambda body, _: finding_from(body),
    ),
}
"""By type."""
