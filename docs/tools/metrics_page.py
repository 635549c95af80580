"""The reference of metrics, from the catalogue that makes them."""

from __future__ import annotations

from bailiwick.telemetry.catalog import ACTION, CATALOG, LABELS, TENANT, TENANTS_MAX, MetricKind
from docs.tools.markdown import anchor, code, table, text

OPENING = """\
# Metrics

What `GET /metrics` tells, in Prometheus' format. How to scrape it, and which alerts there are,
is in the manual: [observability](../observability.md#metrics).

*Whose* says how replicas go together: what is of the `journal` every replica tells alike, so take
the greatest; what is of a `replica` it alone did or met. [How to add them
up](../observability.md#several-replicas).
"""


def make() -> str:
    """The page."""
    parts = [OPENING]
    for kind in MetricKind:
        rows = [
            (code(spec.name), spec.whose.value, _labels(spec.labels), text(spec.says))
            for spec in CATALOG
            if spec.kind is kind
        ]
        parts += [
            f"## {kind.capitalize()}s\n",
            table(("metric", "whose", "labels", "what it says"), rows) + "\n",
        ]
    parts += ["## Buckets\n", _buckets(), "\n## Labels\n"]
    used = {label for spec in CATALOG for label in spec.labels}
    words = [(code(label), _words(label)) for label in sorted(used)]
    parts.append(table(("label", "values"), words) + "\n")
    return "\n".join(parts)


def _labels(labels: tuple[str, ...]) -> str:
    return ", ".join(code(label) for label in labels) or "-"


def _buckets() -> str:
    rows = [
        (code(spec.name), ", ".join(f"{edge:g}" for edge in spec.buckets))
        for spec in CATALOG
        if spec.kind is MetricKind.HISTOGRAM
    ]
    return table(("histogram", "upper edges of its buckets"), rows)


_SPELLED = {"refusal"}
"""Labels whose words come from several lists: no one place has them all, however many they are."""


def _words(label: str) -> str:
    if label == TENANT:
        return f"a tenant's name; the first {TENANTS_MAX} that are met, then `other`"
    if label == ACTION:
        return "an operation's name, as `lease.request`; see [the API](api.md)"
    words = LABELS[label]
    if len(words) > 25 and label not in _SPELLED:
        return f"{len(words)} closed words: [{label.replace('_', ' ')}]({_where(label)})"
    return ", ".join(code(word) for word in sorted(words))


def _where(label: str) -> str:
    places = {"record_kind": "../siem.md#kinds-of-record"}
    return places.get(label) or f"words.md#{anchor(label.replace('_', ''))}"
