-- A kill switch that cannot be read counts as off, and so does one whose list of owners is none:
-- an admin who wrote it by hand meant to shut somebody out.
BEGIN;

DO $$ BEGIN EXECUTE format('GRANT judgment_definer TO %I', current_user); END $$;
GRANT CREATE ON SCHEMA judgment TO judgment_definer;
SET LOCAL ROLE judgment_definer;

CREATE OR REPLACE FUNCTION judgment.agent_access_enabled() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' AS $$
DECLARE
  me constant uuid := judgment.current_owner();
  switches jsonb;
BEGIN
  SELECT f.value INTO switches FROM public.agent_feature_flags f
   WHERE f.key = 'agent_profile_access_enabled';
  RETURN coalesce(switches -> 'global' = 'true'::jsonb, false)
     AND coalesce(jsonb_typeof(switches -> 'user_overrides'), 'object') = 'object'
     AND coalesce(switches -> 'user_overrides' -> me::text, 'true'::jsonb) = 'true'::jsonb
     AND coalesce((SELECT o.agent_access_enabled FROM judgment.owners o WHERE o.user_id = me),
                  true);
END
$$;

RESET ROLE;
REVOKE CREATE ON SCHEMA judgment FROM judgment_definer;
DO $$ BEGIN EXECUTE format('REVOKE judgment_definer FROM %I', current_user); END $$;

COMMIT;
