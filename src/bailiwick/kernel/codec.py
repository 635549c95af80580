"""Commands and answers as plain JSON values, and back: what replicas and clients send each other.

Rules:

- Strict both ways: an unknown command, a missing or an unknown field is refused with its name.
- One command has one spelling, so its digest tells whether two commands are the same.

>>> from bailiwick.kernel.work.commands import Release
>>> encode_command(Release(7))
{'command': 'release', 'lease_id': 7}
>>> decode_command({'command': 'release', 'lease_id': 7})
Release(lease_id=7)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from hashlib import sha256
from typing import Any

from bailiwick.billing.rates import RateCard, card_body, card_of
from bailiwick.iam import Permission, PrincipalKind, Role
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import encode_json
from bailiwick.journal.words import AttestationWord, Severity
from bailiwick.kernel.answers import (
    Answer,
    Done,
    Granted,
    Queued,
    Refused,
    TokenDenied,
    TokenGranted,
)
from bailiwick.kernel.commands import Command
from bailiwick.kernel.fleet.commands import ChangeSettings, RegisterNode, SetQuota
from bailiwick.kernel.fleet.events import QuotaChanged, SettingsChanged
from bailiwick.kernel.fleet.spelling import inventory_body, inventory_from
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.kernel.money.events import budget_body, budget_of
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people.commands import NoteRefusal, SetMember
from bailiwick.kernel.settings import NUMBERS
from bailiwick.kernel.slices import COMMANDS
from bailiwick.kernel.spelling import denial_body, denial_from, request_body, request_from
from bailiwick.kernel.trust.commands import (
    EnrolNode,
    GrantToken,
    Quarantine,
    RecordVerdict,
    WithdrawEnrolment,
)
from bailiwick.kernel.work.commands import Submit
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation, UntrustedReason
from bailiwick.vocab.values import check_kind
from bailiwick.vocab.words import PreemptionReason

Plain = dict[str, Any]

_WORDS = {kind: word for word, kind in COMMANDS.items()}
_ENUMS: Mapping[str, type[StrEnum]] = {
    "mode": NodeMode,
    "reason": PreemptionReason,
    "role": Role,
    "kind": PrincipalKind,
    "permission": Permission,
    "severity": Severity,
}
# Where a word of that name is of another list.
_OF_TRUST: Mapping[str, type[StrEnum]] = {
    "kind": EvidenceKind,
    "verdict": AttestationWord,
    "reason": UntrustedReason,
}
_ENUMS_OF: Mapping[type[Any], Mapping[str, type[StrEnum]]] = dict.fromkeys(
    (EnrolNode, WithdrawEnrolment, RecordVerdict), _OF_TRUST
)
# A field that must be said, if only that there is none.
_NONE_OF: Mapping[type[Any], str] = {SetMember: "role", GrantToken: "audience"}
# Where a reason is any name, not one of the nine.
_FREE_REASON = (Quarantine, NoteRefusal)

# The objects inside commands, the record that tells them too, and the fields they may have.
_NESTED: Mapping[str, tuple[RecordKind, tuple[str, ...]]] = {
    "request": (
        RecordKind.ADMISSION_APPROVED,
        (
            *("resources", "priority", "lease_class", "tag", "labels", "gang_size", "ttl_ms"),
            *("gpu_count", "gpu_milli", "gpu_vram", "gpu_models", "gpu_generation", "exclusivity"),
            *("deadline_ms", "preemptible_on_budget"),
        ),
    ),
    "inventory": (
        RecordKind.NODE_REGISTERED,
        (
            *("resources", "labels", "gpu_generations", "gpu_vram_bytes", "gpu_models"),
            *("gpu_fabrics", "gpu_partitionable"),
        ),
    ),
    "quota": (
        RecordKind.QUOTA_CHANGED,
        (
            *("limits", "gpu_limits", "burst_dimension", "burst_capacity"),
            *("burst_refill_per_s", "burst_ceiling"),
        ),
    ),
    "settings": (
        RecordKind.SETTINGS_CHANGED,
        (
            *NUMBERS,
            *("strategy", "weights", "headroom", "headroom_priority", "preempt_from"),
            "confirm_teardown",
        ),
    ),
    "card": (
        RecordKind.RATE_CARD_CHANGED,
        (
            *("card", "of_tenant", "currency", "effective_ms", "gpu_micros_per_hour"),
            *("core_micros_per_hour", "mem_micros_per_gib_hour", "block_micros_per_gib_hour"),
            "class_per_mille",
        ),
    ),
    "budget": (
        RecordKind.BUDGET_CHANGED,
        ("limit_micros", "cap_micros", "from_ms", "until_ms", "thresholds"),
    ),
}


def command_digest(command: Command) -> str:
    """SHA-256 over the command's one spelling."""
    return sha256(encode_json(encode_command(command)).encode()).hexdigest()


def encode_command(command: Command) -> Plain:
    """The command as plain values."""
    plain: Plain = {"command": _WORDS[type(command)]}
    match command:
        case Submit():
            r = command.request
            plain |= {"tenant": str(r.tenant), "wait": command.wait, "request": request_body(r)}
            return plain | ({} if r.project is None else {"project": str(r.project)})
        case RegisterNode():
            return plain | {"node": command.node, "inventory": inventory_body(command.capacity)}
        case SetQuota():
            owner = Owner(command.tenant, command.project)
            plain |= {"tenant": command.tenant, "quota": QuotaChanged(owner, command.quota).body()}
            plain |= {} if command.project is None else {"project": command.project}
            return plain | ({} if command.seen is None else {"seen": command.seen})
        case SetRateCard():
            return plain | {"card": card_body(command.card)}
        case SetBudget():
            budget, opening = command.budget, command.opening_micros
            plain |= {"tenant": budget.tenant, "budget": budget_body(budget)}
            plain |= {} if budget.project is None else {"project": budget.project}
            plain |= {} if opening is None else {"opening_micros": opening}
            return plain | ({} if command.seen is None else {"seen": command.seen})
        case ChangeSettings():
            plain |= {"settings": SettingsChanged(command.settings).body()}
            return plain | ({} if command.seen is None else {"seen": command.seen})
        case _:
            for each in fields(command):
                value = getattr(command, each.name)
                if isinstance(value, tuple):
                    plain[each.name] = [_bare(item) for item in value]
                elif value is not None:
                    plain[each.name] = _bare(value)
            return plain


def _bare(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return value.value if isinstance(value, StrEnum) else value


def decode_command(plain: object) -> Command:
    """The command that these values are; anything else is refused."""
    if not isinstance(plain, Mapping):
        raise InvalidValue("command", plain, "an object")
    word = plain.get("command")
    kind = COMMANDS.get(word) if isinstance(word, str) else None
    if kind is None:
        raise InvalidValue("command", word, "one of " + ", ".join(sorted(COMMANDS)))
    values = {name: value for name, value in plain.items() if name != "command"}
    try:
        command: Command = _decode(kind, values)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(str(word), values, f"the fields of {word} ({error})") from error
    return command


def _decode(kind: type[Any], values: Plain) -> Any:
    for name, (of_kind, known) in _NESTED.items():
        if name in values:
            _check_nested(name, values[name], of_kind=of_kind, known=known)
    if kind is Submit:
        _only(values, "tenant", "project", "wait", "request")
        request = request_from(values["request"], values["tenant"], project=values.get("project"))
        asked = values["request"]["resources"].get("gpu_milli", request.gpu_milli_total)
        if asked != request.gpu_milli_total:
            raise InvalidValue(
                "resources.gpu_milli", asked, f"{request.gpu_milli_total} or nothing"
            )
        return Submit(request, values.get("wait", True))
    if kind is RegisterNode:
        _only(values, "node", "inventory")
        return RegisterNode(values["node"], inventory_from(values["inventory"]))
    if kind is SetQuota:
        _only(values, "tenant", "project", "quota", "seen")
        owner = Owner(values["tenant"], values.get("project"))
        quota = QuotaChanged.read(values["quota"], owner).quota
        return SetQuota(values["tenant"], quota, values.get("project"), values.get("seen"))
    if kind is ChangeSettings:
        _only(values, "settings", "seen")
        settings = SettingsChanged.read(values["settings"], Owner()).settings
        return ChangeSettings(settings, values.get("seen"))
    if kind is SetRateCard:
        _only(values, "card")
        return SetRateCard(check_kind("card", card_of(values["card"]), RateCard))
    if kind is SetBudget:
        _only(values, "tenant", "project", "budget", "opening_micros", "seen")
        owner = Owner(values["tenant"], values.get("project"))
        budget = budget_of(values["budget"], owner)
        return SetBudget(budget, values.get("opening_micros"), values.get("seen"))
    for name, enum in {**_ENUMS, **_ENUMS_OF.get(kind, {})}.items():
        free = name == "reason" and kind in _FREE_REASON
        if values.get(name) is not None and not free:
            values[name] = _word(name, values[name], enum)
    if isinstance(values.get("lease_ids"), list):
        values["lease_ids"] = tuple(values["lease_ids"])
    if isinstance(values.get("keys"), list):
        values["keys"] = tuple(_word("keys", key, Permission) for key in values["keys"])
    if isinstance(values.get("operations"), list):
        words = values["operations"]
        values["operations"] = tuple(_word("operations", each, Operation) for each in words)
    if isinstance(values.get("within"), list):
        values["within"] = tuple(values["within"])
    if kind in _NONE_OF:
        values.setdefault(_NONE_OF[kind], None)
    return kind(**values)


def _check_nested(name: str, value: object, *, of_kind: RecordKind, known: tuple[str, ...]) -> None:
    """Refuse an object in a command that has an unknown field, or one of another type."""
    if not isinstance(value, Mapping):
        raise InvalidValue(name, value, "an object")
    _only(value, *known)
    spec = of_kind.body
    for each, inner in value.items():
        (spec.required.get(each) or spec.optional[each]).check(each, inner)
    burst = [each for each in value if each.startswith("burst_")]
    if len(burst) not in (0, 4):
        raise InvalidValue(name, burst, "all of burst credit or nothing")


def _only(values: Mapping[str, Any], *names: str) -> None:
    for name in values:
        if name not in names:
            raise InvalidValue("field", name, "one of " + ", ".join(names))


def _word(name: str, value: object, enum: type[StrEnum]) -> StrEnum:
    try:
        return enum(str(value))
    except ValueError:
        raise InvalidValue(name, value, "one of " + ", ".join(enum)) from None


def encode_answer(answer: Answer) -> Plain:
    """The answer as plain values."""
    match answer:
        case Granted():
            nodes = [str(node) for node in answer.nodes]
            ids = list(answer.lease_ids)
            return {
                "answer": "granted",
                "lease_ids": ids,
                "nodes": nodes,
                "expires_ms": answer.expires_ms,
            }
        case Queued():
            why = None if answer.denied is None else denial_body(answer.denied)
            return {"answer": "queued", "entry_id": answer.entry_id, "denied": why}
        case Refused():
            return {"answer": "refused", "denied": denial_body(answer.denied)}
        case Done():
            return {"answer": "done", "seq": answer.seq}
        case TokenGranted():
            told = {each.name: getattr(answer, each.name) for each in fields(answer)}
            words = [operation.value for operation in answer.operations]
            return {"answer": "token_granted", **told, "operations": words}
        case TokenDenied():
            return {"answer": "token_denied", "reason": answer.reason.value}


def decode_answer(plain: Mapping[str, Any]) -> Answer:
    """The answer that these values are."""
    match plain.get("answer"):
        case "granted":
            ids, nodes = tuple(plain["lease_ids"]), tuple(plain["nodes"])
            return Granted(ids, nodes, plain["expires_ms"])
        case "queued":
            why = plain["denied"]
            return Queued(plain["entry_id"], None if why is None else denial_from(why))
        case "refused":
            denied = denial_from(plain["denied"])
            if denied is not None:
                return Refused(denied)
        case "done":
            return Done(plain["seq"])
        case "token_granted":
            told = {each.name: plain[each.name] for each in fields(TokenGranted)}
            words = tuple(Operation(word) for word in plain["operations"])
            return TokenGranted(**{**told, "operations": words})
        case "token_denied":
            return TokenDenied(MintDenial(plain["reason"]))
        case _:
            pass
    raise InvalidValue("answer", plain, "an answer of the kernel")
