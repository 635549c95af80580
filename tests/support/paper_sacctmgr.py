"""The accounting on paper: takes the words that ``sacctmgr`` would, as plainly as can be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bailiwick.operators.slurm.shared.books import AccountingBooks, Entry
from bailiwick.operators.slurm.shared.limits import QueueLimits

CLOSING = {"GrpSubmitJobs", "GrpJobs", "MaxSubmitJobs", "MaxJobs"}


@dataclass
class PaperSacctmgr:
    """AccountingBooks that are changed by words; what Slurm would refuse is an error here."""

    accounts: dict[str, Entry] = field(default_factory=dict)
    qos: dict[str, QueueLimits] = field(default_factory=dict)
    associations: dict[tuple[str, str, str], Entry] = field(default_factory=dict)
    default_accounts: dict[str, str] = field(default_factory=dict)
    coordinators: set[tuple[str, str]] = field(default_factory=set)
    administrators: set[str] = field(default_factory=set)

    @property
    def books(self) -> AccountingBooks:
        """What is in them."""
        return AccountingBooks(
            dict(self.accounts),
            dict(self.qos),
            dict(self.associations),
            dict(self.default_accounts),
            frozenset(self.coordinators),
            frozenset(self.administrators),
        )

    def call(self, words: tuple[str, ...]) -> None:
        """One call."""
        program, flag, verb, noun, *rest = words
        assert (program, flag) == ("sacctmgr", "-iQ")
        name = "" if not rest or "=" in rest[0] or rest[0] == "where" else rest.pop(0)
        plain = [each for each in rest if each != "where"]
        split = plain.index("set") if "set" in plain else len(plain)
        where = dict(each.split("=", 1) for each in plain[:split])
        told = dict(each.split("=", 1) for each in plain[split + 1 :])
        name = name or where.pop("name", "")
        getattr(self, f"_{verb}_{noun}")(name, where, told)

    def _add_qos(self, name: str, told: dict[str, str], _: dict[str, str]) -> None:
        assert name not in self.qos
        assert told.pop("Flags") == "DenyOnLimit"
        self.qos[name] = _limited(QueueLimits(), told)

    def _modify_qos(self, name: str, _: dict[str, str], told: dict[str, str]) -> None:
        self.qos[name] = _limited(self.qos[name], told)

    def _remove_qos(self, name: str, *_: object) -> None:
        used = [*self.accounts.values(), *self.associations.values()]
        assert not any(name in each.qos for each in used), "limits that somebody has"
        del self.qos[name]

    def _add_account(self, name: str, told: dict[str, str], _: dict[str, str]) -> None:
        assert name not in self.accounts
        self.accounts[name] = self._entry(Entry(frozenset()), told)

    def _modify_account(self, name: str, _: dict[str, str], told: dict[str, str]) -> None:
        self.accounts[name] = self._entry(self.accounts[name], told)

    def _remove_account(self, name: str, *_: object) -> None:
        assert not any(account == name for _, account, _ in self.associations), "it has users"
        del self.accounts[name]

    def _add_user(self, name: str, told: dict[str, str], _: dict[str, str]) -> None:
        key = name, told.pop("account"), told.pop("partition")
        is_new = not any(user == name for user, _, _ in self.associations)
        assert (told.pop("wckey", None), told.pop("defaultwckey", None)) == (
            ("own", "own") if is_new else (None, None)
        )
        assert key not in self.associations
        assert key[1] in self.accounts
        self.associations[key] = self._entry(Entry(frozenset()), told)
        self.default_accounts.setdefault(name, key[1])

    def _modify_user(self, name: str, where: dict[str, str], told: dict[str, str]) -> None:
        if "adminlevel" in told:
            self.administrators.discard(name)
        elif "DefaultAccount" in told:
            assert any(key[:2] == (name, told["DefaultAccount"]) for key in self.associations)
            self.default_accounts[name] = told["DefaultAccount"]
        else:
            key = name, where["account"], where["partition"]
            self.associations[key] = self._entry(self.associations[key], told)

    def _remove_user(self, name: str, where: dict[str, str], _: dict[str, str]) -> None:
        if not where:  # altogether
            kept = [key for key in self.associations if key[0] != name]
            self.associations = {key: self.associations[key] for key in kept}
            self.coordinators = {each for each in self.coordinators if each[1] != name}
            self.administrators.discard(name)
        else:
            del self.associations[name, where["account"], where["partition"]]
        left = {account for user, account, _ in self.associations if user == name}
        if not left:
            self.default_accounts.pop(name)
        else:
            assert self.default_accounts[name] in left, "his default account would be gone"

    def _remove_coordinator(self, _: str, where: dict[str, str], __: dict[str, str]) -> None:
        self.coordinators.remove((where["account"], where["names"]))

    def _entry(self, before: Entry, told: dict[str, str]) -> Entry:
        found = before
        if "qos" in told:
            assert told["qos"] == told["defaultqos"]
            assert {*told["qos"].split(",")} <= {*self.qos}, "limits that there are"
            found = replace(found, qos=frozenset(told["qos"].split(",")))
        closing = {value for word, value in told.items() if word in CLOSING}
        assert {*told} <= CLOSING | {"qos", "defaultqos"}
        return replace(found, is_closed=closing == {"0"}) if closing else found


def _limited(before: QueueLimits, told: dict[str, str]) -> QueueLimits:
    tres = dict(before.tres)
    for word in filter(None, told.get("GrpTRES", "").split(",")):
        name, _, number = word.rpartition("=")
        tres[name] = int(number)
    tres = {name: number for name, number in tres.items() if number >= 0}
    fields = {"GrpJobs": "jobs", "GrpSubmitJobs": "submitted", "MaxWall": "minutes"}
    found = {fields[word]: int(n) for word, n in told.items() if word in fields}
    plain = {name: None if n < 0 else n for name, n in found.items()}
    return replace(before, tres=tres, **plain)  # type: ignore[arg-type]  # the three numbers
