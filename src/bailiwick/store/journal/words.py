"""The page of every closed word that a rule in a SIEM may key on, made from the enums themselves.

The page is ``docs/siem.md``; a test fails when it is not what :func:`siem_page` gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from types import ModuleType

from bailiwick.journal import RecordKind, words
from bailiwick.journal.fields import Amounts, Words
from bailiwick.vocab import apps, transitions
from bailiwick.vocab import words as vocab_words

_OPENING = """\
# Words a SIEM rule may key on

<!-- Made by `bailiwick journal words`; a test fails when it is stale. Do not edit. -->

Each word below is spelled so, and only so, in the journal, its exports, the API, the metrics and
the command line. Rules should key on `kind` first, then on a field of the body.

- JSON Lines (`bailiwick journal export JOURNAL --format jsonl`): `kind`, `tenant`, `project`,
  `actor`, `correlation_id`, and `body.*`.
- OCSF (`--format ocsf`): the kind is `metadata.event_code`, the tenant `metadata.tenant_uid`,
  `body.detail` or else `body.reason` is `status_detail`, and the body is `unmapped.body.*`.
- Both go on where they ended: `--after SEQ`, with the last `seq` (OCSF: `metadata.sequence`) seen.
"""

_RULES = """\
## Example rules

In the form of Sigma, over the JSON Lines.

A tenant's work is evicted because its burst credit ran out: expected now and then, a budget
question when it goes on.

```yaml
title: Work evicted because burst credit ran out
status: stable
logsource: {product: bailiwick, service: journal}
detection:
  evicted:
    kind: lease_preempted
    body.reason: burst_credit_exhausted
  denied:
    kind: admission_denied
    body.detail: burst_credit_exhausted
  timeframe: 1h
  condition: evicted or denied | count() by tenant > 10
fields: [tenant, project, correlation_id, body.lease_id, body.victim, body.preemptor, body.freed]
level: low
```

Work is taken off a node because the node or the work no longer satisfies policy. One is enough to
look.

```yaml
title: Work evicted to recover from a policy violation
status: stable
logsource: {product: bailiwick, service: journal}
detection:
  selection:
    kind:
      - lease_preempted
      - lease_revoked
      - lease_fenced
    body.reason: policy_violation_recovery
  condition: selection
fields: [seq, tenant, actor, correlation_id, body.lease_id, body.node, body.preemptor]
level: high
```

The second one over OCSF events:

```yaml
title: Work evicted to recover from a policy violation (OCSF)
status: stable
logsource: {product: bailiwick, category: ocsf}
detection:
  selection:
    class_uid: 6003
    status_detail: policy_violation_recovery
  condition: selection
level: high
```
"""


def siem_page() -> str:
    """The whole page, as Markdown."""
    parts = [_OPENING, "## Kinds of record\n", *_kind_table(), "", "## Words in their fields\n"]
    for module in (vocab_words, transitions, apps, words):
        for enum in _enums_of(module):
            parts += _enum_lines(enum)
    return "\n".join(parts) + "\n" + _RULES


def _enums_of(module: ModuleType) -> Iterator[type[StrEnum]]:
    for value in vars(module).values():
        is_enum = isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
        if is_enum and value.__module__ == module.__name__:
            yield value


def _kind_table() -> Iterator[str]:
    yield "| kind | whose | OCSF class | required in the body | may be in the body |"
    yield "|---|---|---|---|---|"
    for kind in RecordKind:
        spec, told = kind.body, kind.ocsf
        name = told.class_uid.name.lower().replace("_", " ")
        yield (
            f"| `{kind}` | {kind.scope} | {told.class_uid.value} {name} | "
            f"{', '.join(spec.required) or '-'} | {', '.join(spec.optional) or '-'} |"
        )


def _enum_lines(enum: type[StrEnum]) -> list[str]:
    summary = (enum.__doc__ or "").strip().split("\n")[0]
    places = _places_of(enum)
    lines = [f"### {enum.__name__}\n", summary + "\n"]
    lines.append(f"In {', '.join(places)}.\n" if places else "In no record's body.\n")
    lines += [f"- `{word}`" for word in enum]
    return [*lines, ""]


def _places_of(enum: type[StrEnum]) -> list[str]:
    places = []
    for kind in RecordKind:
        for name, field in {**kind.body.required, **kind.body.optional}.items():
            if isinstance(field, Words) and enum in field.enums:
                places.append(f"`{kind}.{name}`")
            elif isinstance(field, Amounts) and field.keys is enum:
                places.append(f"`{kind}.{name}` (keys)")
    return places
