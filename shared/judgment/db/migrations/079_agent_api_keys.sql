-- Long-lived keys for agents: an owner mints, lists and revokes their own (seed 000 §4, §11).
-- Only the SHA-256 of a key is stored; the key itself is shown once and never kept.
BEGIN;

CREATE TABLE IF NOT EXISTS public.agent_api_keys (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  key_hash text NOT NULL UNIQUE,
  name text NOT NULL,
  last_used_at timestamptz NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  revoked_at timestamptz NULL
);
CREATE INDEX IF NOT EXISTS agent_api_keys_user_id_idx
  ON public.agent_api_keys (user_id, created_at DESC);

ALTER TABLE public.agent_api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.agent_api_keys FORCE ROW LEVEL SECURITY;

-- A Supabase project hands every table of public to its API roles by default: take that back first.
-- Deleting is not revoking, so nobody may delete here.
REVOKE ALL ON public.agent_api_keys FROM PUBLIC, anon, authenticated;
GRANT SELECT (id, user_id, name, last_used_at, created_at, revoked_at),
      INSERT (id, user_id, key_hash, name), UPDATE (revoked_at)
   ON public.agent_api_keys TO authenticated;

DROP POLICY IF EXISTS agent_api_keys_see_own ON public.agent_api_keys;
CREATE POLICY agent_api_keys_see_own ON public.agent_api_keys FOR SELECT TO authenticated
  USING (user_id = auth.uid());
DROP POLICY IF EXISTS agent_api_keys_mint_own ON public.agent_api_keys;
CREATE POLICY agent_api_keys_mint_own ON public.agent_api_keys FOR INSERT TO authenticated
  WITH CHECK (user_id = auth.uid());
DROP POLICY IF EXISTS agent_api_keys_revoke_own ON public.agent_api_keys;
CREATE POLICY agent_api_keys_revoke_own ON public.agent_api_keys FOR UPDATE TO authenticated
  USING (user_id = auth.uid()) WITH CHECK (user_id = auth.uid());

CREATE OR REPLACE FUNCTION public.validate_agent_api_key(key_hash text) RETURNS uuid
LANGUAGE sql STABLE SECURITY INVOKER AS $$
  SELECT k.user_id FROM public.agent_api_keys k
   WHERE k.key_hash = validate_agent_api_key.key_hash AND k.revoked_at IS NULL
$$;
REVOKE ALL ON FUNCTION public.validate_agent_api_key(text)
  FROM PUBLIC, anon, authenticated, service_role;

COMMENT ON TABLE public.agent_api_keys IS
  'Keys with which an owner''s agents read; revoked ones stay as a record.';
COMMENT ON COLUMN public.agent_api_keys.id IS 'The key''s id, safe to show.';
COMMENT ON COLUMN public.agent_api_keys.user_id IS 'Whose data the key opens.';
COMMENT ON COLUMN public.agent_api_keys.key_hash IS 'SHA-256 of the key, hexadecimal.';
COMMENT ON COLUMN public.agent_api_keys.name IS 'What the owner calls it.';
COMMENT ON COLUMN public.agent_api_keys.last_used_at IS
  'Last use, written at most once a minute.';
COMMENT ON COLUMN public.agent_api_keys.created_at IS 'When it was minted.';
COMMENT ON COLUMN public.agent_api_keys.revoked_at IS 'When it was revoked; null while it works.';
COMMENT ON FUNCTION public.validate_agent_api_key(text) IS
  'The owner of a live key by its hash, or null.';

COMMIT;
