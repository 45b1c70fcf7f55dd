-- Prose for agents, beside the judgment it is made from and not on profiles (seed 000 §11).
BEGIN;

ALTER TABLE public.player_decision_profiles ADD COLUMN IF NOT EXISTS summary_text text NULL;
ALTER TABLE public.player_decision_profiles
  ADD COLUMN IF NOT EXISTS summary_generated_at timestamptz NULL;
ALTER TABLE public.player_decision_profiles
  ADD COLUMN IF NOT EXISTS summary_model_version text NULL;
ALTER TABLE public.player_decision_profiles ADD COLUMN IF NOT EXISTS agent_context_block text NULL;

COMMENT ON COLUMN public.player_decision_profiles.summary_text IS
  'Prose summary for people and agents; null until one was composed.';
COMMENT ON COLUMN public.player_decision_profiles.summary_generated_at IS
  'When the summary was composed.';
COMMENT ON COLUMN public.player_decision_profiles.summary_model_version IS
  'What composed it: a model''s version, or composer-1 for the deterministic composer.';
COMMENT ON COLUMN public.player_decision_profiles.agent_context_block IS
  'A block ready for an agent''s system prompt.';

COMMIT;
