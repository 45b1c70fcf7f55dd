-- What our roles may do on the tables that a Sync app shares with us: only their owner's rows.
--
-- The permissive policy grants, the restrictive one makes sure: a Sync app may well have a policy
-- for everybody ("public profiles are viewable by everyone"), and everybody includes our roles.
-- Row security itself is never switched on for Sync here, because that could shut Sync's own
-- clients out; where it is off, this file refuses.
BEGIN;

DO $$
DECLARE
  open_table text;
BEGIN
  SELECT string_agg(c.oid::regclass::text, ', ') INTO open_table
    FROM pg_catalog.pg_class c
   WHERE c.oid IN ('public.profiles'::regclass, 'public.player_decision_profiles'::regclass,
                   'public.choices'::regclass, 'public.scenarios'::regclass)
     AND NOT c.relrowsecurity;
  IF open_table IS NOT NULL THEN
    RAISE EXCEPTION 'Row level security is off on %; owners could see each other.', open_table
      USING HINT = 'Add policies for the Sync app, then ALTER TABLE ... ENABLE ROW LEVEL SECURITY.';
  END IF;
END
$$;

GRANT SELECT (id, sync_score) ON public.profiles TO judgment_reader;
GRANT SELECT (id, sync_score, personal_context, onboarding_lightbox_dismissed_at),
      UPDATE (sync_score, personal_context, onboarding_lightbox_dismissed_at)
   ON public.profiles TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.profiles;
CREATE POLICY judgment_own ON public.profiles TO judgment_reader, judgment_owner
  USING (id = judgment.current_owner()) WITH CHECK (id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_only_own ON public.profiles;
CREATE POLICY judgment_only_own ON public.profiles AS RESTRICTIVE
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  USING (id = judgment.current_owner()) WITH CHECK (id = judgment.current_owner());

GRANT SELECT ON public.player_decision_profiles TO judgment_reader;
GRANT SELECT, INSERT, UPDATE ON public.player_decision_profiles TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.player_decision_profiles;
CREATE POLICY judgment_own ON public.player_decision_profiles TO judgment_reader, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_only_own ON public.player_decision_profiles;
CREATE POLICY judgment_only_own ON public.player_decision_profiles AS RESTRICTIVE
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

GRANT SELECT (id, user_id), INSERT (id, user_id) ON public.choices TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.choices;
CREATE POLICY judgment_own ON public.choices TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS judgment_only_own ON public.choices;
CREATE POLICY judgment_only_own ON public.choices AS RESTRICTIVE
  TO judgment_authorizer, judgment_reader, judgment_owner, judgment_process
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

GRANT SELECT, DELETE ON public.evaluation_snapshots TO judgment_owner;
GRANT UPDATE (personal_context_snapshot) ON public.evaluation_snapshots TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.evaluation_snapshots;
CREATE POLICY judgment_own ON public.evaluation_snapshots TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
GRANT SELECT, DELETE ON public.evaluation_predictions TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.evaluation_predictions;
CREATE POLICY judgment_own ON public.evaluation_predictions TO judgment_owner
  USING (EXISTS (SELECT 1 FROM public.evaluation_snapshots s
                  WHERE s.id = snapshot_id AND s.user_id = judgment.current_owner()));

-- Erasing reaches whole rows only where they are ours to erase; a Sync app erases its own.
DO $$
BEGIN
  IF judgment.made_here('public.profiles') THEN
    GRANT DELETE ON public.profiles TO judgment_owner;
  END IF;
  IF judgment.made_here('public.player_decision_profiles') THEN
    GRANT DELETE ON public.player_decision_profiles TO judgment_owner;
  END IF;
  IF judgment.made_here('public.choices') THEN
    GRANT DELETE ON public.choices TO judgment_owner;
  END IF;
END
$$;

COMMIT;
