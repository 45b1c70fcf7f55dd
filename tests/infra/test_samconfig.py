"""samconfig.toml: every door can be asked for by name, with an event of its own."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from infra.catalogue import CATALOGUE, Door
from infra.checkout import ROOT

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

SAM = tomllib.loads((ROOT / "samconfig.toml").read_text())


@pytest.mark.parametrize("door", CATALOGUE.doors, ids=lambda door: door.name)
@pytest.mark.promise("P1-9")
def test_a_door_is_found_by_its_name_in_the_synthesized_template(
    door: Door, on_aws: Assembly
) -> None:
    asked = SAM[door.name]["local_invoke"]["parameters"]
    stack = asked["template_file"].removeprefix("cdk.out/").removesuffix(".template.json")
    made = on_aws.templates[stack]["Resources"][asked["function_logical_id"]]
    assert made["Properties"]["FunctionName"] == f"judgment-{door.name}"
    assert "aws:asset:path" in made["Metadata"]
    event = ROOT / asked["event"]
    assert event.parent == ROOT / "events" / door.name
    assert isinstance(json.loads(event.read_text()), dict)


def test_no_other_door_is_named() -> None:
    assert set(SAM) - {"version"} == {door.name for door in CATALOGUE.doors}


def test_layers_are_found_beside_the_template(on_aws: Assembly) -> None:
    for stack in on_aws.templates:
        for name, row in on_aws.resources(stack, "AWS::Lambda::LayerVersion").items():
            assert "aws:asset:path" in row["Metadata"], name
