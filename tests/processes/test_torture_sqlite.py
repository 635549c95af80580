"""One process on SQLite, killed again and again under load: what was told stays true."""

from __future__ import annotations

import os
import random
import time
from functools import partial
from pathlib import Path

from tests.processes.harness import Server, running
from tests.processes.judge import Judge
from tests.processes.load import Load
from tests.support.waiting import until

KILLS = int(os.environ.get("BAILIWICK_KILLS", "26"))


def test_what_was_told_survives_every_kill(tmp_path: Path) -> None:
    seed = int(os.environ.get("BAILIWICK_SEED", random.randrange(10**6)))
    print(f"seed {seed}: BAILIWICK_SEED={seed} repeats the load")
    chance = random.Random(seed)
    data = tmp_path / "data"
    server = Server(tmp_path, "alone", "--data-dir", str(data), "--snapshot-every", "700")
    judge = Judge(str(data))
    with running(server):
        with Load([server.address], server.token, seed=seed) as load:
            for _ in range(KILLS):
                # Mostly in the midst of work, now and then while it still starts.
                if chance.random() < 0.8:
                    until(partial(load.has_more_than, len(load.told)), "it serves again")
                time.sleep(chance.uniform(0.0, 0.5))
                server.kill9()
                judge.check(load.told)
                server.start()
            time.sleep(0.3)
        load.check()
        with server.client() as client:
            status = client.status(digest=True)
        size = Judge(str(data)).check(load.told)  # the whole journal once more, from its beginning
        judge.check_digest(status["size"], status["digest"])
        assert status["epoch"] <= KILLS + 1
        assert server.stop() == 0
    print(f"{KILLS} kills, {size} records, {len(load.told)} answers")
