-- Switches an admin turns without a deploy; the first is the kill switch (seed 000 §10.1, §11).
BEGIN;

CREATE TABLE IF NOT EXISTS public.agent_feature_flags (
  key text PRIMARY KEY,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE public.agent_feature_flags ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_feature_flags FORCE ROW LEVEL SECURITY;
REVOKE ALL ON public.agent_feature_flags FROM PUBLIC, anon, authenticated;

-- The row policies are forced, so that the table's own maker needs one to plant the switches.
DROP POLICY IF EXISTS agent_feature_flags_migrations ON public.agent_feature_flags;
CREATE POLICY agent_feature_flags_migrations ON public.agent_feature_flags TO CURRENT_USER
  USING (true) WITH CHECK (true);

INSERT INTO public.agent_feature_flags (key, value)
VALUES ('agent_profile_access_enabled', '{"global": true, "user_overrides": {}}')
ON CONFLICT (key) DO NOTHING;

COMMENT ON TABLE public.agent_feature_flags IS 'Operators'' switches, by name.';
COMMENT ON COLUMN public.agent_feature_flags.key IS 'The switch.';
COMMENT ON COLUMN public.agent_feature_flags.value IS
  'Its setting: {"global": bool, "user_overrides": {user id: bool}} for the kill switch.';
COMMENT ON COLUMN public.agent_feature_flags.updated_at IS 'Last turned.';

COMMIT;
