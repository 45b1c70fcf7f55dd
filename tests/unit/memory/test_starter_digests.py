"""A text that a starter pack laid down is recognised, and one byte off it is not."""

from __future__ import annotations

import hashlib
import json
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.memory.starter import PAGES, STARTER, page_files, recognised

pytestmark = pytest.mark.promise("P4-starter-digests")

FIGURES = json.loads(
    resources.files("judgment.memory").joinpath("starter_digests.json").read_text("utf-8")
)
REFERENCE: dict[str, list[str]] = FIGURES["reference"]
OURS: dict[str, list[str]] = FIGURES["ours"]
CURRENT = {
    "career": (
        "039d0ff6e9c9568a5385a3dc31899f26884a6c13c3846323f52b348dd0aabc56",
        "79418981ef7fdea42c90cacbd5d4b1f9b135982c1f9d11a2c58db03c25d29c37",
        "7d00c628a0988846be3b94471e6c4ac069db56283982d64509825e95063161fb",
    ),
    "finance": (
        "a26ce5e3dffa9a8595237eac0c7995d4204251532fd3e7250721e60436d38b7d",
        "cbacd2f77436773af8e87412da46da883b975b24862d28b753bdef0ee4bed8fa",
        "4213c5846dbf91369b98439064c3bc44c8e6397dc0dd60ead134f088cd485127",
    ),
    "fitness": (
        "d74c6253e1bec5b8b788c1e51826bb1f54843f37d42814b9e98b72a96c78429b",
        "3e6f67478b97eb1747aaefd4fd8831e358418f56152b1da086507c35db7deb21",
        "e769703062a09b32872b5ef252182910d558fc6143831eac1d90dc67d1f51a5a",
    ),
    "relationships": (
        "8e03113f1de4afa5ff00171101c7038c8d4886363ef4fb3c2a399cc17c8bced3",
        "c8ff41ca22e324385f9210498e400e7e3ec93f816e0bd2b77acb73a7c4f8fede",
        "0f4db7b38aac8e4cf158272722cfb43e97c64e5d48ac9a0f4733606e53d13df7",
    ),
    "new-project": (
        "71ca37c17b4618e6953c5471ecb6e3e3baad611a99f4d979d59e0777c05f556c",
        "ff9385f41271e732dc7a76250fce784f26583da739ef13c3ce35129257342f6e",
        "9606296d890397f7600ba59e53eeab8de23cd73f8a3069415fb67d21a7750b68",
    ),
}
"""The reference's own texts as of its base revision: spec, plan, journal (its §3.5)."""
PROFILE = "6fcd89d965cca5d5060809fe91d28755d166dd66c77471c6212e5da7c0e86dee"
KINDS = ("spec.md", "plan.md", "journal.md")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_text_of_ours_is_recognised_where_it_lies_and_its_digest_is_written_down() -> None:
    """Fails when a text was changed: add its new digest, keep the old, which owners still have."""
    unwritten = {p: digest(c) for p, c in STARTER.items() if digest(c) not in OURS.get(p, [])}
    assert unwritten == {}
    assert all(recognised(path, digest(content)) for path, content in STARTER.items())


@pytest.mark.parametrize("page", CURRENT)
def test_the_references_texts_of_its_base_revision_are_recognised(page: str) -> None:
    for kind, sha256 in zip(KINDS, CURRENT[page], strict=True):
        assert recognised(f"documents/{page}/{kind}", sha256)
    assert recognised("me/profile.md", PROFILE)


def test_every_text_the_reference_ever_laid_down_is_recognised() -> None:
    assert sum(map(len, REFERENCE.values())) == 119
    assert all(len(d) == 64 and set(d) <= set("0123456789abcdef") for ds in REFERENCE.values()
               for d in ds)  # fmt: skip
    assert all(recognised(path, sha256) for path, ds in REFERENCE.items() for sha256 in ds)


@given(st.data())
def test_a_text_with_one_byte_changed_is_not_recognised(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(STARTER)))
    content = bytearray(STARTER[path])
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    assert not recognised(path, digest(bytes(content)))


def test_the_text_of_one_page_is_not_that_of_another() -> None:
    finance = digest(STARTER["documents/finance/spec.md"])
    assert not recognised("documents/fitness/spec.md", finance)
    assert not recognised("documents/finance/plan.md", finance)
    assert not recognised("documents/my-garden/spec.md", finance)
    assert not recognised("spec.md", finance)
    assert not recognised("documents/finance/notes/spec.md", finance)


def test_an_owners_own_page_begins_with_the_texts_of_a_new_project() -> None:
    made = page_files("my-garden", "My Garden")
    names = {path.removeprefix("documents/my-garden/") for path in made}
    assert len(names) == 7
    assert all(
        content == STARTER[path.replace("my-garden", "new-project")]
        for path, content in made.items()
    )
    assert all(recognised(path, digest(content)) for path, content in made.items())
    for kind, sha256 in zip(KINDS, CURRENT["new-project"], strict=True):
        assert recognised(f"documents/my-garden/{kind}", sha256)


def test_a_seeded_page_is_nobodys_own() -> None:
    new = digest(STARTER["documents/new-project/spec.md"])
    for page in PAGES:
        assert recognised(f"documents/{page.id}/spec.md", new) == (page.id == "new-project")


@given(st.text(max_size=40), st.text(max_size=70))
def test_no_other_path_and_no_other_figure_is_recognised(path: str, sha256: str) -> None:
    assert not recognised(path, sha256)
