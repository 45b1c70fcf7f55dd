"""What providers are told of an answer's shape, and that nothing a model says breaks its reader."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from judgment.llm.answering import read_answer, repair_text, schema_text
from judgment.llm.completion import read_completion
from judgment.llm.schema import property_names, schema_of


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    title: str = Field(default="Rex", min_length=1, max_length=5, description="What it hears to")


class Zoo(BaseModel):
    """Animals."""

    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(max_length=3)
    properties: str | None = None
    default: float = Field(default=0.5, ge=0, le=1)


class Open(BaseModel):
    weights: dict[str, float]


class Tree(BaseModel):
    children: list[Tree] = []


def _objects(node: Any) -> list[dict[str, Any]]:
    found = [node] if isinstance(node, dict) and node.get("type") == "object" else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return found + [o for child in children for o in _objects(child)]


@pytest.mark.promise("P2-1")
def test_every_object_requires_all_it_has_and_nothing_else_is_allowed():
    schema = schema_of(Zoo).schema
    objects = _objects(schema)
    assert len(objects) == 3
    for node in objects:
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False
    assert schema["required"] == ["pets", "properties", "default"]
    jsonschema.Draft202012Validator.check_schema(schema)


def test_what_providers_do_not_take_is_said_in_words():
    text = json.dumps(schema_of(Zoo).schema)
    assert not [
        word for word in ("maxLength", "minLength", "oneOf", "discriminator") if word in text
    ]
    dog = schema_of(Zoo).schema["$defs"]["Dog"]["properties"]
    assert dog.keys() == {"kind", "title"}
    assert dog["title"] == {
        "type": "string",
        "description": "What it hears to; at most 5 characters; at least 1 characters",
    }
    assert schema_of(Zoo).schema["properties"]["pets"]["maxItems"] == 3


def test_keys_of_a_models_own_making_cannot_be_enforced():
    assert schema_of(Zoo).strict
    assert not schema_of(Open).strict
    assert schema_of(Open).schema["properties"]["weights"]["additionalProperties"] == {
        "type": "number"
    }
    assert schema_of(Tree).strict


def test_names_are_what_providers_allow():
    class Ünlike(BaseModel):
        x: int

    assert schema_of(Ünlike).name == "_nlike"
    assert property_names(Zoo) >= {"pets", "kind", "lives", "title", "properties", "default"}


animals = st.one_of(
    st.builds(Cat, kind=st.just("cat"), lives=st.integers(0, 99)),
    st.builds(Dog, kind=st.just("dog"), title=st.text("abc", min_size=1, max_size=5)),
)
zoos = st.builds(
    Zoo,
    pets=st.lists(animals, max_size=3),
    properties=st.none() | st.text("abc"),
    default=st.floats(0, 1),
)


@given(zoos)
def test_every_value_fits_the_schema_of_its_shape_and_is_read_back(zoo: Zoo):
    jsonschema.validate(zoo.model_dump(), schema_of(Zoo).schema)
    assert read_answer(zoo.model_dump_json(), Zoo) == (zoo, ())


@given(st.text())
def test_no_text_breaks_the_reader_of_answers(text: str):
    value, complaints = read_answer(text, Zoo)
    assert (value is None) == bool(complaints)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["pets", "properties", "default", "x"]), json_values))
def test_no_json_breaks_the_reader_of_answers(answer: dict[str, Any]):
    value, complaints = read_answer(json.dumps(answer), Zoo)
    assert (value is None) == bool(complaints)


MARK = "words-of-the-model"


@given(st.sampled_from([{MARK: 1}, {"pets": [{"kind": MARK}]}, {"pets": MARK}, {"default": MARK}]))
def test_no_complaint_repeats_a_word_of_the_answer(answer: dict[str, Any]):
    value, complaints = read_answer(json.dumps(answer), Zoo)
    assert value is None
    assert not [complaint for complaint in complaints if MARK in complaint]


PARTS = ["choices", "message", "content", "finish_reason", "refusal", "usage", "prompt_tokens"]
bodies = st.recursive(
    json_values,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(PARTS), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(PARTS), bodies))
def test_no_body_breaks_the_reader_of_completions(body: dict[str, Any]):
    read = read_completion(body)
    assert read.failure is not None or read.text.strip()
    assert read.usage is None or 0 <= read.usage.prompt_tokens <= 2**31 - 1


def test_a_repair_holds_complaints_and_schema_and_no_more():
    text = repair_text(["a" * 1_000] * 100, Zoo)
    assert text.count("\n- ") == 20
    assert text.endswith(schema_text(Zoo))
