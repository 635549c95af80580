"""A small class of XML documents as a tree, and the tree's canonical form (C14N 1.1).

Written here so that the values of a signed document are read from the very tree whose canonical
form was digested: two readers of one text are two documents.

Rules:

- UTF-8; elements, attributes and text only. Declarations of document types, entities, processing
  instructions, comments, CDATA sections and attributes in the namespace ``xml`` are refused.
- Names have at most one prefix, each prefix is declared, no attribute comes twice by its full name.
- Bytes, depth, elements and attributes are bounded; nothing recurses.

>>> tree = read_xml(b'<a xmlns="urn:x" c="&gt;" b="2"><d/>&#x3e;</a>')
>>> canonical(tree).decode()
'<a xmlns="urn:x" b="2" c=">"><d></d>&gt;</a>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NoReturn
from xml.parsers import expat

from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

XML_BYTES_MAX = 256 * 1024
"""A genuine document has some 20 KiB."""

DEPTH_MAX = 16
ELEMENTS_MAX = 4096
ATTRIBUTES_MAX = 64

_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_IN_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
)

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#-%'-;=?-~]*")
"""Absolute, because a relative one has no canonical form; and with nothing to escape, because
others do not escape it."""

Name = tuple[str, str]
"""Namespace (empty for none) and local name."""


class Element:
    """One element: its full name, attributes by full name, and what is inside."""

    __slots__ = ("_written", "attributes", "children", "declared", "name", "scope", "tag")

    def __init__(self, tag: str, pairs: list[str], above: Mapping[str, str]) -> None:
        written = list(zip(pairs[::2], pairs[1::2], strict=True))
        if len(written) > ATTRIBUTES_MAX:
            raise _malformed(f"<{tag[:40]}> has {len(written)} attributes")
        self.tag = tag
        self.declared = dict(_declarations(written))
        self.scope = {**above, **self.declared} if self.declared else above
        self.name = _full_name(tag, self.scope, is_attribute=False)
        plain = [(tag, value) for tag, value in written if not _is_declaration(tag)]
        self._written = sorted(
            (_full_name(tag, self.scope, is_attribute=True), tag, value) for tag, value in plain
        )
        self.attributes = {name: value for name, _, value in self._written}
        if len(self.attributes) != len(self._written):
            raise _malformed(f"<{tag[:40]}> has one attribute twice")
        self.children: list[Element | str] = []

    @property
    def elements(self) -> list[Element]:
        """The elements inside, in their order."""
        return [each for each in self.children if isinstance(each, Element)]

    @property
    def text(self) -> str:
        """The text inside, without that of elements inside."""
        return "".join(each for each in self.children if isinstance(each, str))

    def opening(self, above: Mapping[str, str] | None) -> str:
        """The canonical start tag; ``above`` is what the parent declared, None at the top."""
        if above is None:
            shown = {prefix: uri for prefix, uri in self.scope.items() if uri}
        else:
            declared = self.declared.items()
            shown = {prefix: uri for prefix, uri in declared if above.get(prefix, "") != uri}
        parts = [f"<{self.tag}"]
        for prefix in sorted(shown):
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            parts.append(f' {name}="{shown[prefix].translate(_IN_VALUE)}"')
        parts += [f' {tag}="{value.translate(_IN_VALUE)}"' for _, tag, value in self._written]
        return "".join(parts) + ">"


class _Builder:
    """What the parser's calls add up to."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, tag: str, pairs: list[str]) -> None:
        self._count += 1
        if self._count > ELEMENTS_MAX or len(self._open) >= DEPTH_MAX:
            raise _malformed("too many elements, or too deep")
        element = Element(tag, pairs, self._open[-1].scope if self._open else {})
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].children.append(text)

    def declaration(self, version: str, encoding: str | None, *_: int) -> None:
        if version != "1.0" or (encoding or "UTF-8").upper() != "UTF-8":
            raise _malformed(f"XML {version[:8]} in {encoding!r:.20}")

    @staticmethod
    def refuse(*_: object) -> NoReturn:
        raise _malformed("a document type, an instruction, a comment or a CDATA section")


def read_xml(raw: bytes) -> Element:
    """The document's one element."""
    if len(raw) > XML_BYTES_MAX:
        raise _malformed(f"{len(raw)} bytes are too many")
    try:
        is_text = "\0" not in raw.decode()  # the parser would follow a mark of UTF-16
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        raise _malformed("not UTF-8")
    builder, parser = _Builder(), expat.ParserCreate("UTF-8")
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.XmlDeclHandler = builder.declaration
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.EntityDeclHandler = builder.refuse
    parser.ProcessingInstructionHandler = builder.refuse
    parser.CommentHandler = builder.refuse
    parser.StartCdataSectionHandler = builder.refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise _malformed(f"not well-formed, line {error.lineno}") from None
    if builder.root is None:
        raise _malformed("no element")
    return builder.root


def canonical(top: Element, *, without: Element | None = None) -> bytes:
    """The canonical form of ``top`` in its document, less one element of it."""
    parts: list[str] = []
    pending: list[tuple[Element | str, Mapping[str, str] | None]] = [(top, None)]
    while pending:  # each node of a bounded tree once, and its end tag once
        node, above = pending.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node is not without:
            parts.append(node.opening(above))
            pending.append((f"</{node.tag}>", None))
            inside = (
                each if isinstance(each, Element) else each.translate(_IN_TEXT)
                for each in reversed(node.children)
            )
            pending.extend((each, node.scope) for each in inside)
    return "".join(parts).encode()


def walk_tree(top: Element) -> Iterator[Element]:
    """Every element of the tree, in no promised order."""
    pending = [top]
    while pending:  # a bounded tree
        element = pending.pop()
        yield element
        pending.extend(element.elements)


def _is_declaration(tag: str) -> bool:
    return tag == "xmlns" or tag.startswith("xmlns:")


def _declarations(written: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for tag, uri in written:
        if not _is_declaration(tag):
            continue
        prefix = tag.partition(":")[2]
        is_kept = _NAMESPACE.fullmatch(uri) or not (prefix or uri)
        if not is_kept or prefix in ("xml", "xmlns") or ":" in prefix:
            raise _malformed(f"the namespace {tag[:40]}")
        yield prefix, uri


def _full_name(tag: str, scope: Mapping[str, str], *, is_attribute: bool) -> Name:
    prefix, colon, local = tag.rpartition(":")
    if (colon and not prefix) or not local or ":" in prefix or prefix in ("xml", "xmlns"):
        raise _malformed(f"the name {tag[:40]}")
    if not prefix:
        return ("" if is_attribute else scope.get("", "")), local
    if not scope.get(prefix):
        raise _malformed(f"the prefix {prefix[:40]} is not declared")
    return scope[prefix], local


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"XML: {where}")
