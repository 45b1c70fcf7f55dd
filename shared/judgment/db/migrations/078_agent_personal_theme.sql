-- "Personal" rounds: a theme, an owner and a fingerprint of what went in (seed 000 §8, §11).
-- There is no target_domain: category holds it (ruling 1).
BEGIN;

-- A Sync app may hold themes in a check constraint or an enum, or not at all. A constraint keeps
-- what it allowed and allows 'personal' besides.
DO $$
DECLARE
  held record;
BEGIN
  FOR held IN
    SELECT c.conname, pg_get_expr(c.conbin, c.conrelid) AS expression
      FROM pg_catalog.pg_constraint c
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attname = 'theme'
     WHERE c.conrelid = 'public.scenarios'::regclass
       AND c.contype = 'c'
       AND c.conkey = ARRAY[a.attnum]
       AND pg_get_expr(c.conbin, c.conrelid) NOT LIKE '%''personal''%'
  LOOP
    EXECUTE format('ALTER TABLE public.scenarios DROP CONSTRAINT %I', held.conname);
    EXECUTE format(
      'ALTER TABLE public.scenarios ADD CONSTRAINT %I CHECK ((%s) OR theme = ''personal'')',
      held.conname, held.expression);
  END LOOP;

  FOR held IN
    SELECT t.oid::regtype AS name
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
     WHERE a.attrelid = 'public.scenarios'::regclass AND a.attname = 'theme' AND t.typtype = 'e'
  LOOP
    EXECUTE format('ALTER TYPE %s ADD VALUE IF NOT EXISTS ''personal''', held.name);
  END LOOP;
END
$$;

ALTER TABLE public.scenarios ADD COLUMN IF NOT EXISTS personalized_for_user_id uuid NULL
  REFERENCES auth.users (id) ON DELETE CASCADE;
ALTER TABLE public.scenarios ADD COLUMN IF NOT EXISTS personalization_inputs_hash text NULL;

CREATE INDEX IF NOT EXISTS scenarios_personalized_for_user_id_idx
  ON public.scenarios (personalized_for_user_id) WHERE personalized_for_user_id IS NOT NULL;

COMMENT ON COLUMN public.scenarios.personalized_for_user_id IS
  'The one owner it was made for; null for everybody''s.';
COMMENT ON COLUMN public.scenarios.personalization_inputs_hash IS
  'SHA-256 of the context and settings it was made from.';

COMMIT;
