"""What of the package `fulcra-api` 0.1.57 is used, with types; and the ways in which it refuses.

The contract test compares every method with the real class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO, ClassVar, Protocol

from judgment.kit.errors import Unavailable


class SignInNeeded(Unavailable):
    """Nobody is signed in, or the sign-in has ended: waiting does not help, signing in does."""

    default = "Not signed in to Fulcra: run `fulcra auth login`, then try again."


class NotOnboarded(Unavailable):
    """This account has no place for signals yet."""

    default = "This Fulcra account keeps no preference signals yet: run `prefs onboard`."


class Declined(Unavailable):
    """The service understood and said no. `http_status` is 4xx; `detail` is safe to show."""

    OF_THE_RECORD: ClassVar[frozenset[int]] = frozenset({400, 409, 413, 422})

    def __init__(self, what: str, http_status: int, detail: str):
        super().__init__(f"Fulcra declined {what} ({http_status}): {detail}")
        self.http_status = http_status
        self.detail = detail

    @property
    def of_the_record(self) -> bool:
        """Whether it is what was sent that is wrong, and not who sent it, where to, or when."""
        return self.http_status in self.OF_THE_RECORD


class Answer(Protocol):
    """A response that is still to be read."""

    def read(self, amt: int | None = None, /) -> bytes:
        """At most so many bytes."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...


class Client(Protocol):
    """The methods of `fulcra_api.core.FulcraAPI` that we use."""

    def get_user_info(self) -> dict[str, Any]:
        """`userid` and more."""
        ...

    def v1_catalog(
        self,
        data_type: str | None = None,
        category: str | None = None,
        fulcra_userid: str | None = None,
    ) -> list[dict[str, Any]]:
        """Data types with `id`, `name`, `api_version`, `fulcra_userid`."""
        ...

    def create_data_type(self, base_type: str, body: dict[str, Any]) -> dict[str, Any]:
        """Make a type on `Event`; its entry, with `id`."""
        ...

    def v1_catalog_schema(
        self, data_type: str, api_version: str, fulcra_userid: str | None = None
    ) -> dict[str, Any]:
        """The JSON Schema of a type's records."""
        ...

    def record_data_type(
        self, data_type: str, records: list[dict[str, Any]], api_version: str
    ) -> dict[str, Any]:
        """Send records in one upload."""
        ...

    def fulcra_v1_records(self, query: str, fulcra_userid: str | None = None) -> bytes:
        """Records by a query, as JSON lines."""
        ...

    def annotations_catalog(self, fulcra_userid: str | None = None) -> list[dict[str, Any]]:
        """Annotation definitions with `id`, `name`, `annotation_type`, `deleted_at`."""
        ...

    def fulcra_v1alpha1_api_path(self, path: str, params: dict[str, str] | None = None) -> bytes:
        """Annotation records within a window, as a JSON list."""
        ...

    def list_files(
        self,
        path: str = "/",
        state: str = "uploaded",
        fulcra_userid: str | None = None,
        base_name: str | None = None,
    ) -> dict[str, Any]:
        """`files` with `id`, `name`, `path`, `size`, `state`, `uploaded_at`; and `folders`."""
        ...

    def upload_file(
        self, data: BinaryIO, file_type: str, file_size: int, filepath: str
    ) -> dict[str, Any]:
        """Write a file by its absolute path; what was there stays as a version."""
        ...

    def download_file(self, file_id: str, fulcra_userid: str | None = None) -> Answer:
        """The bytes of one version."""
        ...

    def delete_file(self, file_id: str) -> None:
        """Take a version away from readers; it can be restored."""
        ...


METHODS: Sequence[str] = (
    "get_user_info",
    "v1_catalog",
    "create_data_type",
    "v1_catalog_schema",
    "record_data_type",
    "fulcra_v1_records",
    "annotations_catalog",
    "fulcra_v1alpha1_api_path",
    "list_files",
    "upload_file",
    "download_file",
    "delete_file",
)
"""The names above, for the contract test."""
