"""Runs the operator: ``python -m bailiwick.operators.ray [APP] [--alone]``.

The environment says where and as whom: ``BAILIWICK_SERVER``, ``BAILIWICK_TENANT``,
``BAILIWICK_PROJECT``, ``BAILIWICK_TOKEN_FILE``. ``program FILE`` writes down what members run, as
it is published.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bailiwick.operators.kit import TERM_S, OperatorSettings, run_operator
from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.ray.operator import RayOperator, pack_member


def main(words: list[str]) -> None:
    """Run it until told to end."""
    if words[:1] == ["program"]:
        program = pack_member()
        Path(words[1]).write_bytes(program)
        print(digest_of(program))
        return
    alone = "--alone" in words  # one replica only: nobody to agree with
    names = [word for word in words if not word.startswith("-")]
    app = names[0] if names else "ray"
    settings = OperatorSettings.from_environ(app, term_s=0 if alone else TERM_S)
    run_operator(RayOperator().reconcile, settings)


if __name__ == "__main__":
    main(sys.argv[1:])
