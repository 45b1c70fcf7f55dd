-- Keys that end by themselves, say what they may, and can be recognised without being known
-- (ruling 2), and the two functions of the authorizer, which no other role may call.
BEGIN;

ALTER TABLE public.agent_api_keys ADD COLUMN IF NOT EXISTS expires_at timestamptz NULL;
ALTER TABLE public.agent_api_keys ADD COLUMN IF NOT EXISTS last4 text NOT NULL DEFAULT '';
ALTER TABLE public.agent_api_keys ADD COLUMN IF NOT EXISTS prefix text NOT NULL DEFAULT '';
ALTER TABLE public.agent_api_keys ADD COLUMN IF NOT EXISTS scopes text[] NOT NULL
  DEFAULT ARRAY['profile:read'];
ALTER TABLE public.agent_api_keys DROP CONSTRAINT IF EXISTS agent_api_keys_scopes_check;
ALTER TABLE public.agent_api_keys ADD CONSTRAINT agent_api_keys_scopes_check CHECK (
  cardinality(scopes) > 0
  AND scopes <@ ARRAY['profile:read', 'preferences:read', 'preferences:write']);

COMMENT ON COLUMN public.agent_api_keys.expires_at IS 'When it stops by itself; null for never.';
COMMENT ON COLUMN public.agent_api_keys.last4 IS 'Its last four characters, shown in lists.';
COMMENT ON COLUMN public.agent_api_keys.prefix IS 'Its first characters, for logs.';
COMMENT ON COLUMN public.agent_api_keys.scopes IS 'What it may do.';

GRANT SELECT (id, user_id, key_hash, prefix, scopes, expires_at, revoked_at, last_used_at),
      UPDATE (last_used_at)
   ON public.agent_api_keys TO judgment_authorizer;
DROP POLICY IF EXISTS judgment_authorizer_resolves ON public.agent_api_keys;
CREATE POLICY judgment_authorizer_resolves ON public.agent_api_keys FOR SELECT
  TO judgment_authorizer USING (true);
DROP POLICY IF EXISTS judgment_authorizer_touches ON public.agent_api_keys;
CREATE POLICY judgment_authorizer_touches ON public.agent_api_keys FOR UPDATE
  TO judgment_authorizer USING (true) WITH CHECK (true);

GRANT SELECT (id, user_id, name, prefix, last4, scopes, created_at, expires_at, last_used_at,
              revoked_at),
      INSERT (id, user_id, key_hash, name, prefix, last4, scopes, created_at, expires_at),
      UPDATE (revoked_at), DELETE
   ON public.agent_api_keys TO judgment_owner;
DROP POLICY IF EXISTS judgment_own ON public.agent_api_keys;
CREATE POLICY judgment_own ON public.agent_api_keys TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

CREATE OR REPLACE FUNCTION public.validate_agent_api_key(key_hash text) RETURNS uuid
LANGUAGE sql STABLE SECURITY INVOKER AS $$
  SELECT k.user_id FROM public.agent_api_keys k
   WHERE k.key_hash = validate_agent_api_key.key_hash AND k.revoked_at IS NULL
     AND (k.expires_at IS NULL OR k.expires_at > now())
$$;
REVOKE ALL ON FUNCTION public.validate_agent_api_key(text)
  FROM PUBLIC, anon, authenticated, service_role;
GRANT EXECUTE ON FUNCTION public.validate_agent_api_key(text) TO judgment_authorizer;

-- Both statements run for every key, known or not, so that neither their number nor their kind
-- tells one from the other. A key that many use at once is touched by the first; the rest pass by.
CREATE OR REPLACE FUNCTION judgment.resolve_agent_api_key(key_hash text)
RETURNS TABLE (key_id uuid, user_id uuid, scopes text[], prefix text)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  UPDATE public.agent_api_keys k SET last_used_at = now()
   WHERE k.id = (
     SELECT stale.id FROM public.agent_api_keys stale
      WHERE stale.key_hash = resolve_agent_api_key.key_hash AND stale.revoked_at IS NULL
        AND (stale.expires_at IS NULL OR stale.expires_at > now())
        AND (stale.last_used_at IS NULL OR stale.last_used_at <= now() - interval '1 minute')
        FOR NO KEY UPDATE SKIP LOCKED);
  RETURN QUERY
    SELECT k.id, k.user_id, k.scopes, k.prefix FROM public.agent_api_keys k
     WHERE k.key_hash = resolve_agent_api_key.key_hash AND k.revoked_at IS NULL
       AND (k.expires_at IS NULL OR k.expires_at > now());
END
$$;
REVOKE ALL ON FUNCTION judgment.resolve_agent_api_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judgment.resolve_agent_api_key(text) TO judgment_authorizer;
COMMENT ON FUNCTION judgment.resolve_agent_api_key(text) IS
  'Who a live key belongs to and what it may do; no row otherwise. Notes the use once a minute.';

COMMIT;
