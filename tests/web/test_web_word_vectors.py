"""What a page says of a decision is tested against what the command line says of it today."""

from __future__ import annotations

import json
from pathlib import Path

from bailiwick.phrases.templates import names_in, parse_template
from bailiwick.phrases.words import SENTENCES
from bailiwick.wire.answers import Estimate
from bailiwick.wire.work import Remedy
from tests.support.http_house import http_house
from tests.support.word_vectors import DENIALS, FILE, lists, make_vectors


def test_the_committed_sentences_are_those_that_the_command_line_says_today() -> None:
    """To make them anew: ``FILE.write_text(make_vectors())``."""
    assert FILE.read_text("utf-8") == make_vectors()


def test_the_server_tells_pages_the_very_texts_that_they_are_tested_with(tmp_path: Path) -> None:
    with http_house(tmp_path) as house:
        told = house.client.get("/v1/words").json()["words"]
    assert told == lists() == json.loads(FILE.read_text("utf-8"))["words"]


def test_a_sentence_asks_for_no_number_that_its_decision_does_not_carry() -> None:
    kinds = {kind.model_fields["detail"].annotation.__args__[0]: kind for kind in DENIALS}
    for word, text in SENTENCES["denial"].items():
        assert names_in(parse_template(text)) <= kinds[word].model_fields.keys(), word
    for name, kind in (("remedy", Remedy), ("estimate", Estimate)):
        for word, text in SENTENCES[name].items():
            assert names_in(parse_template(text)) <= kind.model_fields.keys(), (name, word)


def test_every_sentence_follows_the_rules_of_templates() -> None:
    for name, said in SENTENCES.items():
        for word, text in said.items():
            assert parse_template(text), (name, word)
