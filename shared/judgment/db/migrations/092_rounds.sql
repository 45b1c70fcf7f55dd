-- Rounds: what a scenario shows besides its options, what was asked and answered, what was served,
-- and what the profile is carried forward from instead of being built anew at each decision.
BEGIN;

ALTER TABLE judgment.scenario_contents
  ADD COLUMN IF NOT EXISTS stimuli jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(stimuli) = 'object');
ALTER TABLE judgment.scenario_contents ADD COLUMN IF NOT EXISTS library_key text NULL;
ALTER TABLE judgment.scenario_contents ADD COLUMN IF NOT EXISTS content_sha256 text NULL;
CREATE UNIQUE INDEX IF NOT EXISTS scenario_contents_library_key_idx
  ON judgment.scenario_contents (library_key) WHERE library_key IS NOT NULL;

ALTER TABLE judgment.decisions ADD COLUMN IF NOT EXISTS self_predicted_option_id text NULL;
ALTER TABLE judgment.decisions
  ADD COLUMN IF NOT EXISTS stimuli jsonb NOT NULL DEFAULT '{}'
    CHECK (jsonb_typeof(stimuli) = 'object');
ALTER TABLE judgment.decisions ADD COLUMN IF NOT EXISTS outcome_of uuid NULL
  REFERENCES judgment.decisions (id) ON DELETE SET NULL;
ALTER TABLE judgment.decisions DROP CONSTRAINT IF EXISTS decisions_recorded_at_finite;
ALTER TABLE judgment.decisions ADD CONSTRAINT decisions_recorded_at_finite
  CHECK (isfinite(recorded_at));
CREATE INDEX IF NOT EXISTS decisions_scenario_idx
  ON judgment.decisions (user_id, scenario_id, recorded_at DESC);
CREATE INDEX IF NOT EXISTS decisions_outcome_of_idx
  ON judgment.decisions (outcome_of) WHERE outcome_of IS NOT NULL;

CREATE TABLE IF NOT EXISTS judgment.servings (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  scenario_id uuid NOT NULL REFERENCES public.scenarios (id) ON DELETE CASCADE,
  retest_of uuid NULL REFERENCES judgment.decisions (id) ON DELETE CASCADE,
  outcome_of uuid NULL REFERENCES judgment.decisions (id) ON DELETE SET NULL,
  served_at timestamptz NOT NULL,
  decision_id uuid NULL REFERENCES judgment.decisions (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX IF NOT EXISTS servings_open_idx
  ON judgment.servings (user_id, scenario_id) WHERE decision_id IS NULL;
CREATE INDEX IF NOT EXISTS servings_user_id_idx ON judgment.servings (user_id, served_at DESC);
CREATE INDEX IF NOT EXISTS servings_scenario_id_idx ON judgment.servings (scenario_id);
CREATE INDEX IF NOT EXISTS servings_retest_of_idx
  ON judgment.servings (retest_of) WHERE retest_of IS NOT NULL;
CREATE INDEX IF NOT EXISTS servings_outcome_of_idx
  ON judgment.servings (outcome_of) WHERE outcome_of IS NOT NULL;
CREATE INDEX IF NOT EXISTS servings_decision_id_idx
  ON judgment.servings (decision_id) WHERE decision_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS judgment.profile_accumulators (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  part text NOT NULL,
  version integer NOT NULL,
  state text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, part)
);

CREATE TABLE IF NOT EXISTS judgment.profile_marks (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (user_id, key)
);

ALTER TABLE judgment.servings ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.servings FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_accumulators ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_accumulators FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_marks ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.profile_marks FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE (decision_id, served_at), DELETE ON judgment.servings TO judgment_owner;
DROP POLICY IF EXISTS servings_own ON judgment.servings;
CREATE POLICY servings_own ON judgment.servings TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
-- Foreign keys are checked past the row policies; what a serving points at must be its owner's.
DROP POLICY IF EXISTS servings_only_on_own ON judgment.servings;
CREATE POLICY servings_only_on_own ON judgment.servings AS RESTRICTIVE FOR INSERT TO judgment_owner
  WITH CHECK (
    EXISTS (SELECT 1 FROM public.scenarios s WHERE s.id = servings.scenario_id)
    AND (retest_of IS NULL OR EXISTS (SELECT 1 FROM judgment.decisions d
                                       WHERE d.id = servings.retest_of
                                         AND d.user_id = judgment.current_owner()))
    AND (outcome_of IS NULL OR EXISTS (SELECT 1 FROM judgment.decisions d
                                        WHERE d.id = servings.outcome_of
                                          AND d.user_id = judgment.current_owner()))
    AND (decision_id IS NULL OR EXISTS (SELECT 1 FROM judgment.decisions d
                                         WHERE d.id = servings.decision_id
                                           AND d.user_id = judgment.current_owner())));
DROP POLICY IF EXISTS servings_closed_by_own ON judgment.servings;
CREATE POLICY servings_closed_by_own ON judgment.servings AS RESTRICTIVE FOR UPDATE
  TO judgment_owner
  WITH CHECK (decision_id IS NULL
              OR EXISTS (SELECT 1 FROM judgment.decisions d
                          WHERE d.id = servings.decision_id
                            AND d.user_id = judgment.current_owner()));
DROP POLICY IF EXISTS decisions_outcome_of_own ON judgment.decisions;
CREATE POLICY decisions_outcome_of_own ON judgment.decisions AS RESTRICTIVE FOR INSERT
  TO judgment_owner
  WITH CHECK (outcome_of IS NULL
              OR EXISTS (SELECT 1 FROM judgment.decisions d
                          WHERE d.id = decisions.outcome_of
                            AND d.user_id = judgment.current_owner()));
GRANT SELECT, INSERT, UPDATE (version, state, updated_at), DELETE
   ON judgment.profile_accumulators TO judgment_owner;
DROP POLICY IF EXISTS profile_accumulators_own ON judgment.profile_accumulators;
CREATE POLICY profile_accumulators_own ON judgment.profile_accumulators TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
GRANT SELECT, INSERT, UPDATE (value), DELETE ON judgment.profile_marks TO judgment_owner;
DROP POLICY IF EXISTS profile_marks_own ON judgment.profile_marks;
CREATE POLICY profile_marks_own ON judgment.profile_marks TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

-- The snapshot before a round is written in the round's own transaction (seed 000 §9.1).
GRANT INSERT ON public.evaluation_snapshots TO judgment_owner;
DROP POLICY IF EXISTS evaluation_snapshots_only_on_own ON public.evaluation_snapshots;
CREATE POLICY evaluation_snapshots_only_on_own ON public.evaluation_snapshots AS RESTRICTIVE
  FOR INSERT TO judgment_owner
  WITH CHECK (EXISTS (SELECT 1 FROM public.choices c
                       WHERE c.id = choice_id AND c.user_id = judgment.current_owner()));

-- The loader of the library runs at deploy as the migrator, which is under row policies as well.
GRANT SELECT, INSERT ON public.scenarios TO judgment_migrate;
DROP POLICY IF EXISTS judgment_library ON public.scenarios;
CREATE POLICY judgment_library ON public.scenarios TO judgment_migrate
  USING (personalized_for_user_id IS NULL) WITH CHECK (personalized_for_user_id IS NULL);
GRANT SELECT, INSERT, UPDATE ON judgment.scenario_contents TO judgment_migrate;
DROP POLICY IF EXISTS scenario_contents_library ON judgment.scenario_contents;
CREATE POLICY scenario_contents_library ON judgment.scenario_contents TO judgment_migrate
  USING (owner_user_id IS NULL) WITH CHECK (owner_user_id IS NULL);

COMMENT ON COLUMN judgment.scenario_contents.stimuli IS
  'What a round shows and asks besides its options: premise, majority, counter-arguments, outcomes.';
COMMENT ON COLUMN judgment.scenario_contents.library_key IS
  'Its key in the canonical library; null for all others.';
COMMENT ON COLUMN judgment.scenario_contents.content_sha256 IS
  'Digest of the library entry it was loaded from; null for all others.';
COMMENT ON COLUMN judgment.decisions.self_predicted_option_id IS
  'What the owner expected to choose before the details; null where not asked.';
COMMENT ON COLUMN judgment.decisions.stimuli IS 'What the round showed and asked, as it was then.';
COMMENT ON COLUMN judgment.decisions.outcome_of IS
  'The earlier decision whose outcome was shown before this one; null for none.';
COMMENT ON TABLE judgment.servings IS
  'Rounds shown to an owner; what makes a retest one, and keeps a round over a refresh.';
COMMENT ON COLUMN judgment.servings.id IS 'The serving.';
COMMENT ON COLUMN judgment.servings.user_id IS 'To whom.';
COMMENT ON COLUMN judgment.servings.scenario_id IS 'What was shown.';
COMMENT ON COLUMN judgment.servings.retest_of IS
  'The earlier decision it asks again; null for a first time.';
COMMENT ON COLUMN judgment.servings.outcome_of IS
  'The earlier decision whose outcome it shows; null for none.';
COMMENT ON COLUMN judgment.servings.served_at IS 'When it was last shown.';
COMMENT ON COLUMN judgment.servings.decision_id IS 'The decision on it; null while it is open.';
COMMENT ON COLUMN judgment.servings.created_at IS 'When it was first shown.';
COMMENT ON TABLE judgment.profile_accumulators IS
  'What a profile is carried forward from; derived from decisions and rebuilt when it is missing.';
COMMENT ON COLUMN judgment.profile_accumulators.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.profile_accumulators.part IS 'A decision domain, or owner for the rest.';
COMMENT ON COLUMN judgment.profile_accumulators.version IS
  'Version of the code that wrote it; another version is rebuilt.';
COMMENT ON COLUMN judgment.profile_accumulators.state IS 'Canonical JSON.';
COMMENT ON COLUMN judgment.profile_accumulators.updated_at IS 'Last decision that went in.';
COMMENT ON TABLE judgment.profile_marks IS
  'What later decisions are compared with: the last answer to each offer. Derived, like the above.';
COMMENT ON COLUMN judgment.profile_marks.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.profile_marks.key IS 'What is remembered, by kind and digest.';
COMMENT ON COLUMN judgment.profile_marks.value IS 'Canonical JSON.';

COMMIT;
