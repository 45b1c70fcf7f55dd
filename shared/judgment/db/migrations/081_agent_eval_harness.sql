-- What the shadow evaluation needs: the profile as it was before a decision, and the predictions
-- made from it (seed 000 §9, §11). It observes; nothing here feeds a profile.
BEGIN;

CREATE TABLE IF NOT EXISTS public.evaluation_snapshots (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  choice_id uuid NOT NULL REFERENCES public.choices (id) ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  profile_state jsonb NULL,
  personal_context_snapshot text NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS public.evaluation_predictions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  snapshot_id uuid NOT NULL REFERENCES public.evaluation_snapshots (id) ON DELETE CASCADE,
  condition text NOT NULL CHECK (condition IN ('A', 'B', 'C')),
  predicted_option_id text NULL,
  predicted_rationale text NULL,
  eval_model text NOT NULL,
  eval_model_version text NOT NULL,
  choice_agreement boolean NULL,
  rationale_similarity numeric NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS evaluation_snapshots_user_id_idx
  ON public.evaluation_snapshots (user_id, created_at DESC);
CREATE INDEX IF NOT EXISTS evaluation_snapshots_choice_id_idx
  ON public.evaluation_snapshots (choice_id);
CREATE INDEX IF NOT EXISTS evaluation_predictions_condition_idx
  ON public.evaluation_predictions (condition, created_at DESC);
CREATE INDEX IF NOT EXISTS evaluation_predictions_snapshot_id_idx
  ON public.evaluation_predictions (snapshot_id);

ALTER TABLE public.evaluation_snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.evaluation_snapshots FORCE ROW LEVEL SECURITY;
ALTER TABLE public.evaluation_predictions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.evaluation_predictions FORCE ROW LEVEL SECURITY;

REVOKE ALL ON public.evaluation_snapshots, public.evaluation_predictions
  FROM PUBLIC, anon, authenticated;
GRANT SELECT ON public.evaluation_snapshots, public.evaluation_predictions TO authenticated;
GRANT SELECT, INSERT, UPDATE ON public.evaluation_snapshots, public.evaluation_predictions
  TO service_role;

DROP POLICY IF EXISTS evaluation_snapshots_see_own ON public.evaluation_snapshots;
CREATE POLICY evaluation_snapshots_see_own ON public.evaluation_snapshots
  FOR SELECT TO authenticated USING (user_id = auth.uid());
DROP POLICY IF EXISTS evaluation_snapshots_service ON public.evaluation_snapshots;
CREATE POLICY evaluation_snapshots_service ON public.evaluation_snapshots
  TO service_role USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS evaluation_predictions_see_own ON public.evaluation_predictions;
CREATE POLICY evaluation_predictions_see_own ON public.evaluation_predictions
  FOR SELECT TO authenticated
  USING (EXISTS (SELECT 1 FROM public.evaluation_snapshots s
                  WHERE s.id = snapshot_id AND s.user_id = auth.uid()));
DROP POLICY IF EXISTS evaluation_predictions_service ON public.evaluation_predictions;
CREATE POLICY evaluation_predictions_service ON public.evaluation_predictions
  TO service_role USING (true) WITH CHECK (true);

COMMENT ON TABLE public.evaluation_snapshots IS
  'The profile and context as they were just before a decision went into them.';
COMMENT ON COLUMN public.evaluation_snapshots.id IS 'The snapshot.';
COMMENT ON COLUMN public.evaluation_snapshots.choice_id IS 'The decision it precedes.';
COMMENT ON COLUMN public.evaluation_snapshots.user_id IS 'Who decided.';
COMMENT ON COLUMN public.evaluation_snapshots.profile_state IS
  'The frozen player_decision_profiles row; null when there was none.';
COMMENT ON COLUMN public.evaluation_snapshots.personal_context_snapshot IS
  'The personal context then; nulled when the owner empties it.';
COMMENT ON COLUMN public.evaluation_snapshots.created_at IS 'When it was taken.';
COMMENT ON TABLE public.evaluation_predictions IS
  'What a model predicted the owner would choose, and how that compares.';
COMMENT ON COLUMN public.evaluation_predictions.id IS 'The prediction.';
COMMENT ON COLUMN public.evaluation_predictions.snapshot_id IS 'What it was predicted from.';
COMMENT ON COLUMN public.evaluation_predictions.condition IS
  'A: personal context only; B: judgment only; C: both.';
COMMENT ON COLUMN public.evaluation_predictions.predicted_option_id IS 'The predicted option.';
COMMENT ON COLUMN public.evaluation_predictions.predicted_rationale IS 'The predicted reason.';
COMMENT ON COLUMN public.evaluation_predictions.eval_model IS 'The model.';
COMMENT ON COLUMN public.evaluation_predictions.eval_model_version IS 'Its exact version.';
COMMENT ON COLUMN public.evaluation_predictions.choice_agreement IS
  'Whether it was the option chosen; computed afterwards.';
COMMENT ON COLUMN public.evaluation_predictions.rationale_similarity IS
  'How close the reasons are, 0-1; computed afterwards.';
COMMENT ON COLUMN public.evaluation_predictions.created_at IS 'When it was made.';

COMMIT;
