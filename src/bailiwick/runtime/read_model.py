"""The read model: a second state that follows the durable journal, in a thread of its own.

Rules:

- Pages, lists, sums and rehearsals are answered from here. They cost the writer nothing, and a
  writer that waits for its disk keeps nobody from reading.
- A read begins when the model has taken up everything that was durable when it was asked for. So
  whoever was answered sees what he did.
- Every answer can tell how long it may have been out of date: since the journal was last known to
  be no longer than what is taken up.
- What takes a moment (``urgent``: one thing by its key) goes before what may take longer.
- It takes up what the replica hands on, or else reads the lines, which the replica has verified.
  What fails is thrown away and read again from the store; until then it answers nobody.
- Only its thread touches the state: a read may use all that deciding uses.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from bailiwick.journal import parse_record
from bailiwick.kernel import State
from bailiwick.kernel.machine import Step, step_of, take_step
from bailiwick.runtime.feed import DurableLines
from bailiwick.runtime.follower import Follower
from bailiwick.runtime.indexes import Indexes
from bailiwick.runtime.rebuild import rebuild
from bailiwick.runtime.replica import Replica, View
from bailiwick.vocab.errors import InvariantBroken

BATCH = 200
"""Records between two looks at who waits."""
IDLE_S = 0.02
"""How often news are taken up while nobody asks."""
PAUSE_S, PAUSE_S_MAX = 0.05, 5.0

Read = Callable[[View], None]


class FollowedState:
    """The fold: a state, and its indexes."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self.state: State | None = None
        self.indexes: Indexes | None = None

    def begin(self, size: int) -> int:
        """Where the state is; without one, it is made again from the store."""
        del size
        if self.state is None:
            replica = self._replica
            kernel, _ = rebuild(
                replica.store,
                read_max=replica.pace.read_max,
                warn=replica.warn,
                stamps=replica.stamps,
            )
            self.indexes, self.state = Indexes(kernel.state), kernel.state
        return self.state.size

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Have these take effect; after an error there is no state any more."""
        state, indexes = self.state, self.indexes
        if state is None or indexes is None or state.size != first:
            raise InvariantBroken(f"the read model is not at record {first}")
        self.state = None
        for step in self._steps(first, lines):
            take_step(state, step)
            indexes.note()
        self.state = state
        return state.size

    def _steps(self, first: int, lines: Sequence[bytes]) -> list[Step]:
        steps = self._replica.journal.steps(first, len(lines))
        if steps is not None and len(steps) == len(lines):
            return steps
        return [step_of(parse_record(line[:-1])) for line in lines]


class ReadModel:
    """Answers reads of one replica; from any thread."""

    def __init__(self, replica: Replica) -> None:
        self._replica = replica
        self._fold = FollowedState(replica)
        lines = DurableLines(replica.journal, replica.store.read)
        self._follower = Follower(self._fold, lines, name="read model", batch=BATCH)
        self._urgent: deque[tuple[int, Read]] = deque()
        self._others: deque[tuple[int, Read]] = deque()
        self._known_ms = -(2**62)
        self._is_ready = self._stopping = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reads", daemon=True)

    @property
    def size(self) -> int:
        """How many records it has taken up."""
        return self._follower.position

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self, wait_s: float) -> None:
        """Finish the read under way; nobody is answered from then on."""
        self._stopping, self._is_ready = True, False
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(wait_s)

    def ask(self, read: Read, *, urgent: bool = False) -> bool:
        """Have ``read`` called once all that is durable now is taken up; not, while it cannot."""
        if not self._is_ready:
            return False
        queue = self._urgent if urgent else self._others
        queue.append((self._replica.journal.size, read))
        self._wake.set()
        return True

    def _run(self) -> None:
        pause_s = PAUSE_S
        while not self._stopping:  # until stopped: this is the model's own thread
            self._wake.wait(IDLE_S)
            self._wake.clear()
            try:
                self._follow()
                pause_s = PAUSE_S
            except Exception as error:
                self._is_ready = False
                self._replica.warn(f"the read model begins again from the store: {error}")
                self._hand_back()
                self._wake.wait(pause_s)
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
        self._hand_back()

    def _follow(self) -> None:
        """Take up what is durable, a batch at a time, and answer those who waited for it."""
        while not self._stopping:  # bounded by the records there are
            known = self._replica.known
            more = self._follower.advance()
            if self._fold.state is None:
                return  # the replica is still reading the store
            if self.size >= known.size:
                self._known_ms = known.elapsed_ms
            if not more:
                self._is_ready = True
            self._answer(self._fold.state)
            if not more:
                return

    def _answer(self, state: State) -> None:
        for queue in (self._urgent, self._others):
            for _ in range(len(queue)):
                if queue is self._others and self._urgent:
                    self._answer_next(state, self._urgent)
                self._answer_next(state, queue)

    def _answer_next(self, state: State, queue: deque[tuple[int, Read]]) -> None:
        wanted, read = queue.popleft()
        if wanted > state.size:
            queue.append((wanted, read))
            return
        clock = self._replica.clock
        age_ms = max(0, clock.elapsed_ms() - self._known_ms)
        now_ms = max(clock.now_ms(), state.clock_ms)
        read(View(state, now_ms, age_ms, self._replica.role, self._fold.indexes))

    def _hand_back(self) -> None:
        """Those who wait are answered by the replica itself, as if they had asked it."""
        for queue in (self._urgent, self._others):
            while queue:  # bounded: nobody is added while it is not ready
                self._replica.read_soon(queue.popleft()[1])
