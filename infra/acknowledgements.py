"""Puts the rows of `infra.findings` on the constructs they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct

from infra.findings import OPEN_ROUTE, PACK, ROWS, Acknowledged

if TYPE_CHECKING:
    from infra.catalogue import Catalogue


def acknowledge(root: IConstruct, catalogue: Catalogue, name: str) -> dict[Acknowledged, int]:
    """Acknowledge every row where it matches; how often each did, so that a test finds stale rows.

    `OPEN_ROUTE` is acknowledged for exactly the methods that the catalogue leaves open.
    """
    nodes = list(root.node.find_all())
    used = dict.fromkeys((*ROWS, OPEN_ROUTE), 0)
    for row in ROWS:
        for node in _matching(nodes, row.where):
            _accept(node, row, name)
            used[row] += 1
    methods = {
        f"Judgment-Service/Front/Api/Default{route.path.rstrip('/')}/{route.method}"
        for route in catalogue.routes
        if route.auth == "none"
    }
    for node in nodes:
        if node.node.path in methods:
            _accept(node, OPEN_ROUTE, name)
            used[OPEN_ROUTE] += 1
    return used


def _matching(nodes: Iterable[IConstruct], where: str) -> Iterable[IConstruct]:
    pattern = re.compile(where)
    return (node for node in nodes if pattern.fullmatch(node.node.path))


def _accept(node: IConstruct, row: Acknowledged, name: str) -> None:
    Validations.of(node).acknowledge(
        Acknowledgment(id=f"{PACK}::{PACK}-{row.rule_for(name)}", reason=row.reason)
    )
