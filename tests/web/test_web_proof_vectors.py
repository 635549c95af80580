"""What the browser's checks are tested against is what our own tools make today."""

from __future__ import annotations

import json

from bailiwick.journal.keys import parse_vkey
from bailiwick.store.journal.proof import Proven, check_proof, parse_proof
from tests.support.proof_vectors import FILE, make_vectors


def test_the_committed_proofs_are_those_that_are_made_today() -> None:
    """To make them anew: ``FILE.write_text(make_vectors())``."""
    assert FILE.read_text("utf-8") == make_vectors()


def test_the_command_line_believes_what_the_browser_is_to_believe() -> None:
    vectors = json.loads(FILE.read_text("utf-8"))
    key, other = parse_vkey(vectors["vkey"]), parse_vkey(vectors["other_vkey"])
    for each in vectors["proofs"]:
        proof = parse_proof(each["file"].encode())
        assert isinstance(check_proof(proof, key), Proven)
        assert not isinstance(check_proof(proof, other), Proven)
