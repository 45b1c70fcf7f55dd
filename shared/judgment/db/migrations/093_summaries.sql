-- Summaries are renewed after a move of the profile, at most once in a window per owner, and the
-- last move is never forgotten (seed 000 §10.4). Beside it: what models were asked and what it cost,
-- which models owners chose, and decisions that no snapshot could be taken for.
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.summary_state (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  requested_seq bigint NOT NULL DEFAULT 0,
  claimed_seq bigint NOT NULL DEFAULT 0,
  done_seq bigint NOT NULL DEFAULT 0,
  run_after timestamptz NULL,
  started_at timestamptz NULL,
  lease_until timestamptz NULL,
  correlation_id text NOT NULL DEFAULT 'none',
  components jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(components) = 'object'),
  games_analyzed integer NULL,
  last_failure text NULL,
  failed_at timestamptz NULL,
  failures integer NOT NULL DEFAULT 0,
  retried_seq bigint NOT NULL DEFAULT 0,
  CHECK (done_seq <= claimed_seq AND claimed_seq <= requested_seq)
);
CREATE INDEX IF NOT EXISTS summary_state_unfinished_idx
  ON judgment.summary_state (run_after) WHERE requested_seq > done_seq;

CREATE TABLE IF NOT EXISTS judgment.model_calls (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  role text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  prompt_tokens integer NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens integer NOT NULL CHECK (completion_tokens >= 0),
  cost_usd numeric NULL CHECK (cost_usd >= 0),
  milliseconds integer NOT NULL CHECK (milliseconds >= 0),
  outcome text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS model_calls_user_id_idx
  ON judgment.model_calls (user_id, created_at DESC);

CREATE TABLE IF NOT EXISTS judgment.owner_models (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  role text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  key_secret text NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, role)
);

CREATE TABLE IF NOT EXISTS judgment.missing_snapshots (
  decision_id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS missing_snapshots_user_id_idx ON judgment.missing_snapshots (user_id);

ALTER TABLE judgment.summary_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.summary_state FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.model_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.model_calls FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.owner_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.owner_models FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.missing_snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.missing_snapshots FORCE ROW LEVEL SECURITY;

GRANT SELECT ON judgment.summary_state TO judgment_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON judgment.summary_state TO judgment_owner;
DROP POLICY IF EXISTS summary_state_own ON judgment.summary_state;
CREATE POLICY summary_state_own ON judgment.summary_state TO judgment_reader, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
GRANT SELECT, INSERT, UPDATE ON judgment.summary_state TO judgment_worker;
DROP POLICY IF EXISTS summary_state_by_worker ON judgment.summary_state;
CREATE POLICY summary_state_by_worker ON judgment.summary_state TO judgment_worker
  USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON judgment.model_calls TO judgment_owner;
GRANT INSERT ON judgment.model_calls TO judgment_worker;
DROP POLICY IF EXISTS model_calls_own ON judgment.model_calls;
CREATE POLICY model_calls_own ON judgment.model_calls TO judgment_owner, judgment_worker
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

GRANT SELECT, INSERT, UPDATE, DELETE ON judgment.owner_models TO judgment_owner;
GRANT SELECT ON judgment.owner_models TO judgment_worker;
DROP POLICY IF EXISTS owner_models_own ON judgment.owner_models;
CREATE POLICY owner_models_own ON judgment.owner_models TO judgment_owner, judgment_worker
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

GRANT SELECT, DELETE ON judgment.missing_snapshots TO judgment_owner;
GRANT INSERT ON judgment.missing_snapshots TO judgment_worker;
DROP POLICY IF EXISTS missing_snapshots_own ON judgment.missing_snapshots;
CREATE POLICY missing_snapshots_own ON judgment.missing_snapshots TO judgment_owner, judgment_worker
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

-- The worker reads and writes texts for the one owner its message names; it has no right on
-- profiles, so that personal context cannot reach a summary (ruling 5).
GRANT SELECT, UPDATE (summary_text, summary_generated_at, summary_model_version,
                      agent_context_block)
   ON public.player_decision_profiles TO judgment_worker;
DROP POLICY IF EXISTS judgment_worker_own ON public.player_decision_profiles;
CREATE POLICY judgment_worker_own ON public.player_decision_profiles TO judgment_worker
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_worker_only_own ON public.player_decision_profiles;
CREATE POLICY judgment_worker_only_own ON public.player_decision_profiles AS RESTRICTIVE
  TO judgment_worker
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

COMMENT ON TABLE judgment.summary_state IS
  'One row per owner whose profile moved: what was asked for, what is under way, what is done.';
COMMENT ON COLUMN judgment.summary_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.summary_state.requested_seq IS 'Counts moves that want a new summary.';
COMMENT ON COLUMN judgment.summary_state.claimed_seq IS 'The move up to which one was begun.';
COMMENT ON COLUMN judgment.summary_state.done_seq IS 'The move up to which one was written.';
COMMENT ON COLUMN judgment.summary_state.run_after IS
  'The earliest moment of the next one; null when none is wanted, or one is under way.';
COMMENT ON COLUMN judgment.summary_state.started_at IS 'When the last one was begun.';
COMMENT ON COLUMN judgment.summary_state.lease_until IS
  'Until when whoever began it may still finish it; null when nobody is at it.';
COMMENT ON COLUMN judgment.summary_state.correlation_id IS 'The request that asked last.';
COMMENT ON COLUMN judgment.summary_state.components IS
  'The profile''s components, 0 to 1, that the last summary was written from.';
COMMENT ON COLUMN judgment.summary_state.games_analyzed IS
  'How many decisions the last summary was written from; null without one.';
COMMENT ON COLUMN judgment.summary_state.last_failure IS
  'Why the last model answer was not taken, in a word; null when it was, or none was asked.';
COMMENT ON COLUMN judgment.summary_state.failed_at IS 'When that was.';
COMMENT ON COLUMN judgment.summary_state.failures IS
  'How many times in a row no model answer came; asked again without a move only so many times.';
COMMENT ON COLUMN judgment.summary_state.retried_seq IS
  'The last request that no move made: a model is to be asked again for the same profile.';
COMMENT ON TABLE judgment.model_calls IS
  'Every call of a language model for an owner: tokens, money, time and outcome, never its words.';
COMMENT ON COLUMN judgment.model_calls.id IS 'The call.';
COMMENT ON COLUMN judgment.model_calls.user_id IS 'For whom.';
COMMENT ON COLUMN judgment.model_calls.role IS 'What for: summary, scenario, evaluation, message.';
COMMENT ON COLUMN judgment.model_calls.provider IS 'The provider''s id.';
COMMENT ON COLUMN judgment.model_calls.model IS 'The model as the provider names it.';
COMMENT ON COLUMN judgment.model_calls.prompt_tokens IS 'Tokens in, as the provider counted them.';
COMMENT ON COLUMN judgment.model_calls.completion_tokens IS 'Tokens out, likewise.';
COMMENT ON COLUMN judgment.model_calls.cost_usd IS 'US dollars; null where no price is known.';
COMMENT ON COLUMN judgment.model_calls.milliseconds IS 'How long it took.';
COMMENT ON COLUMN judgment.model_calls.outcome IS 'ok, or the failure in a word.';
COMMENT ON COLUMN judgment.model_calls.created_at IS 'When it was recorded.';
COMMENT ON TABLE judgment.owner_models IS 'Models that owners chose instead of the operator''s.';
COMMENT ON COLUMN judgment.owner_models.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.owner_models.role IS 'What for.';
COMMENT ON COLUMN judgment.owner_models.provider IS 'The provider''s id.';
COMMENT ON COLUMN judgment.owner_models.model IS 'The model''s name there.';
COMMENT ON COLUMN judgment.owner_models.key_secret IS
  'Name of the secret with the owner''s own key, never a key; null for the operator''s.';
COMMENT ON COLUMN judgment.owner_models.updated_at IS 'When it was chosen.';
COMMENT ON TABLE judgment.missing_snapshots IS
  'Decisions of a Sync app that had changed the profile before we heard of them: no evaluation.';
COMMENT ON COLUMN judgment.missing_snapshots.decision_id IS 'The decision, by the Sync app''s id.';
COMMENT ON COLUMN judgment.missing_snapshots.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.missing_snapshots.created_at IS 'When we heard of it.';

COMMIT;
