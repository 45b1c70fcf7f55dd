"""Where a path may lead: below the root, to one place everywhere, to nothing that is reserved."""

from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgment.memory.model import MemoryFailure
from judgment.memory.paths import Neighbours, clash, contained, folded, folder, parents, writable
from judgment.memory.transfer.names import arriving

pytestmark = pytest.mark.promise("P4-memory-contain", "R-41")


def code(text: str) -> str:
    """What a path is refused with, or what it means."""
    try:
        return contained(text)
    except MemoryFailure as failure:
        return failure.code if failure.recoverable else "not recoverable"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("me/profile.md", "me/profile.md"),
        ("  me/profile.md\n", "me/profile.md"),
        ("./me//./profile.md/", "me/profile.md"),
        ("me/../documents/x.md", "documents/x.md"),
        ("diagnostics/../me/x.md", "me/x.md"),
        ("me/diagnostics/x.md", "me/diagnostics/x.md"),
        ("me/.gitignore", "me/.gitignore"),
        (".github/x", ".github/x"),
        ("u\u0308ber.md", "über.md"),
        ("what now? (2).md", "what now? (2).md"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.md",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.md",
        ),
        ("❤\ufe0f/👩\u200d🚀.md", "❤\ufe0f/👩\u200d🚀.md"),
        ("console/auxiliary.md", "console/auxiliary.md"),
        ("a/~b/c~1.md", "a/~b/c~1.md"),
        ("é" * 127, "é" * 127),
        ("/".join("a" * 32), "/".join("a" * 32)),
    ],
)
def test_a_path_below_the_root_is_told_in_one_form(text: str, path: str) -> None:
    assert contained(text) == path
    assert contained(path) == path


@pytest.mark.parametrize(
    "text",
    [
        *("..", "../x", "me/../../x", "a/b/../../../x", "./..", "me/../.."),
        *("/", "/etc/passwd", "//x", "~", "~/x", "~root/x", "C:\\x", "c:x", "C:/x", "\\\\host\\x"),
        *("a\\b", "..\\x", "me\\..\\..\\x", "a:b", "a/b:c", "x.md::$DATA"),
        *(
            "a\0b",
            "a\x01b",
            "a\x7fb",
            "a\x85b",
            "a\nb",
            "a\tb/c",
            "a\u2028b",
            "a\ud800b",
            "a\udfff",
        ),
        *("a./b", "a /b", "a/b.", "a/.. /b", "a/ b", "a/.../b", "…/x", "a/b…", "a\u3000/b"),
        *("AUX", "aux.md", "con", "Con.tar.gz", "a/NUL/b", "prn .txt", "COM1", "lpt9.x", "COM¹"),
        *("conin$", "CONOUT$.md", "\uff21\uff35\uff38"),
        *("prefer~1/default.json", "CONVER~1/x", "docume~2", "documents/projec~1.jso", "DIAGNO~1"),
        *("a\uff0fb", "a\uff3cb", "a\uff1ab", "\uff0e\uff0e/x", "\u2025/x"),
        *("a\u200bb", "a\ufeff", "\u202eb", "a\u00adb", "a\u2066b", "\u200d", "a/\ufe0f/b"),
        *("a" * 256, "é" * 128, "/".join("a" * 33), "a/" * 600, "a" * 2_000_000),
    ],
)
def test_a_path_that_leads_out_or_elsewhere_is_refused(text: str) -> None:
    assert code(text) == "path_invalid"
    with pytest.raises(MemoryFailure):
        folder(text)


@pytest.mark.parametrize("text", ["", " ", ".", "./", "me/.."])
def test_the_root_is_a_folder_and_no_file(text: str) -> None:
    assert folder(text) == ""
    assert code(text) == "path_invalid"


def test_of_a_text_that_is_no_path_nothing_is_kept() -> None:
    before = folded.cache_info()
    assert code("a" * 2_000_000) == code("a/../" * 400_000) == "path_invalid"
    assert folded.cache_info() == before


def test_a_path_that_escapes_is_told_so_in_the_words_of_the_reference() -> None:
    with pytest.raises(MemoryFailure, match="Path escapes memory root"):
        contained("me/../../x")


@pytest.mark.parametrize(
    "text",
    [
        *(".git", ".git/config", ".GIT/x", "./.git/x", "me/../.git/x", " .git/x"),
        *(".g\u200cit/x", ".gi\ufe0ft/x", "\ufeff.git/x", ".git\u200d/x", ".g\u00adit/x"),
        *(
            ".\uff47it/x",
            "\uff0egit/x",
            ".\uff27\uff29\uff34",
            "git~1/x",
            "GIT~1",
            ".git./x",
            ".git /x",
            ".git . ./x",
        ),
        *("me/.git/config", "documents/a/.GIT/hooks/x", "a/git~1"),
        *("diagnostics", "diagnostics/", "Diagnostics/audit/x", "DIAGNOSTICS"),
        *("diagno\u017ftics/x", "diag\u2060nostics/x", "\uff44iagnostics", "diagnostics./x"),
    ],
)
def test_what_is_reserved_is_reached_under_no_name(text: str) -> None:
    assert code(text) == "reserved_path"
    with pytest.raises(MemoryFailure) as refused:
        folder(text)
    assert refused.value.code == "reserved_path"


def test_a_dotless_i_is_another_letter_on_every_system() -> None:
    assert code("d\u0131agnostics") == "d\u0131agnostics"


@pytest.mark.parametrize(
    "path",
    [
        *("preferences", "preferences/default.json", "Preferences/x", "PREFERENCES"),
        *("conversations/x.md", "conver\u200dsations/x", "conversations/index.json"),
        *("documents/projects.json", "Documents/Projects.JSON", "documents/projects.json/x"),
        "\uff50references/x",
    ],
)
def test_tools_do_not_write_what_the_system_keeps(path: str) -> None:
    with pytest.raises(MemoryFailure) as refused:
        writable(path)
    assert refused.value.code == "reserved_path"


def test_tools_write_everything_else() -> None:
    open_to_tools = [
        *("documents/projects.json.md", "documents/x/projects.json", "documents"),
        *("me/preferences", "preferences2/x", "AGENT.md"),
    ]
    for path in open_to_tools:
        assert writable(path) is None


@pytest.mark.parametrize(
    ("path", "other", "told"),
    [
        ("me/Profile.md", "me/profile.md", "me/profile.md"),
        ("Me/todo.md", "me/profile.md", "me/"),
        ("me/stra\u00dfe.md", "me/STRASSE.md", "me/STRASSE.md"),
        ("me/profile.md/x", "me/profile.md", "me/profile.md"),
        ("me", "me/profile.md", "me/"),
        ("ME", "me/profile.md", "me/"),
        ("a/B/c", "a/b/d/e", "a/b/"),
        ("a/\ufb01le", "a/file", "a/file"),
        ("a/x\u200d.md", "a/x.md", "a/x.md"),
    ],
)
def test_what_cannot_be_beside_it_is_named(path: str, other: str, told: str) -> None:
    assert clash(path, ["zzz", other]) == told


@pytest.mark.parametrize(
    ("path", "other"),
    [("me/profile.md", "me/profile.md"), ("me/a", "me/b"), ("mea", "me/b"), ("me/a", "meb")],
)
def test_other_names_stand_side_by_side(path: str, other: str) -> None:
    assert clash(path, [other]) is None


def test_a_name_is_free_again_when_the_last_file_of_it_has_gone() -> None:
    there = Neighbours(["a/b/c", "a/b/d"])
    there.drop("a/b/c")
    there.drop("a/b/never")
    assert there.clash("A/x") == "a/"
    there.drop("a/b/d")
    assert there.clash("A/x") is None
    there.add("A/x")
    assert there.clash("a/b/c") == "A/"


LETTERS = st.sampled_from(
    [
        *("..", "...", "/../", ".git", ".GIT", "con", "diagnostics", "preferences/"),
        *("é", "e\u0301", *"aA/.~ :\\"),
        *"\u200d\ufeff\ufb01\uff0e\uff0f\u1e9e\u0131\u0308\u0345\0\n\ud800",
    ]
)
WILD = st.one_of(st.lists(LETTERS, max_size=12).map("".join), st.text(max_size=30))


@given(WILD)
@example("a\u0345/b")
def test_whatever_is_asked_for_stays_inside_and_means_one_thing(text: str) -> None:
    path = code(text)
    if path in ("path_invalid", "reserved_path"):
        return
    assert posixpath.normpath(path) == path
    assert not path.startswith(("/", "../", "~"))
    assert unicodedata.is_normalized("NFC", path)
    assert contained(path) == path
    assert arriving(path) == path  # whatever a tool makes, an export can take away and back
    for part in path.split("/"):
        assert folded(part) not in ("", ".", "..", ".git", "git~1")
    assert folded(path).split("/")[0] != "diagnostics"
    assert folded(path).count("/") == path.count("/")


@given(st.text(max_size=20))
@example("\u0345\u0300")
def test_a_fold_is_its_own_fold_and_knows_no_case_and_no_form(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, text)) == folded(text)
    assert folded(text).isascii() is False or folded(folded(text).upper()) == folded(text)
    assert folded("\u200d".join(text)) == folded(text)


NAMES = st.lists(st.sampled_from(["a", "A", "b", "\u017f", "s", "S"]), min_size=1, max_size=3)
PATHS = NAMES.map("/".join)


@given(PATHS, st.lists(PATHS, max_size=4))
def test_neighbours_clash_where_a_file_system_without_case_would_mix_them_up(
    path: str, there: list[str]
) -> None:
    def mixed(one: str, other: str) -> bool:
        if folded(one) == folded(other):
            return one != other
        above, theirs = parents(one), parents(other)
        return (
            folded(one) in map(folded, theirs)
            or folded(other) in map(folded, above)
            or any(folded(a) == folded(b) and a != b for a in above for b in theirs)
        )

    kept: list[str] = []
    for one in there:
        if not any(mixed(one, other) for other in kept):
            kept.append(one)
    assert (clash(path, kept) is not None) == any(mixed(path, other) for other in kept)
