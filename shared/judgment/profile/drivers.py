"""Drivers and their two directions, in words and as wire names.

A driver's weight has a sign: someone may be drawn to a long commitment or away from it. Both
directions have a name of their own, so that `primary_driver` never says "commitment" about
somebody who avoids it. The phrases also finish "… outweighs …" and "the weight on …". A driver
without a row here speaks by its own name.
"""

from __future__ import annotations

from dataclasses import dataclass

NO_DRIVER = "mixed"


@dataclass(frozen=True)
class Driver:
    """One driver: `more` and `less` finish the sentence "leans towards …"."""

    name: str
    more: str
    less: str
    less_name: str


_CONTRACT = (
    Driver("price", "a lower price", "a higher price", "higher_price"),
    Driver("commitment", "a longer commitment", "a shorter commitment", "flexibility"),
    Driver("local_supplier", "a local supplier", "a supplier from elsewhere", "outside_supplier"),
    Driver("known_supplier", "a well-known supplier", "a lesser-known supplier", "new_supplier"),
    Driver("predictability", "a rate that stays fixed", "a rate that varies", "variable_rates"),
)
_SCENARIO = (
    Driver("fairness", "equal treatment", "favouring some", "favouring_some"),
    Driver("loyalty", "standing by people", "letting go of old ties", "detachment"),
    Driver("autonomy", "letting people decide for themselves", "central control", "control"),
    Driver("transparency", "openness", "discretion", "discretion"),
    Driver("stability", "keeping what works", "change", "change"),
    Driver("growth", "expansion", "restraint", "restraint"),
    Driver("speed", "acting now", "waiting", "patience"),
    Driver("long_term", "the long run", "the short run", "short_term"),
    Driver("harmony", "peace in the group", "open conflict", "confrontation"),
    Driver("merit", "reward by result", "the same reward whatever the result", "equal_reward"),
    Driver("care", "sparing individuals hardship", "hardness on individuals", "toughness"),
    Driver("thrift", "saving resources", "spending resources", "spending"),
)
SCENARIO_DRIVERS: tuple[str, ...] = tuple(row.name for row in _SCENARIO)
"""The drivers that a round's options may offer; the others belong to the seeded contracts."""
DRIVERS = {row.name: row for row in (*_CONTRACT, *_SCENARIO)}


def driver(name: str) -> Driver:
    """The row of that driver, or one made from its name, which is then said in quotes."""
    words = spoken(name)
    return DRIVERS.get(name) or Driver(name, f"more {words}", f"less {words}", f"less_{name}")


def spoken(name: str) -> str:
    """A driver's name in words; in quotes where it is not ours, because it is somebody's text."""
    words = name.replace("_", " ")
    return words if name in DRIVERS else f'"{words}"'


def wire_name(name: str, weight: float) -> str:
    """What the contract calls a pull of this sign."""
    return name if weight >= 0 else driver(name).less_name


def in_words(name: str, weight: float) -> str:
    """What a sentence calls a pull of this sign."""
    return driver(name).more if weight >= 0 else driver(name).less
