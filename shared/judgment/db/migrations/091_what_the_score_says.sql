-- The score says how much of somebody's judgment is on record, and not how predictable they are
-- (docs/decisions/047-scores-only-evidence-can-raise.md). A Sync app's own words stay its own.
BEGIN;

DO $$
BEGIN
  IF judgment.made_here('public.profiles') THEN
    COMMENT ON COLUMN public.profiles.sync_score IS
      'How much of the owner''s judgment is on record, 0-100.';
  END IF;
END
$$;

COMMIT;
