"""The way into a running job: its supervisor starts further programs inside, for whoever may ask.

Loaded by its path from the supervisor (:mod:`bailiwick.executors.local.supervisor`) once the job
runs, so it imports nothing of Bailiwick. Rules:

- It is a socket in the job's folder, which no job can reach. Only the server's own user is heard.
- One connection is one program. What it is to run comes as one message, with its three files or a
  wish for a terminal; how it began and how it ended go back. If the connection ends, so does the
  program: first it is asked, then it is killed.
- Such a program is a child of the supervisor and has what the job has: nothing beyond that. It ends
  with the job's main program at the latest, and is counted and torn down as all of the job is.
- With a program all of its session ends. What left that session stays with the job.
"""

from __future__ import annotations

import _socket
import array
import contextlib
import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from typing import Any

NAME = "door"
MESSAGE_BYTES_MAX = 131_072
GUESTS_MAX = 16
"""Programs that may run in one job at a time beside its own."""

_PEERCRED = 17  # SO_PEERCRED
_FILES = 3
_GRACE_S = 2.0
_KILL_ROUNDS = 50
_ATTACH_S = 600.0
"""How long a job waits for somebody to be attached."""


class Supervised:
    """What the supervisor has for those who come in."""

    def __init__(
        self,
        folder: str,
        order: dict[str, Any],
        *,
        fork: Callable[[], int],
        hold: Callable[[int], None],
        become: Callable[..., None],
        beside: Callable[..., Any],
    ) -> None:
        self.beside = beside
        self.folder, self.order = folder, order
        self.fork, self.hold, self.become = fork, hold, become
        self.waiting: _socket.socket | None = None
        self.main = 0
        """The job's own program, and where it waits for somebody to be attached."""

    def attach(self, guest: Guest) -> int:
        """Hand a guest's connection to the job's own program, once; its process."""
        if self.waiting is None:
            raise FileExistsError("nobody waits for that")
        words = json.dumps(guest.terminal).encode()
        files = array.array("i", [guest.connection.fileno()])
        self.waiting.sendmsg([words], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
        self.waiting.close()
        self.waiting, guest.is_main = None, True
        return self.main

    def let_in(self, wish: dict[str, Any], guest: Guest) -> tuple[int, int]:
        """Have a further program in the job; its process, and where it says what went wrong."""
        order = self.order | {"argv": [str(word) for word in wish["argv"]]}
        if guest.terminal is not None:
            order["env"] = order["env"] | {"TERM": str(guest.terminal["term"])}
        instead = self._instead(wish, tuple(guest.files))
        gate, open_gate = os.pipe()
        fault, tell_fault = os.pipe()
        try:
            pid = self.fork()
            if not pid:
                os.close(open_gate)
                files, has_terminal = tuple(guest.files), guest.terminal is not None

                def own(fault: int) -> tuple[int, ...]:
                    if instead is None:
                        return guest.open_terminal() if has_terminal else files
                    os.close(fault)
                    os._exit(instead())

                self.become(order, gate=gate, fault=tell_fault, files=own)
            self.hold(pid)
            os.write(open_gate, b"!")
        except BaseException:
            os.close(fault)
            raise
        finally:
            for fd in (gate, open_gate, tell_fault):
                os.close(fd)
        return pid, fault

    def _instead(self, wish: dict[str, Any], files: tuple[int, ...]) -> Callable[[], int] | None:
        """What is done inside in the place of running a program; loaded while it is still ours."""
        if not (wish.get("copy") or wish.get("connect")):
            return None
        source, sink, errors = files
        if wish.get("copy"):
            copy = self.beside("copying.py").copy
            return lambda: int(copy(wish["copy"], source, sink=sink, errors=errors))
        connect = self.beside("..", "connecting.py").connect
        keeper = os.getpid(), os.readlink("/proc/self/ns/pid")
        how = {"sink": sink, "errors": errors, "keeper": keeper}
        return lambda: int(connect(wish["connect"], source, **how))


class Guest:
    """One program beside the job's own, and the connection of whoever wanted it."""

    def __init__(self, connection: _socket.socket) -> None:
        self.connection = connection
        self.files: list[int] = []
        self.terminal: dict[str, Any] | None = None
        self.pid = 0
        self.fault = -1
        self.is_main = False
        """Whether it is the job's own program, which waited for this."""
        self.doomed_s: float | None = None

    def tell(self, content: dict[str, Any], *files: int) -> None:
        """Say something to who wanted it; one who does not listen misses it."""
        parts = []
        if files:
            parts = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", files))]
        with contextlib.suppress(OSError):
            self.connection.sendmsg([json.dumps(content).encode()], parts)

    def open_terminal(self) -> tuple[int, int, int]:
        """Inside: a terminal of the job's own; its far end goes to who wanted it."""
        wish = self.terminal or {}
        near, far = os.openpty()
        size = struct.pack("HHHH", int(wish["rows"]), int(wish["columns"]), 0, 0)
        fcntl.ioctl(far, termios.TIOCSWINSZ, size)
        fcntl.ioctl(far, termios.TIOCSCTTY, 0)
        self.tell({"terminal": True}, near)
        return far, far, far

    def close_files(self) -> None:
        """Give back what the program has now."""
        for fd in self.files:
            os.close(fd)
        self.files = []


class JobDoor:
    """Where programs are let into a job; asked by the supervisor's own loop."""

    def __init__(self, job: Supervised, poll: select.poll) -> None:
        self._poll, self._job = poll, job
        self._guests: dict[int, Guest] = {}
        at = os.open(job.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            path = f"/proc/self/fd/{at}/{NAME}.new"  # the folder's own may be too long
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
            self._socket.setblocking(False)
            self._socket.bind(path)
            self._socket.listen(GUESTS_MAX)
            os.rename(path, f"/proc/self/fd/{at}/{NAME}")  # where it is, it is open
        finally:
            os.close(at)
        self._poll.register(self._socket.fileno(), select.POLLIN)

    def serve(self, fd: int) -> None:
        """Something is to be read from one of ours."""
        if fd == self._socket.fileno():
            self._accept()
            return
        for guest in list(self._guests.values()):
            if fd == guest.fault:
                self._learn(guest)
            elif fd == guest.connection.fileno():
                self._hear(guest)

    def tick(self) -> None:
        """Whoever was asked to go and did not is killed."""
        now = time.monotonic()
        for guest in self._guests.values():
            if guest.doomed_s is not None and guest.pid and now >= guest.doomed_s:
                end_session(guest.pid, signal.SIGKILL)

    def ended(self, pid: int, end: dict[str, int]) -> None:
        """A child is about to be reaped; with a guest's program goes all of its session."""
        for guest in list(self._guests.values()):
            if guest.pid == pid:
                _kill_session(pid)
                self._learn(guest)
                is_over = self._socket.fileno() < 0 and not guest.is_main
                guest.tell(end | {"job_over": is_over})
                self._dismiss(guest)

    def close(self) -> None:
        """The job's main program has ended: nobody else comes in, and whoever is inside ends."""
        for guest in list(self._guests.values()):
            if guest.pid:
                guest.doomed_s = 0.0
                end_session(guest.pid, signal.SIGKILL)
            else:
                self._dismiss(guest)
        if self._socket.fileno() >= 0:
            self._poll.unregister(self._socket.fileno())
            self._socket.close()
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._job.folder, NAME))

    def _accept(self) -> None:
        try:
            fd, _ = self._socket._accept()  # type: ignore[attr-defined]
        except OSError:
            return
        connection = _socket.socket(fileno=fd)
        connection.setblocking(False)
        told = connection.getsockopt(_socket.SOL_SOCKET, _PEERCRED, 12)
        guest = Guest(connection)
        is_stranger = struct.unpack("iii", told)[1] != os.geteuid()
        if is_stranger or len(self._guests) >= 2 * GUESTS_MAX:
            connection.close()
        else:
            self._guests[fd] = guest
            self._poll.register(fd, select.POLLIN)

    def _hear(self, guest: Guest) -> None:
        space = _socket.CMSG_SPACE(_FILES * 4)
        try:
            data, parts, _, _ = guest.connection.recvmsg(
                MESSAGE_BYTES_MAX, space, getattr(_socket, "MSG_CMSG_CLOEXEC", 0x40000000)
            )
        except BlockingIOError:
            return
        except OSError:
            data, parts = b"", []
        files = array.array("i")
        for _, kind, piece in parts:
            if kind == _socket.SCM_RIGHTS:
                files.frombytes(piece[: len(piece) - len(piece) % files.itemsize])
        guest.files += list(files)
        if data and not guest.pid and guest.doomed_s is None:
            self._begin(guest, data)
        elif not data:
            self._leave(guest)
        if guest.pid or not data:
            guest.close_files()

    def _begin(self, guest: Guest, data: bytes) -> None:
        if sum(bool(each.pid) for each in self._guests.values()) >= GUESTS_MAX:
            guest.tell({"fault": "limit", "errno": 0})
            self._dismiss(guest)
            return
        try:
            wish = json.loads(data)
            guest.terminal = wish.get("terminal")
            if wish.get("attach"):
                guest.pid = self._job.attach(guest)
                return
            if guest.terminal is None and len(guest.files) != _FILES:
                raise ValueError("no files")
            guest.pid, guest.fault = self._job.let_in(wish, guest)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            word = "attach" if isinstance(error, FileExistsError) else "owner"
            guest.tell({"fault": word, "errno": getattr(error, "errno", None) or 0})
            self._dismiss(guest)
            return
        self._poll.register(guest.fault, select.POLLIN)

    def _learn(self, guest: Guest) -> None:
        """Whether the program took over, as soon as that is known."""
        if guest.fault < 0:
            return
        told = os.read(guest.fault, 200).decode()
        self._poll.unregister(guest.fault)
        os.close(guest.fault)
        guest.fault = -1
        field, _, number = told.partition(" ")
        guest.tell({"fault": field, "errno": int(number)} if told else {"began": guest.pid})

    def _leave(self, guest: Guest) -> None:
        """Who wanted the program is gone."""
        if not guest.pid:
            self._dismiss(guest)
            return
        if guest.doomed_s is None:
            guest.doomed_s = time.monotonic() + _GRACE_S
            self._poll.unregister(guest.connection.fileno())
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
                end_session(guest.pid, number)

    def _dismiss(self, guest: Guest) -> None:
        fd = guest.connection.fileno()
        with contextlib.suppress(KeyError):
            self._poll.unregister(fd)
        guest.close_files()
        guest.connection.close()
        self._guests.pop(fd, None)


def pair() -> tuple[_socket.socket, _socket.socket]:
    """Two ends, for the supervisor and for the job's own program."""
    return _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)


def await_guest(waiting: _socket.socket, order: dict[str, Any]) -> tuple[int, int, int]:
    """In the job's own process: wait until somebody is attached, and take his terminal."""
    if not select.select([waiting], [], [], _ATTACH_S)[0]:
        raise TimeoutError("nobody came")
    data, parts, _, _ = waiting.recvmsg(MESSAGE_BYTES_MAX, _socket.CMSG_SPACE(4))
    files = array.array("i")
    files.frombytes(parts[0][2][:4])
    os.set_inheritable(files[0], False)
    guest = Guest(_socket.socket(fileno=files[0]))
    guest.terminal = json.loads(data)
    order["env"] = order["env"] | {"TERM": str((guest.terminal or {})["term"])}
    found = guest.open_terminal()
    guest.tell({"began": os.getpid()})
    return found


def end_session(session: int, number: signal.Signals) -> int:
    """Signal all that lives of a session; how many. Its leader must not have been reaped yet."""
    if sys.platform != "linux":  # others have no handles to processes
        raise OSError("only on Linux")
    reached = 0
    for name in os.listdir("/proc"):
        if not name.isdigit() or not _is_of(int(name), session):
            continue
        with contextlib.suppress(OSError), _closing(os.pidfd_open(int(name))) as handle:
            if _is_of(int(name), session):  # and not one that took over the id
                signal.pidfd_send_signal(handle, number)
                reached += 1
    return reached


def _kill_session(session: int) -> None:
    for _ in range(_KILL_ROUNDS):  # they may start others meanwhile
        if not end_session(session, signal.SIGKILL):
            return


def _is_of(pid: int, session: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            words = stat.read().rpartition(b")")[2].split()
    except OSError:
        return False
    return int(words[3]) == session and words[0] not in (b"Z", b"X")


@contextlib.contextmanager
def _closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)
