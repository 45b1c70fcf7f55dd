-- Who an owner is to their identity provider, and whether agents may read them (rulings 6, 17).
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.owners (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  issuer text NOT NULL,
  subject text NOT NULL,
  agent_access_enabled boolean NOT NULL DEFAULT true,
  is_test_account boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE judgment.owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.owners FORCE ROW LEVEL SECURITY;

GRANT SELECT, UPDATE (agent_access_enabled), DELETE ON judgment.owners TO judgment_owner;
DROP POLICY IF EXISTS owners_own ON judgment.owners;
CREATE POLICY owners_own ON judgment.owners TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

COMMENT ON TABLE judgment.owners IS 'People who have called us, and their own switch for agents.';
COMMENT ON COLUMN judgment.owners.user_id IS 'The user id.';
COMMENT ON COLUMN judgment.owners.issuer IS 'The identity provider that vouched for them first.';
COMMENT ON COLUMN judgment.owners.subject IS 'What that provider calls them.';
COMMENT ON COLUMN judgment.owners.agent_access_enabled IS
  'The owner''s own switch; off shuts every agent route and tool.';
COMMENT ON COLUMN judgment.owners.is_test_account IS
  'Flagged by an admin: left out of evaluation.';
COMMENT ON COLUMN judgment.owners.created_at IS 'First authenticated call.';

-- The kill switch stays with the admins.
GRANT SELECT, UPDATE (value, updated_at) ON public.agent_feature_flags TO judgment_worker;
DROP POLICY IF EXISTS judgment_worker_switches ON public.agent_feature_flags;
CREATE POLICY judgment_worker_switches ON public.agent_feature_flags TO judgment_worker
  USING (true) WITH CHECK (true);

-- Each right of the definer is one that a function below needs.
GRANT SELECT, INSERT ON judgment.owners TO judgment_definer;
DROP POLICY IF EXISTS owners_definer ON judgment.owners;
CREATE POLICY owners_definer ON judgment.owners TO judgment_definer
  USING (true) WITH CHECK (true);
GRANT SELECT ON public.agent_feature_flags TO judgment_definer;
DROP POLICY IF EXISTS judgment_definer_reads ON public.agent_feature_flags;
CREATE POLICY judgment_definer_reads ON public.agent_feature_flags FOR SELECT
  TO judgment_definer USING (true);
GRANT SELECT (id), INSERT (id) ON public.profiles TO judgment_definer;
DROP POLICY IF EXISTS judgment_definer ON public.profiles;
CREATE POLICY judgment_definer ON public.profiles TO judgment_definer
  USING (true) WITH CHECK (true);
DO $$
BEGIN
  IF judgment.made_here('auth.users') THEN
    GRANT USAGE ON SCHEMA auth TO judgment_definer;
    GRANT SELECT, INSERT, DELETE ON auth.users TO judgment_definer;
    DROP POLICY IF EXISTS users_definer ON auth.users;
    CREATE POLICY users_definer ON auth.users TO judgment_definer
      USING (true) WITH CHECK (true);
  END IF;
END
$$;

-- The functions are made by the role that is to own them, which takes membership in it and its
-- right to create: both for the length of this file only.
DO $$ BEGIN EXECUTE format('GRANT judgment_definer TO %I', current_user); END $$;
GRANT CREATE ON SCHEMA judgment TO judgment_definer;
SET LOCAL ROLE judgment_definer;

CREATE OR REPLACE FUNCTION judgment.ensure_owner(user_id uuid, issuer text, subject text)
RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT 1 FROM judgment.owners o WHERE o.user_id = ensure_owner.user_id) THEN
    RETURN true;
  END IF;
  BEGIN
    IF judgment.made_here('auth.users') THEN
      INSERT INTO auth.users (id) VALUES (ensure_owner.user_id) ON CONFLICT DO NOTHING;
    END IF;
    -- A Sync app's profile may have columns without a default, which are looked at before the
    -- conflict is: so only where there is none.
    IF NOT EXISTS (SELECT 1 FROM public.profiles p WHERE p.id = ensure_owner.user_id) THEN
      INSERT INTO public.profiles (id) VALUES (ensure_owner.user_id) ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO judgment.owners (user_id, issuer, subject)
    VALUES (ensure_owner.user_id, ensure_owner.issuer, ensure_owner.subject)
    ON CONFLICT DO NOTHING;
  EXCEPTION WHEN foreign_key_violation OR not_null_violation THEN
    RETURN false; -- a Sync app keeps its own people, and this is not one of them
  END;
  RETURN true;
END
$$;

-- In PL/pgSQL and not SQL, because it keeps its plan from call to call: every agent read asks this.
CREATE OR REPLACE FUNCTION judgment.agent_access_enabled() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' AS $$
DECLARE
  me constant uuid := judgment.current_owner();
  switches jsonb;
BEGIN
  SELECT f.value INTO switches FROM public.agent_feature_flags f
   WHERE f.key = 'agent_profile_access_enabled';
  RETURN coalesce(switches -> 'global' = 'true'::jsonb, false)
     AND coalesce(switches -> 'user_overrides' -> me::text, 'true'::jsonb) = 'true'::jsonb
     AND coalesce((SELECT o.agent_access_enabled FROM judgment.owners o WHERE o.user_id = me),
                  true);
END
$$;

CREATE OR REPLACE FUNCTION judgment.forget_owner() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  IF NOT judgment.made_here('auth.users') THEN
    RETURN false;
  END IF;
  DELETE FROM auth.users u WHERE u.id = judgment.current_owner();
  RETURN FOUND;
END
$$;

COMMENT ON FUNCTION judgment.ensure_owner(uuid, text, text) IS
  'Make sure the person has their rows; false where a Sync app does not know them.';
COMMENT ON FUNCTION judgment.agent_access_enabled() IS
  'Whether agents may read the current owner now: any switch that is off wins.';
COMMENT ON FUNCTION judgment.forget_owner() IS
  'Delete the current owner from auth.users where it is ours, and with them what hangs on it.';
REVOKE ALL ON FUNCTION judgment.ensure_owner(uuid, text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.agent_access_enabled() FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.forget_owner() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judgment.ensure_owner(uuid, text, text) TO judgment_authorizer;
GRANT EXECUTE ON FUNCTION judgment.agent_access_enabled() TO judgment_reader, judgment_owner;
GRANT EXECUTE ON FUNCTION judgment.forget_owner() TO judgment_owner;

RESET ROLE;
REVOKE CREATE ON SCHEMA judgment FROM judgment_definer;
DO $$ BEGIN EXECUTE format('REVOKE judgment_definer FROM %I', current_user); END $$;

COMMIT;
