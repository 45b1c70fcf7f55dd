-- What was decided and what it was decided about. The seed names no such columns on Sync's tables,
-- so they live in ours (ruling 36) and hang on Sync's ids.
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.scenario_contents (
  scenario_id uuid PRIMARY KEY REFERENCES public.scenarios (id) ON DELETE CASCADE,
  owner_user_id uuid NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  title text NOT NULL,
  description text NOT NULL DEFAULT '',
  options jsonb NOT NULL CHECK (jsonb_typeof(options) = 'array'),
  constraints jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(constraints) = 'array'),
  archived boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS scenario_contents_owner_user_id_idx
  ON judgment.scenario_contents (owner_user_id) WHERE owner_user_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS judgment.decisions (
  id uuid PRIMARY KEY REFERENCES public.choices (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  scenario_id uuid NOT NULL,
  scenario_title text NOT NULL,
  category text NOT NULL,
  theme text NOT NULL,
  options jsonb NOT NULL CHECK (jsonb_typeof(options) = 'array'),
  chosen_option_id text NOT NULL,
  chosen_label text NOT NULL,
  rationale text NULL,
  confidence numeric NULL CHECK (confidence >= 0 AND confidence <= 1),
  response_ms integer NULL CHECK (response_ms >= 0),
  first_option_id text NULL,
  predicted_peer_option_id text NULL,
  retest_of uuid NULL REFERENCES judgment.decisions (id) ON DELETE SET NULL,
  source text NOT NULL CHECK (source IN ('judgment', 'seed', 'sync')),
  recorded_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS decisions_recent_idx
  ON judgment.decisions (user_id, recorded_at DESC, id);
CREATE INDEX IF NOT EXISTS decisions_retest_of_idx
  ON judgment.decisions (retest_of) WHERE retest_of IS NOT NULL;

CREATE TABLE IF NOT EXISTS judgment.profile_state (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  score_owner text NOT NULL CHECK (score_owner IN ('judgment', 'sync')),
  updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE judgment.scenario_contents ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.scenario_contents FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.decisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.decisions FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_state FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, DELETE ON judgment.scenario_contents TO judgment_owner;
DROP POLICY IF EXISTS scenario_contents_readable ON judgment.scenario_contents;
CREATE POLICY scenario_contents_readable ON judgment.scenario_contents FOR SELECT
  TO judgment_owner USING (owner_user_id IS NULL OR owner_user_id = judgment.current_owner());
DROP POLICY IF EXISTS scenario_contents_added ON judgment.scenario_contents;
CREATE POLICY scenario_contents_added ON judgment.scenario_contents FOR INSERT
  TO judgment_owner WITH CHECK (owner_user_id = judgment.current_owner());
DROP POLICY IF EXISTS scenario_contents_erased ON judgment.scenario_contents;
CREATE POLICY scenario_contents_erased ON judgment.scenario_contents FOR DELETE
  TO judgment_owner USING (owner_user_id = judgment.current_owner());

GRANT SELECT ON judgment.decisions TO judgment_reader;
GRANT SELECT, INSERT, DELETE ON judgment.decisions TO judgment_owner;
DROP POLICY IF EXISTS decisions_own ON judgment.decisions;
CREATE POLICY decisions_own ON judgment.decisions TO judgment_reader, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

GRANT SELECT ON judgment.profile_state TO judgment_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON judgment.profile_state TO judgment_owner;
DROP POLICY IF EXISTS profile_state_own ON judgment.profile_state;
CREATE POLICY profile_state_own ON judgment.profile_state TO judgment_reader, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

-- A scenario is seen by whom its contents are for, or whom it was made for; both policies, because
-- a Sync app's own may open the table to everybody.
GRANT SELECT (id, theme, category, personalized_for_user_id, personalization_inputs_hash),
      INSERT (id, theme, category, personalized_for_user_id, personalization_inputs_hash)
   ON public.scenarios TO judgment_owner;
-- A Sync app's choices may hang on the row; erasing takes the contents there and leaves the id.
DO $$
BEGIN
  IF judgment.made_here('public.scenarios') THEN
    GRANT DELETE ON public.scenarios TO judgment_owner;
  END IF;
END
$$;
DROP POLICY IF EXISTS judgment_readable ON public.scenarios;
CREATE POLICY judgment_readable ON public.scenarios FOR SELECT TO judgment_owner
  USING (personalized_for_user_id = judgment.current_owner()
         OR (personalized_for_user_id IS NULL
             AND EXISTS (SELECT 1 FROM judgment.scenario_contents c WHERE c.scenario_id = id)));
DROP POLICY IF EXISTS judgment_only_readable ON public.scenarios;
CREATE POLICY judgment_only_readable ON public.scenarios AS RESTRICTIVE FOR SELECT
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  USING (personalized_for_user_id = judgment.current_owner()
         OR (personalized_for_user_id IS NULL
             AND EXISTS (SELECT 1 FROM judgment.scenario_contents c WHERE c.scenario_id = id)));
DROP POLICY IF EXISTS judgment_added ON public.scenarios;
CREATE POLICY judgment_added ON public.scenarios FOR INSERT TO judgment_owner
  WITH CHECK (personalized_for_user_id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_only_added ON public.scenarios;
CREATE POLICY judgment_only_added ON public.scenarios AS RESTRICTIVE FOR INSERT
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  WITH CHECK (personalized_for_user_id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_erased ON public.scenarios;
CREATE POLICY judgment_erased ON public.scenarios FOR DELETE TO judgment_owner
  USING (personalized_for_user_id = judgment.current_owner()
         OR EXISTS (SELECT 1 FROM judgment.scenario_contents c
                     WHERE c.scenario_id = id AND c.owner_user_id = judgment.current_owner()));
DROP POLICY IF EXISTS judgment_only_erased ON public.scenarios;
CREATE POLICY judgment_only_erased ON public.scenarios AS RESTRICTIVE FOR DELETE
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  USING (personalized_for_user_id = judgment.current_owner()
         OR EXISTS (SELECT 1 FROM judgment.scenario_contents c
                     WHERE c.scenario_id = id AND c.owner_user_id = judgment.current_owner()));

COMMENT ON TABLE judgment.scenario_contents IS 'The text and options of a scenario.';
COMMENT ON COLUMN judgment.scenario_contents.scenario_id IS 'Whose contents these are.';
COMMENT ON COLUMN judgment.scenario_contents.owner_user_id IS
  'The one person it is for; null for everybody''s.';
COMMENT ON COLUMN judgment.scenario_contents.title IS 'A label of one line.';
COMMENT ON COLUMN judgment.scenario_contents.description IS 'What is to be decided.';
COMMENT ON COLUMN judgment.scenario_contents.options IS
  'Array of {id, label, description, ...}, in the order shown.';
COMMENT ON COLUMN judgment.scenario_contents.constraints IS 'Array of rules the choice is under.';
COMMENT ON COLUMN judgment.scenario_contents.archived IS
  'Kept for its decisions, never served again.';
COMMENT ON COLUMN judgment.scenario_contents.created_at IS 'When it was added.';
COMMENT ON TABLE judgment.decisions IS
  'Decisions with the scenario''s labels as they were then; the source of every profile.';
COMMENT ON COLUMN judgment.decisions.id IS 'The decision id, of public.choices.';
COMMENT ON COLUMN judgment.decisions.user_id IS 'Who decided.';
COMMENT ON COLUMN judgment.decisions.scenario_id IS
  'About what; the scenario may be gone, the labels here stay.';
COMMENT ON COLUMN judgment.decisions.scenario_title IS 'The scenario''s title then.';
COMMENT ON COLUMN judgment.decisions.category IS 'Its decision domain then.';
COMMENT ON COLUMN judgment.decisions.theme IS 'Its theme then.';
COMMENT ON COLUMN judgment.decisions.options IS 'The options as they were offered.';
COMMENT ON COLUMN judgment.decisions.chosen_option_id IS 'The option chosen in the end.';
COMMENT ON COLUMN judgment.decisions.chosen_label IS 'Its label.';
COMMENT ON COLUMN judgment.decisions.rationale IS 'The owner''s own words; null without any.';
COMMENT ON COLUMN judgment.decisions.confidence IS 'Stated confidence, 0-1; null where not asked.';
COMMENT ON COLUMN judgment.decisions.response_ms IS
  'Milliseconds from showing to choosing; null where not measured.';
COMMENT ON COLUMN judgment.decisions.first_option_id IS
  'The option chosen before any discussion; null where there was none.';
COMMENT ON COLUMN judgment.decisions.predicted_peer_option_id IS
  'What the owner thought most others choose; null where not asked.';
COMMENT ON COLUMN judgment.decisions.retest_of IS
  'The earlier decision on the same scenario; null for a first one.';
COMMENT ON COLUMN judgment.decisions.source IS
  'judgment: our rounds; seed: historic data; sync: a Sync app.';
COMMENT ON COLUMN judgment.decisions.recorded_at IS 'When it was decided.';
COMMENT ON COLUMN judgment.decisions.created_at IS 'When the row was stored.';
COMMENT ON TABLE judgment.profile_state IS
  'Who computes an owner''s sync_score; no row means the Sync app does (ruling 22).';
COMMENT ON COLUMN judgment.profile_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.profile_state.score_owner IS 'judgment or sync.';
COMMENT ON COLUMN judgment.profile_state.updated_at IS 'When that was last settled.';

COMMIT;
