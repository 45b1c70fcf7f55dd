"""The database roles: what each may do, and where one may reach past its own owner's rows.

Every role sees only rows of the owner in `request.jwt.claim.sub`, except where `crosses` names the
table and says why. The isolation test holds migrations to this table; the docs are made from it.
Source: ruling 18.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Role:
    """A database role. `writes`: tables it may change; `crosses`: table to reason."""

    name: str
    purpose: str
    logs_in: bool = True
    writes: tuple[str, ...] = ()
    crosses: dict[str, str] = field(default_factory=dict[str, str])
    calls: tuple[str, ...] = ()


_OWN_TABLES = (
    "judgment.approvals",
    "judgment.consent_events",
    "judgment.conversation_messages",
    "judgment.conversations",
    "judgment.decisions",
    "judgment.idempotency_keys",
    "judgment.memory_blobs",
    "judgment.memory_commits",
    "judgment.memory_files",
    "judgment.memory_imports",
    "judgment.memory_revisions",
    "judgment.memory_state",
    "judgment.missing_snapshots",
    "judgment.model_calls",
    "judgment.outbox",
    "judgment.owner_models",
    "judgment.owners",
    "judgment.personal_context_state",
    "judgment.preference_documents",
    "judgment.preference_ledger",
    "judgment.preference_signals",
    "judgment.preference_state",
    "judgment.profile_accumulators",
    "judgment.profile_marks",
    "judgment.profile_state",
    "judgment.projects",
    "judgment.scenario_contents",
    "judgment.servings",
    "judgment.summary_state",
    "public.agent_api_keys",
    "public.choices",
    "public.evaluation_predictions",
    "public.evaluation_snapshots",
    "public.player_decision_profiles",
    "public.profiles",
    "public.scenarios",
)

ROLES: tuple[Role, ...] = (
    Role(
        "judgment_authorizer",
        "Says whose a key is, and makes sure that an owner has their rows.",
        writes=("public.agent_api_keys",),
        crosses={"public.agent_api_keys": "It looks a key up before it can know whose it is."},
        calls=(
            "judgment.ensure_owner",
            "judgment.resolve_agent_api_key",
            "public.validate_agent_api_key",
        ),
    ),
    Role(
        "judgment_reader",
        "Reads one owner's profile and decisions for their agents; writes nothing.",
        calls=("judgment.agent_access_enabled",),
    ),
    Role(
        "judgment_owner",
        "Acts for one owner: keys, rounds, switches, export, erasure.",
        writes=_OWN_TABLES,
        calls=("judgment.agent_access_enabled", "judgment.forget_owner"),
    ),
    Role(
        "judgment_preferences",
        "Keeps what one owner wants, and shows it by functions that ask consent and write the"
        " ledger; reads no signal and no document itself.",
        writes=(
            "judgment.consent_events",
            "judgment.idempotency_keys",
            "judgment.outbox",
            "judgment.preference_signals",
            "judgment.preference_state",
        ),
        calls=(
            "judgment.agent_access_enabled",
            "judgment.disclose_preferences",
            "judgment.disclose_signals",
            "judgment.standing_signal",
        ),
    ),
    Role(
        "judgment_process",
        "Answers one owner's messages over their memory, and takes their own edits of it.",
        writes=(
            "judgment.approvals",
            "judgment.conversation_messages",
            "judgment.conversations",
            "judgment.memory_blobs",
            "judgment.memory_commits",
            "judgment.memory_files",
            "judgment.memory_imports",
            "judgment.memory_revisions",
            "judgment.memory_state",
            "judgment.model_calls",
            "judgment.projects",
        ),
    ),
    Role(
        "judgment_worker",
        "Does what no owner waits for: sends events, writes summaries, compiles preferences,"
        " retires old rows, turns switches for admins.",
        writes=(
            "judgment.idempotency_keys",
            "judgment.memory_imports",
            "judgment.missing_snapshots",
            "judgment.model_calls",
            "judgment.outbox",
            "judgment.preference_documents",
            "judgment.preference_state",
            "judgment.processed",
            "judgment.summary_state",
            "public.agent_feature_flags",
            "public.player_decision_profiles",
        ),
        crosses={
            "judgment.idempotency_keys": "Answers past their time are deleted for everybody.",
            "judgment.memory_imports": "Parts of imports that nobody carried out are deleted.",
            "judgment.outbox": "Unsent events are swept for everybody.",
            "judgment.processed": "A consumer's notes are not an owner's.",
            "judgment.summary_state": "Summaries that are overdue are swept for everybody.",
            "public.agent_feature_flags": "Operators' switches are not an owner's.",
        },
    ),
    Role("judgment_evaluator", "Compares predictions with decisions."),
    Role(
        "judgment_migrate",
        "Makes and changes tables at deploy; owns them, and is still under their row policies.",
        writes=(
            "judgment.scenario_contents",
            "public.agent_feature_flags",
            "public.scenarios",
        ),
        crosses={
            "judgment.scenario_contents": "It loads the library, which is nobody's own.",
            "public.agent_feature_flags": "It plants the switches.",
            "public.scenarios": "It loads the library, which is nobody's own.",
        },
    ),
    Role(
        "judgment_definer",
        "Owns the functions that must reach past their caller; nobody logs in as it.",
        logs_in=False,
        writes=(
            "auth.users",
            "judgment.owners",
            "judgment.preference_ledger",
            "judgment.preference_state",
            "public.profiles",
        ),
        crosses={
            "auth.users": "It adds an owner at their first call and deletes one on erasure.",
            "judgment.consent_events": "It asks whether another owner opened a key to the caller.",
            "judgment.owners": "It adds an owner before a claim can be trusted.",
            "judgment.preference_documents": "It shows what another owner opened to the caller.",
            "judgment.preference_ledger": "It writes down what it shows, with its owner.",
            "judgment.preference_signals": "It leaves out what rests on a signal deleted since.",
            "judgment.preference_state": "It keeps the end of each owner's ledger.",
            "public.agent_feature_flags": "It reads the kill switch for one owner.",
            "public.profiles": "It adds an owner's empty profile row.",
        },
    ),
)

LOGIN_ROLES: tuple[str, ...] = tuple(role.name for role in ROLES if role.logs_in)
