"""Code and layers as CDK assets: ours by copy, other people's by uv at bundling time."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.assets import locked
from infra.certificates import ASSET, rds_authorities
from infra.checkout import ROOT
from infra.layers import Target, build_layer, fingerprint, requirements_of
from infra.staging import BUILD, stage_contract, stage_door

if TYPE_CHECKING:
    from infra.catalogue import Layer

CA_FILE = "rds-ca.pem"
RUNTIME = lambda_.Runtime.PYTHON_3_13


@jsii.implements(ILocalBundling)
class UvBundling:
    """Fills a layer's asset when CDK asks for it; a synthesis without bundling never runs uv.

    The first layer for Lambda also carries the authorities by which Aurora is known.
    """

    def __init__(self, requirements: str, target: Target, *, authorities: bool) -> None:
        self._requirements = requirements
        self._target = target
        self._authorities = authorities

    def try_bundle(self, output_dir: str, *, image: DockerImage, **options: Any) -> bool:
        """Build into `output_dir`. Raises LayerError, AssetMissing; never falls back to Docker."""
        build_layer(self._requirements, self._target, Path(output_dir))
        if self._authorities:
            (Path(output_dir) / "python" / CA_FILE).write_bytes(rds_authorities())
        return True


class CodeAssets(Construct):
    """The layer versions of one stack, made on first use, and each door's archive."""

    def __init__(
        self, scope: Construct, construct_id: str, *, local: bool, python: str, build: Path = BUILD
    ) -> None:
        super().__init__(scope, construct_id)
        self._build = build
        self._target = Target(python, None) if local else Target(python)
        self._layers: dict[Layer, lambda_.LayerVersion] = {}
        on_arm = not local or platform.machine() in ("arm64", "aarch64")
        self.architecture = lambda_.Architecture.ARM_64 if on_arm else lambda_.Architecture.X86_64

    def door(self, handler: str) -> lambda_.Code:
        """The archive of the door whose handler module is named. Raises StagingError."""
        return lambda_.Code.from_asset(str(stage_door(handler, build=self._build)))

    def layer(self, name: Layer) -> lambda_.LayerVersion:
        """The layer of that name. Raises KeyError for one that has no contents yet."""
        if name not in self._layers:
            self._layers[name] = lambda_.LayerVersion(
                self,
                name.capitalize(),
                description=f"judgment: {name}",
                code=self._contract() if name == "contract" else self._dependencies(name),
                compatible_runtimes=[RUNTIME],
                compatible_architectures=[self.architecture],
            )
        return self._layers[name]

    def _contract(self) -> lambda_.Code:
        return lambda_.Code.from_asset(str(stage_contract(build=self._build)))

    def _dependencies(self, name: Layer) -> lambda_.Code:
        requirements = requirements_of(name, (ROOT / "requirements.lock").read_text())
        authorities = name == "base" and self._target.platform is not None
        decided = requirements + (locked()[ASSET].file_sha256 if authorities else "")
        source = self._build / "requirements" / name
        source.mkdir(parents=True, exist_ok=True)
        (source / "requirements.txt").write_text(requirements)
        return lambda_.Code.from_asset(
            str(source),
            asset_hash=fingerprint(decided, self._target),
            asset_hash_type=AssetHashType.CUSTOM,
            bundling=BundlingOptions(
                image=DockerImage.from_registry("unused"),
                local=UvBundling(requirements, self._target, authorities=authorities),
            ),
        )
