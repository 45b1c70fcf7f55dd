"""A row in every table of the inventory for one person, written past every policy."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg

_SYNC = {
    "person": "INSERT INTO auth.users (id, email) VALUES (%(user)s, %(user)s::text)",
    "profile": "SELECT 1",  # the app's trigger has done it
    "choice": "INSERT INTO public.choices (id, user_id, scenario_id, option_id)"
    " VALUES (%(choice)s, %(user)s, %(scenario)s, 'a')",
}
_OURS = {
    "person": "INSERT INTO auth.users (id) VALUES (%(user)s)",
    "profile": "INSERT INTO public.profiles (id, personal_context) VALUES (%(user)s, 'mine')",
    "choice": "INSERT INTO public.choices (id, user_id) VALUES (%(choice)s, %(user)s)",
}
_ROWS = """
{person};
{profile};
UPDATE public.profiles SET personal_context = 'mine' WHERE id = %(user)s;
INSERT INTO judgment.owners (user_id, issuer, subject) VALUES (%(user)s, 'test', %(user)s::text);
INSERT INTO public.player_decision_profiles (user_id, games_analyzed, summary_text)
VALUES (%(user)s, 3, 'of mine');
INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%(user)s, 'judgment');
INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)
VALUES (%(scenario)s, 'personal', 'governance', %(user)s);
INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options)
VALUES (%(scenario)s, %(user)s, 'Mine', '[]');
{choice};
INSERT INTO judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme,
  options, chosen_option_id, chosen_label, source, recorded_at)
VALUES (%(choice)s, %(user)s, %(scenario)s, 'Mine', 'governance', 'personal', '[]', 'a', 'Yes',
  'judgment', now());
INSERT INTO public.evaluation_snapshots (id, choice_id, user_id, personal_context_snapshot)
VALUES (%(snapshot)s, %(choice)s, %(user)s, 'mine');
INSERT INTO public.evaluation_predictions (id, snapshot_id, condition, eval_model,
  eval_model_version) VALUES (%(prediction)s, %(snapshot)s, 'A', 'm', '1');
INSERT INTO public.agent_api_keys (id, user_id, key_hash, name)
VALUES (%(key)s, %(user)s, %(key)s::text, 'mine');
INSERT INTO judgment.outbox (id, type, version, user_id, subject_id, correlation_id)
VALUES (%(event)s, 'profile.changed', 1, %(user)s, %(user)s, 'test');
INSERT INTO judgment.idempotency_keys (user_id, key, route, body_sha256, status)
VALUES (%(user)s, 'k', 'POST /x', '0', 201);
INSERT INTO judgment.servings (id, user_id, scenario_id, served_at)
VALUES (%(serving)s, %(user)s, %(scenario)s, now());
INSERT INTO judgment.profile_accumulators (user_id, part, version, state)
VALUES (%(user)s, 'owner', 1, 'x');
INSERT INTO judgment.profile_marks (user_id, key, value) VALUES (%(user)s, 'k', 'x');
INSERT INTO judgment.summary_state (user_id) VALUES (%(user)s);
INSERT INTO judgment.model_calls (id, user_id, role, provider, model, prompt_tokens,
  completion_tokens, milliseconds, outcome)
VALUES (%(event)s, %(user)s, 'summary', 'ollama', 'm', 1, 1, 1, 'ok');
INSERT INTO judgment.owner_models (user_id, role, provider, model)
VALUES (%(user)s, 'summary', 'ollama', 'm');
INSERT INTO judgment.missing_snapshots (decision_id, user_id) VALUES (%(choice)s, %(user)s);
INSERT INTO judgment.personal_context_state (user_id, updated_at) VALUES (%(user)s, now());
INSERT INTO judgment.preference_state (user_id, appended, revision, consented, ledger_position,
  ledger_hash) VALUES (%(user)s, 1, 1, 1, 1, 'h');
INSERT INTO judgment.preference_signals (user_id, id, position, key, scope, instant, sequence,
  sent_sha256, statement, recorded_at)
VALUES (%(user)s, %(event)s, 1, 'a.b', 'global', now(), 0, '0', '{{"kind": "fact"}}', now());
INSERT INTO judgment.preference_documents (user_id, digest, document)
VALUES (%(user)s, '0', '{{"keys": {{}}}}');
INSERT INTO judgment.consent_events (user_id, position, id, effect, key_glob, audience, level,
  made_at) VALUES (%(user)s, 1, %(event)s, 'allow', 'a.*', 'bob', 'read', now());
INSERT INTO judgment.preference_ledger (user_id, position, entry, previous, hash)
VALUES (%(user)s, 1, '{{}}', '', 'h');
INSERT INTO judgment.memory_state (user_id, revision) VALUES (%(user)s, 1);
INSERT INTO judgment.memory_blobs (user_id, sha256, content)
VALUES (%(user)s, encode(sha256('mine'), 'hex'), 'mine');
INSERT INTO judgment.memory_commits (user_id, revision, id, origin, author, message, committed_at)
VALUES (%(user)s, 1, repeat('a', 40), 'owner', 'me', 'Write me/profile.md', now());
INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256)
VALUES (%(user)s, 'me/profile.md', 1, encode(sha256('mine'), 'hex'));
INSERT INTO judgment.memory_files (user_id, path, folded, revision, sha256, bytes, updated_at)
VALUES (%(user)s, 'me/profile.md', 'me/profile.md', 1, encode(sha256('mine'), 'hex'), 4, now());
INSERT INTO judgment.memory_imports (user_id, import_id, part, content)
VALUES (%(user)s, %(event)s, 1, 'mine');
INSERT INTO judgment.conversations (user_id, id, title, created_at, updated_at)
VALUES (%(user)s, 'mine', 'Mine', now(), now());
INSERT INTO judgment.conversation_messages (user_id, conversation_id, position, id, turn_id, role,
  content, sent_at) VALUES (%(user)s, 'mine', 1, 'm', %(event)s, 'user', 'mine', now());
INSERT INTO judgment.projects (user_id, id, position, name, icon)
VALUES (%(user)s, 'mine', 1, 'Mine', 'sparkles');
INSERT INTO judgment.approvals (user_id, request_id, conversation_id, turn_id, tool_call_id,
  tool_name, summary, input, expected)
VALUES (%(user)s, %(event)s, 'mine', %(event)s, 'c', 'memory_write', 'mine', '{{}}', '{{}}')
"""


def fill(admin: psycopg.Connection[Any], *, sync: bool = False) -> uuid.UUID:
    """Add a person with a row everywhere; their id."""
    names = ("user", "scenario", "choice", "snapshot", "prediction", "key", "event", "serving")
    values = {name: uuid.uuid4() for name in names}
    for statement in _ROWS.format(**(_SYNC if sync else _OURS)).split(";\n"):
        admin.execute(statement.encode(), values)
    return values["user"]
