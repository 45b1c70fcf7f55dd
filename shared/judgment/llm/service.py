"""What an owner may choose, and what plays a role for them now (ruling 31).

Without a key of their own an owner spends the operator's money, so only what the operator offers
may be chosen; with one, any model of a provider that is set up here. What is stored is held
against the settings of today each time it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from judgment.contract.models import MODEL_ROLES, ModelInUse, ModelRole, ModelsInUse, OwnModel
from judgment.kit.errors import Forbidden, InvalidRequest
from judgment.llm.model import ModelChoice
from judgment.llm.providers import PROVIDERS, is_model_name

if TYPE_CHECKING:
    from judgment.contract.models import OwnModels
    from judgment.db.connection import Transaction
    from judgment.kit.errors import Refusal
    from judgment.llm.settings import ModelsConfigured


class OwnModelRows(Protocol):
    """The statements on an owner's choices."""

    def own_models(self, tx: Transaction, user_id: UUID) -> list[OwnModel]:
        """What the owner chose."""
        ...

    def replace_own_models(
        self, tx: Transaction, user_id: UUID, models: Sequence[OwnModel]
    ) -> None:
        """These choices instead of all earlier ones."""
        ...


class OwnersChoices:
    """Owners' choices of models over the operator's settings."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        rows: OwnModelRows,
        config: ModelsConfigured,
    ):
        self._begin = begin
        self._rows = rows
        self._config = config

    def in_use(self, user_id: UUID) -> ModelsInUse:
        """Every role and what plays it."""
        with self._begin(user_id) as tx:
            chosen = self._rows.own_models(tx, user_id)
        return self._in_use(user_id, chosen)

    def choose(self, user_id: UUID, wanted: OwnModels) -> ModelsInUse:
        """These choices and no others. Raises InvalidRequest, Forbidden, and changes nothing."""
        if len({model.role for model in wanted.models}) < len(wanted.models):
            raise InvalidRequest("models: a role is named twice")
        for model in wanted.models:
            if refusal := self._refusal(user_id, model):
                raise refusal
        with self._begin(user_id) as tx:
            self._rows.replace_own_models(tx, user_id, wanted.models)
        return self._in_use(user_id, wanted.models)

    def own(self, tx: Transaction, user_id: UUID, role: ModelRole) -> ModelChoice | None:
        """The owner's choice for `Models.choice(role, own)`, None where it may not be used now."""
        chosen = self._rows.own_models(tx, user_id)
        return next((self._usable(user_id, model) for model in chosen if model.role == role), None)

    def _usable(self, user_id: UUID, model: OwnModel) -> ModelChoice | None:
        if self._refusal(user_id, model):
            return None
        return ModelChoice(model.provider, model.model, model.key_secret)

    def _refusal(self, user_id: UUID, model: OwnModel) -> Refusal | None:
        if not is_model_name(model.model):
            return InvalidRequest(f"{model.role}: a model's name is visible ASCII")
        if model.provider not in self._config.base_urls:
            return InvalidRequest(f"{model.role}: {model.provider} is not set up here")
        if model.key_secret is not None:
            return self._key_refusal(user_id, model, model.key_secret)
        if ModelChoice(model.provider, model.model) in self._config.offered:
            return None
        return InvalidRequest(
            f"{model.role}: that model is not offered here; GET this address lists those that are, "
            "and a key of your own opens the others"
        )

    def _key_refusal(self, user_id: UUID, model: OwnModel, key_secret: str) -> Refusal | None:
        if not self._config.secrets.is_owners(key_secret, user_id):
            yours = self._config.secrets.of_owner(user_id, "<name>")
            return Forbidden(f"{model.role}: key_secret names a secret of yours, {yours}")
        if not PROVIDERS[model.provider].key_stored:
            # It runs on the operator's machine: a key would pay for nothing, and open every model.
            return InvalidRequest(f"{model.role}: {model.provider} takes no key")
        return None

    def _in_use(self, user_id: UUID, chosen: Sequence[OwnModel]) -> ModelsInUse:
        owners = {
            model.role: usable for model in chosen if (usable := self._usable(user_id, model))
        }
        return ModelsInUse(
            models=[self._role(role, owners.get(role)) for role in MODEL_ROLES],
            offered=[choice.label for choice in self._config.offered],
        )

    def _role(self, role: ModelRole, own: ModelChoice | None) -> ModelInUse:
        choice = own or self._config.roles.get(role)
        if choice is None:
            return ModelInUse(role=role, provider=None, model=None, chosen_by="nobody")
        by = "owner" if own else "operator"
        return ModelInUse(role=role, provider=choice.provider, model=choice.model, chosen_by=by)
