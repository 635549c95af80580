"""Signed manifests have one reading, the one that was signed; held against lxml and signxml."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from signxml import (
    CanonicalizationMethod,
    DigestAlgorithm,
    SignatureConfiguration,
    SignatureMethod,
    XMLSigner,
    XMLVerifier,
    methods,
)
from signxml.exceptions import InvalidSignature
from typer.testing import CliRunner

from bailiwick.attestation.formats.certificates import read_certificates
from bailiwick.attestation.formats.xml_tree import Element, canonical, read_xml, walk_tree
from bailiwick.attestation.gpu.rim import read_rim
from bailiwick.attestation.gpu.verifier import Golden, GoldenKind
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.cli.commands.attest import app
from tests.support import evidence_gpu as made
from tests.support.attestation_cases import shared
from tests.support.certificates import AT_MS, ec_key, pem

GOOD = made.rim()
SHARED = sorted(shared("gpu-cc").glob("rims/*.swidtag"))
SHARED_AT_MS = 1_705_320_000_000  # 2024-01-15: while its signers were valid


def read(raw: bytes, *, root: str = "rim-root", at_ms: int = AT_MS) -> Golden:
    return read_rim(raw, roots=(made.rim_root(root),), at_ms=at_ms)


def reason_of(ask: Callable[[], Any]) -> str:
    with pytest.raises(EvidenceError) as caught:
        ask()
    return caught.value.reason.value


# --- values ------------------------------------------------------------------------------------


def test_active_values_with_all_alternatives_are_golden_until_the_signer_ends() -> None:
    assert read(GOOD) == Golden(
        "GH100",
        GoldenKind.DRIVER,
        made.DRIVER,
        {7: frozenset({made.BLOCKS[7]}), 9: frozenset({bytes(48), made.BLOCKS[9]})},
        made.RIM_ENDS_MS + 999,
    )


def test_a_version_of_five_octets_is_a_vbios_and_is_written_one_way() -> None:
    golden = read(made.rim(made.rim_body("96.00.5e.00.01")))
    assert (golden.kind, golden.version) == (GoldenKind.VBIOS, "96.00.5E.00.01")


@pytest.mark.skipif(not SHARED, reason=f"no manifests at {shared('gpu-cc')}")
def test_the_shared_manifests_hold_21_and_12_values() -> None:
    roots = read_certificates((shared("gpu-cc") / "nvidia-rim-root.pem").read_bytes())
    found = [read_rim(path.read_bytes(), roots=roots, at_ms=SHARED_AT_MS) for path in SHARED]
    told = {each.kind.value: (each.version, len(each.measurements)) for each in found}
    assert told == {"driver": ("545.00", 21), "vbios": ("96.00.5E.00.01", 12)}


ROW = next(row for row in made.rim_body().splitlines(keepends=True) if 'index="7"' in row)


@pytest.mark.parametrize(
    "change",
    [
        (ROW, ROW + ROW),
        (ROW, ROW.replace('"Measurement"', '"Other"')),
        (ROW, ROW.replace('index="7"', 'index="07"')),
        (ROW, ROW.replace('index="7"', 'index="-7"')),
        (ROW, ROW.replace('index="7"', 'index="255"')),
        (ROW, ROW.replace('active="True"', 'active="true"')),
        (ROW, ROW.replace('alternatives="1"', 'alternatives="2"')),
        (ROW, ROW.replace("Hash0", "Hash1")),
        (ROW, ROW.replace("ns2:Hash0", "ns0:Hash0")),
        (ROW, ROW.replace(made.BLOCKS[7].hex(), made.BLOCKS[7].hex()[2:])),
        (ROW, ROW.replace(made.BLOCKS[7].hex(), "x" * 96)),
        ("ns0:Meta", "ns0:Other"),
        (' colloquialVersion="545.00"', ""),
        ("545.00", "545 00"),
        ("GH100", ""),
        ('<ns0:Entity name="Bailiwick tests"', "<ns0:Payload/><ns0:Entity"),
        ("SoftwareIdentity", "Software"),
        (made.SWID, "urn:other"),
    ],
)
def test_a_signed_manifest_of_another_form_is_malformed(change: tuple[str, str]) -> None:
    body = made.rim_body()
    assert change[0] in body
    assert reason_of(lambda: read(made.rim(body.replace(*change)))) == "malformed"


# --- signature and chain -----------------------------------------------------------------------


def test_the_signer_must_lead_to_the_pinned_root_at_that_time() -> None:
    assert reason_of(lambda: read(GOOD, root="other")) == "rim_chain"
    assert reason_of(lambda: read(GOOD, at_ms=made.RIM_ENDS_MS + 1000)) == "rim_chain"
    assert read(GOOD, at_ms=made.RIM_ENDS_MS + 999)


@pytest.mark.parametrize(
    "signing",
    [
        made.Signing(key="other"),
        made.Signing(reference="#a"),
        made.Signing(reference="other.xml"),
        made.Signing(transforms=(made.C14N,)),
        made.Signing(transforms=(made.C14N, made.DS + "enveloped-signature")),
        made.Signing(transforms=(made.DS + "enveloped-signature",)),
        made.Signing(
            transforms=(
                made.DS + "enveloped-signature",
                "http://www.w3.org/2001/10/xml-exc-c14n#",
            )
        ),
        made.Signing(transforms=(made.DS + "enveloped-signature", made.C14N, made.C14N)),
        made.Signing(method=made.MORE + "ecdsa-sha256"),
        made.Signing(method=made.DS + "hmac-sha1"),
        made.Signing(digest=made.DS + "sha1"),
    ],
)
def test_a_signature_of_any_other_form_is_refused(signing: made.Signing) -> None:
    assert reason_of(lambda: read(made.rim(None, signing))) == "rim_signature"


def _signature() -> str:
    text = GOOD.decode()
    return text[text.index("<ds:Signature ") : text.index("</ds:Signature>") + 15]


def _wrappings() -> dict[str, bytes]:
    good, sig = GOOD.decode(), _signature()
    evil = made.rim_body(made.DRIVER, {7: [made.BLOCKS[8]]})
    end, entity = "</SoftwareIdentity>", "    <ns0:Entity"
    within = evil.replace(entity, f"<x>{good}</x>{entity}")
    return {
        "the good document inside, signature outside": made.wrapped(),
        "the good document inside the evil one": within.encode(),
        "the signature twice": good.replace(end, sig + end).encode(),
        "the signature deeper": good.replace(sig, f"<x>{sig}</x>").encode(),
        "the signature around the evil document": good.replace(
            sig, sig.replace("</ds:Signature>", f"<ds:Object>{evil}</ds:Object></ds:Signature>")
        ).encode(),
        "a second reference": good.replace(
            "</ds:SignedInfo>", '<ds:Reference URI="#b"/></ds:SignedInfo>'
        ).encode(),
        "the evil document with the good signature": evil.replace(end, sig + end).encode(),
        "a key by its value": re.sub(
            "<ds:X509Data>.*</ds:X509Data>",
            "<ds:KeyValue/>",
            good,
            flags=re.S,
        ).encode(),
        "no certificate": re.sub(
            "<ds:X509Certificate>.*</ds:X509Certificate>", "", good, flags=re.S
        ).encode(),
        "no signature value": re.sub(
            "<ds:SignatureValue>.*</ds:SignatureValue>", "", good
        ).encode(),
        "a signature value that is not base64": good.replace(
            "<ds:SignatureValue>", "<ds:SignatureValue>*"
        ).encode(),
        "text in the signed info": good.replace("</ds:SignedInfo>", "x</ds:SignedInfo>").encode(),
    }


@pytest.mark.parametrize("name", _wrappings())
def test_signature_wrapping_is_refused(name: str) -> None:
    assert reason_of(lambda: read(_wrappings()[name])) == "rim_signature"


def test_a_signature_elsewhere_is_refused_even_where_all_digests_agree() -> None:
    body = made.rim_body().replace("    <ns0:Entity", "<x></x><ns0:Entity")
    whole = made.rim(body).decode()
    assert read(whole.encode())
    begin, end = whole.index("<ds:Signature "), whole.index("</ds:Signature>") + 15
    moved = (whole[:begin] + whole[end:]).replace("<x></x>", f"<x>{whole[begin:end]}</x>")
    assert reason_of(lambda: read(moved.encode())) == "rim_signature"


def test_a_second_signature_is_refused_even_where_the_first_one_signs_it() -> None:
    empty = f'<ds:Signature xmlns:ds="{made.DS}"/>'
    body = made.rim_body()
    for place in ("    <ns0:Entity", "</SoftwareIdentity>"):
        signed = made.rim(body.replace(place, empty + place))
        assert reason_of(lambda raw=signed: read(raw)) == "rim_signature", place


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_changes_no_value(at: int, flip: int) -> None:
    raw = bytearray(GOOD)
    raw[at] ^= flip
    with suppress(EvidenceError):
        assert read(bytes(raw)) == read(GOOD)


# --- against signxml ---------------------------------------------------------------------------


def _oracle(raw: bytes, leaf: x509.Certificate, *, at_ms: int = AT_MS) -> bytes:
    """What signxml says was signed."""
    config = SignatureConfiguration(
        signature_methods=frozenset({SignatureMethod.ECDSA_SHA384}),
        digest_algorithms=frozenset({DigestAlgorithm.SHA384}),
        verification_time=datetime.fromtimestamp(at_ms / 1000, UTC),
    )
    found = XMLVerifier().verify(raw, x509_cert=pem(leaf), expect_config=config)
    assert not isinstance(found, list)
    return found.signed_data


def _ours(raw: bytes) -> bytes:
    tree = read_xml(raw)
    (signature,) = (each for each in walk_tree(tree) if each.name == (made.DS, "Signature"))
    return canonical(tree, without=signature)


def test_signxml_finds_the_same_bytes_signed_in_our_manifests() -> None:
    assert _oracle(GOOD, made.rim_chain()[0]) == _ours(GOOD)


@pytest.mark.skipif(not SHARED, reason=f"no manifests at {shared('gpu-cc')}")
@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.name)
def test_signxml_finds_the_same_bytes_signed_in_the_shared_manifests(path: Any) -> None:
    raw = path.read_bytes()
    text = re.search(rb"<ds:X509Certificate>([^<]*)<", raw)
    assert text
    marked = b"-----BEGIN CERTIFICATE-----\n" + text[1] + b"-----END CERTIFICATE-----\n"
    assert _oracle(raw, read_certificates(marked)[0], at_ms=SHARED_AT_MS) == _ours(raw)


def test_signxml_refuses_the_edited_manifest_too() -> None:
    edited = GOOD.replace(made.BLOCKS[7].hex().encode(), made.BLOCKS[8].hex().encode())
    with pytest.raises(InvalidSignature):
        _oracle(edited, made.rim_chain()[0])
    assert reason_of(lambda: read(edited)) == "rim_signature"


_WORDS = st.text("ab &<>\"'\t\n\r\u00e9\u4e2d\U0001f600", max_size=6)


@settings(max_examples=25)
@given(_WORDS, _WORDS)
def test_what_signxml_signs_we_read(word: str, text: str) -> None:
    tree = etree.fromstring(made.rim_body().encode())
    tree.set("note", word)
    tree[0].text = text
    signer = XMLSigner(
        method=methods.enveloped,
        signature_algorithm=SignatureMethod.ECDSA_SHA384,
        digest_algorithm=DigestAlgorithm.SHA384,
        c14n_algorithm=CanonicalizationMethod.CANONICAL_XML_1_1,
    )
    key = ec_key("rim-signer").private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    chain = [pem(each) for each in made.rim_chain()]
    signed = etree.tostring(signer.sign(tree, key=key, cert=chain))
    assert read(signed).measurements == read(GOOD).measurements


# --- the canonical form, against lxml ----------------------------------------------------------

_TEXT = st.text("ab \t\n&<>\"'\r\u00e9\u4e2d\U0001f600", max_size=5)
_PREFIX = st.sampled_from(["", "p", "q", "r"])
_URI = st.sampled_from(["urn:a", "urn:b", "http://example.org/x?y=1#z", "urn:it's"])
_LOCAL = st.sampled_from(["a", "b", "Zz", "_c", "d.e-f"])


def _quoted(value: str) -> str:
    """An attribute's value, in one of the ways to write it."""
    raw = value.replace("&", "&amp;").replace("<", "&#60;").replace("\r", "&#13;")
    raw = raw.replace("\t", "&#x9;").replace("\n", "\n")
    return f"'{raw.replace(chr(39), '&apos;')}'" if '"' in raw else f'"{raw}"'


@st.composite
def _elements(
    draw: st.DrawFn, scope: tuple[tuple[str, str], ...] = (), depth: int = 0, apart: bool = False
) -> str:
    """A document; with ``apart`` no two prefixes stand for one namespace."""
    declared = draw(st.dictionaries(_PREFIX, _URI, max_size=3))
    if apart:
        declared = {prefix: f"{uri}/{prefix}" for prefix, uri in declared.items()}
    if draw(st.booleans()) and "" not in declared and depth:
        declared[""] = ""
    inside = dict(scope) | declared
    usable = [prefix for prefix, uri in inside.items() if prefix and uri]
    prefix = draw(st.sampled_from(["", *usable]))
    tag = f"{prefix}:{draw(_LOCAL)}" if prefix else draw(_LOCAL)
    names = draw(st.lists(st.tuples(st.sampled_from(["", *usable]), _LOCAL), max_size=4))
    full = {(inside[each] if each else "", local): (each, local) for each, local in names}
    written = [f"{each}:{local}" if each else local for each, local in full.values()]
    pairs = [f"{name}={_quoted(draw(_TEXT))}" for name in written]
    pairs += [
        f"{f'xmlns:{each}' if each else 'xmlns'}={_quoted(uri)}" for each, uri in declared.items()
    ]
    pairs = draw(st.permutations(pairs))
    space = draw(st.sampled_from([" ", "\n  ", "\t"]))
    head = space.join([tag, *pairs])
    children = []
    if depth < 3:
        part = st.one_of(
            _TEXT.map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;")),
            _elements(tuple(inside.items()), depth + 1, apart),
        )
        children = draw(st.lists(part, max_size=3))
    if not children:
        return draw(st.sampled_from([f"<{head}/>", f"<{head}></{tag} >"]))
    return f"<{head}>{''.join(children).replace(']]>', ']]&gt;')}</{tag}>"


def _pairs(ours: Element, theirs: Any) -> list[tuple[Element, Any]]:
    pending, found = [(ours, theirs)], []
    while pending:
        mine, other = pending.pop()
        found.append((mine, other))
        pending.extend(zip(mine.elements, other, strict=True))
    return found


@given(_elements())
def test_the_canonical_form_of_any_document_is_lxmls(text: str) -> None:
    raw = text.encode()
    assert canonical(read_xml(raw)) == etree.tostring(etree.fromstring(raw), method="c14n")


def _as_a_document(part: Any) -> bytes:
    """The canonical form of a part, by lxml: as a document of its own with all that it inherits.

    Of a part as such lxml (6.1) writes declarations that are not there: the inner c14n of
    '<a><a xmlns="urn:a"><a><a/></a></a></a>' has an xmlns="".
    """
    inherited = {prefix: uri for prefix, uri in part.nsmap.items() if uri}
    top = etree.Element(part.tag, attrib=dict(part.attrib), nsmap=inherited)
    top.text = part.text
    top.extend(deepcopy(each) for each in part)
    return etree.tostring(etree.fromstring(etree.tostring(top)), method="c14n")


@given(_elements(apart=True))
def test_the_canonical_form_of_any_part_of_a_document_is_lxmls(text: str) -> None:
    raw = text.encode()
    for ours, theirs in _pairs(read_xml(raw), etree.fromstring(raw)):
        assert canonical(ours) == _as_a_document(theirs)


@given(_elements(), st.data())
def test_one_element_left_out_is_lxmls_tree_without_it(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    tree, theirs = read_xml(raw), etree.fromstring(raw)
    below = _pairs(tree, theirs)[1:]
    if not below:
        return
    ours, other = data.draw(st.sampled_from(below))
    # lxml keeps a removed element's tail only if it is moved to its neighbour first.
    before, parent = other.getprevious(), other.getparent()
    if before is not None:
        before.tail = (before.tail or "") + (other.tail or "")
    else:
        parent.text = (parent.text or "") + (other.tail or "")
    parent.remove(other)
    assert canonical(tree, without=ours) == etree.tostring(theirs, method="c14n")


# --- what the reader of XML refuses ------------------------------------------------------------

BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbb">' + b"".join(
    f'<!ENTITY b{n} "{f"&b{n - 1};" * 10}">'.encode() for n in range(1, 10)
)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"<a>",
        b"<a/><b/>",
        b"<a/>x",
        b"<!DOCTYPE a><a/>",
        BOMB.replace(b"&b0;", b"&b;") + b"]><a>&b9;</a>",
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        b"<a>&b;</a>",
        b"<?b c?><a/>",
        b"<a><?b c?></a>",
        b"<a/><?b c?>",
        b"<a><!-- b --></a>",
        b"<!-- b --><a/>",
        b"<a><![CDATA[b]]></a>",
        b'<?xml version="1.1"?><a/>',
        b'<?xml version="1.0" encoding="latin-1"?><a/>',
        "<a/>".encode("utf-16"),
        b"<a>\xff</a>",
        b"<a>\x00</a>",
        b"<a>&#0;</a>",
        b"<p:a/>",
        b"<a p:b='c'/>",
        b"<a xmlns:p='urn:a' p:b:c='d'/>",
        b"<a:b:c xmlns:a='urn:a'/>",
        b"<:a/>",
        b"<a: xmlns:a='urn:a'/>",
        b"<a xmlns:p='urn:a' xmlns:q='urn:a' p:b='1' q:b='2'/>",
        b"<a b='1' b='2'/>",
        b"<a xmlns:p=''/>",
        b"<a xmlns='relative'/>",
        b"<a xmlns='urn:a&amp;b'/>",
        b"<a xmlns='urn:&quot;'/>",
        b"<a xmlns='urn: a'/>",
        "<a xmlns='urn:\u00e9'/>".encode(),
        b"<\0a\0/\0>\0",
        b"<a xmlns:p='relative'/>",
        b"<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>",
        b"<a xmlns:xmlns='urn:a'/>",
        b"<a xml:lang='en'/>",
        b"<a xml:base='urn:a'/>",
        b"<a" + b"".join(b" b%d=''" % n for n in range(65)) + b"/>",
        b"<a>" * 17 + b"</a>" * 17,
        b"<a>" + b"<b/>" * 4096 + b"</a>",
        b"<a>" + b" " * 256 * 1024 + b"</a>",
    ],
)
def test_xml_beyond_the_narrow_class_is_malformed(raw: bytes) -> None:
    assert reason_of(lambda: read_xml(raw)) == "malformed"


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbf<a/>",
        b'<?xml version="1.0" encoding="utf-8"?>\n<a/>\n',
        b"<a>" * 16 + b"</a>" * 16,
        b"<a>" + b"<b/>" * 4095 + b"</a>",
    ],
)
def test_xml_at_the_bounds_is_read(raw: bytes) -> None:
    assert read_xml(raw).name == ("", "a")


@given(st.binary(max_size=60), st.integers(0, 8000), st.integers(0, 60))
def test_any_bytes_are_read_or_refused(junk: bytes, at: int, drop: int) -> None:
    for raw in (junk, GOOD[:at] + junk + GOOD[at + drop :]):
        with suppress(EvidenceError):
            read(raw)


# --- the command -------------------------------------------------------------------------------


def test_the_command_tells_in_a_table_what_values_are_of_and_how_long_they_hold(
    tmp_path: Path,
) -> None:
    (tmp_path / "driver.swidtag").write_bytes(GOOD)
    (tmp_path / "root.pem").write_text(pem(made.rim_root()))
    given = [str(tmp_path / "driver.swidtag"), "--root", str(tmp_path / "root.pem")]
    told = CliRunner().invoke(app, ["rim", *given, "--at", "2026-11-15T12:00", "-o", "table"])
    assert told.exit_code == 0, told.output
    assert re.search(r"GH100 +driver +545\.00 +2 +2027-12-20 12:00:00Z", told.output)
