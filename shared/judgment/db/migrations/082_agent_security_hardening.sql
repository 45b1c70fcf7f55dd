-- The one table of Sync's that was open to everybody (seed 000 §11): no policy means closed to the
-- API roles, while the service role goes on.
BEGIN;

ALTER TABLE public.scenario_character_names ENABLE ROW LEVEL SECURITY;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM judgment.baseline_objects
              WHERE name = 'public.scenario_character_names') THEN
    ALTER TABLE public.scenario_character_names FORCE ROW LEVEL SECURITY;
  END IF;
END
$$;

COMMIT;
