"""Layers: what the lock says they hold, for the machine they run on, and enough for every door."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from infra.catalogue import CATALOGUE, Door, Layer
from infra.layers import (
    LayerError,
    Target,
    build_layer,
    closure,
    fingerprint,
    read_lock,
    requirements_of,
)
from infra.staging import (
    ROOT,
    STREAM_WRAPPER_NAME,
    StagingError,
    stage_contract,
    stage_door,
)
from judgment.scenarios.library.reading import read_library
from tests.infra.unreachable import skip_if_unreachable

LOCK = (ROOT / "requirements.lock").read_text()
HOST = Target(f"{sys.version_info.major}.{sys.version_info.minor}", None)
BROUGHT_BY_LAMBDA = ("boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "urllib3")
SMALL_LOCK = """\
# made by uv
alpha==1.0 \\
    --hash=sha256:aa
    # via judgment (pyproject.toml)
beta==2.0 ; sys_platform == 'linux' \\
    --hash=sha256:bb \\
    --hash=sha256:cc
    # via
    #   alpha
    #   gamma
boto3==1.0 \\
    --hash=sha256:dd
    # via alpha
gamma==3.0 \\
    --hash=sha256:ee
    # via beta
delta==4.0 \\
    --hash=sha256:ff
    # via other
"""


def test_a_closure_is_what_the_lock_says_the_roots_asked_for() -> None:
    pins = read_lock(SMALL_LOCK)
    assert closure(pins, ["alpha"]) == {"alpha", "beta", "gamma"}
    assert closure(pins, ["delta"]) == {"delta"}
    assert pins["beta"].text.splitlines() == [
        "beta==2.0 ; sys_platform == 'linux' \\",
        "    --hash=sha256:bb \\",
        "    --hash=sha256:cc",
    ]


def test_a_root_that_is_not_pinned_is_named() -> None:
    with pytest.raises(LayerError, match="omega"):
        closure(read_lock(SMALL_LOCK), ["omega"])


def test_a_lock_of_another_form_is_refused() -> None:
    with pytest.raises(LayerError):
        read_lock("[[package]]\nname = 'alpha'\n")


def test_a_later_layer_repeats_nothing_of_the_first() -> None:
    def names(layer: Layer) -> set[str]:
        return set(read_lock(requirements_of(layer, LOCK)))

    assert names("base").isdisjoint(names("mcp") | names("chat"))
    assert {"openai", "jiter"} <= names("chat")
    assert {"pydantic", "pydantic-core", "psycopg-binary", "aws-lambda-powertools"} <= names("base")
    assert not {"boto3", "numpy", "pytest"} & (names("base") | names("mcp") | names("chat"))


def test_a_layers_fingerprint_follows_its_target() -> None:
    requirements = requirements_of("base", LOCK)
    other = Target("3.13", None)
    assert fingerprint(requirements, Target("3.13")) != fingerprint(requirements, other)


@pytest.fixture(scope="module")
def host_layers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each layer for this machine, and what Lambda's runtime brings, as folders to import from."""
    folder = tmp_path_factory.mktemp("layers")
    pins = read_lock(LOCK)
    runtime = "\n".join(pins[name].text for name in (*BROUGHT_BY_LAMBDA, "six"))
    try:
        for layer in ("base", "mcp", "chat"):
            build_layer(requirements_of(layer, LOCK), HOST, folder / layer)
        build_layer(runtime, HOST, folder / "runtime")
    except LayerError as refused:
        skip_if_unreachable(refused)
    contract = stage_contract(build=folder)
    paths = {name: folder / name / "python" for name in ("base", "mcp", "chat", "runtime")}
    return {**paths, "contract": contract / "python"}


@pytest.mark.parametrize("door", CATALOGUE.doors, ids=lambda door: door.name)
@pytest.mark.promise("P1-9")
def test_a_door_imports_from_its_archive_its_layers_and_the_runtime_alone(
    door: Door, host_layers: dict[str, Path], tmp_path: Path
) -> None:
    archive = stage_door(door.handler, build=tmp_path)
    paths = [str(archive), *(str(host_layers[layer]) for layer in door.layers)]
    program = (
        "import sys, sysconfig; "
        f"sys.path[:] = {[*paths, str(host_layers['runtime'])]!r} + "
        "[sysconfig.get_path('stdlib'), sysconfig.get_path('platstdlib'), "
        "sysconfig.get_path('stdlib') + '/lib-dynload']; "
        f"{'import judgment.llm.line; ' if 'chat' in door.layers else ''}"
        f"import {door.handler} as door; print(callable(door.handler))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "AWS_DEFAULT_REGION": "us-east-1"},
        check=False,
    )
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.promise("P1-9")
def test_the_layer_for_lambda_holds_arm_binaries_of_its_python(tmp_path: Path) -> None:
    try:
        build_layer(requirements_of("base", LOCK), Target("3.13"), tmp_path)
    except LayerError as refused:
        skip_if_unreachable(refused)
    binaries = list((tmp_path / "python").rglob("*.so"))
    assert any("cpython-313-aarch64-linux-gnu" in path.name for path in binaries)
    aarch64 = (183).to_bytes(2, "little")
    assert {path.read_bytes()[18:20] for path in binaries} == {aarch64}
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.parametrize(
    "words",
    [
        "hash mismatch for idna==3.11",
        "psycopg-binary==3.3.4 has no wheels with a matching platform tag",
        "Because idna was not found in the package registry",
    ],
)
def test_a_wrong_pin_is_no_reason_to_skip(words: str) -> None:
    with pytest.raises(LayerError):
        skip_if_unreachable(LayerError(f"uv could not build a layer:\n{words}"))


def test_a_changed_hash_is_refused(tmp_path: Path) -> None:
    pins = read_lock(LOCK)
    forged = pins["idna"].text.split("--hash")[0] + f"--hash=sha256:{'0' * 64}\n"
    with pytest.raises(LayerError):
        build_layer(forged, HOST, tmp_path)


def test_a_registry_out_of_reach_is_a_reason_to_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("UV_CACHE_DIR", str(tmp_path / "cache")),
        ("UV_DEFAULT_INDEX", "http://127.0.0.1:1/simple"),
        ("UV_HTTP_RETRIES", "0"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(LayerError) as refused:
        build_layer(read_lock(LOCK)["idna"].text, HOST, tmp_path / "layer")
    with pytest.raises(pytest.skip.Exception):
        skip_if_unreachable(refused.value)


def test_an_archive_holds_one_door_and_nothing_beside_it(tmp_path: Path) -> None:
    archive = stage_door("functions.profile_read.handler", build=tmp_path)
    held = {path.relative_to(archive).parts[:2] for path in archive.rglob("*.py")}
    assert held == {("functions", "__init__.py"), ("functions", "profile_read")}
    assert not list(archive.rglob("__pycache__"))


def test_a_door_without_code_is_named(tmp_path: Path) -> None:
    with pytest.raises(StagingError, match=r"functions\.nowhere\.handler"):
        stage_door("functions.nowhere.handler", build=tmp_path)


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_contract_layer_ships_migrations_library_and_skill(tmp_path: Path) -> None:
    layer = stage_contract(build=tmp_path) / "python" / "judgment"
    assert list((layer / "db" / "migrations").glob("*.sql"))
    assert read_library(layer / "scenarios" / "library") == read_library()
    shipped = layer / "entry" / "skills"
    for folder in (shipped, ROOT / "skills"):
        assert (folder / "sync-judgment" / "SKILL.md").is_file()
    assert _files(shipped) == _files(ROOT / "skills")
    assert not any(path.is_symlink() for path in layer.rglob("*"))


def test_the_layer_starts_a_streaming_doors_loop(tmp_path: Path) -> None:
    layer = stage_contract(build=tmp_path)
    program = layer / STREAM_WRAPPER_NAME
    assert program.stat().st_mode & 0o111 == 0o111
    here = program.read_text().replace("/var/lang/bin/python3.13", sys.executable)
    done = subprocess.run(
        ["sh", "-c", here.replace("/opt/python", str(layer / "python"))],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "LAMBDA_TASK_ROOT": str(tmp_path)},
        check=False,
    )
    assert "AWS_LAMBDA_RUNTIME_API" in done.stderr.splitlines()[-1]
    assert str(layer) in done.stderr


def test_cdk_reads_the_flags_that_a_change_of_layer_needs() -> None:
    context = json.loads((ROOT / "infra" / "cdk.json").read_text())["context"]
    assert context["@aws-cdk/aws-lambda:recognizeLayerVersion"] is True
