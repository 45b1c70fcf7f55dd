-- name: agent_access
-- Whether agents may read the transaction's owner now: any switch that is off wins.
SELECT judgment.agent_access_enabled()

-- name: resolve_key
-- The valid key with this hash; touches its last use at most once a minute.
SELECT key_id, user_id, scopes, prefix
  FROM judgment.resolve_agent_api_key(%(key_hash)s)

-- name: ensure_owner
-- Make an owner's rows at their first authenticated call.
SELECT judgment.ensure_owner(%(user_id)s, %(issuer)s, %(subject)s)

-- name: insert_key
-- Store a minted key by its hash.
INSERT INTO public.agent_api_keys
            (id, user_id, key_hash, name, prefix, last4, scopes, expires_at)
     VALUES (%(id)s, %(user_id)s, %(key_hash)s, %(name)s, %(prefix)s, %(last4)s,
             %(scopes)s, %(expires_at)s)
  RETURNING id, name, prefix, last4, scopes, created_at, expires_at, last_used_at, revoked_at

-- name: list_keys
-- An owner's keys, newest first.
  SELECT id, name, prefix, last4, scopes, created_at, expires_at, last_used_at, revoked_at
    FROM public.agent_api_keys
   WHERE user_id = %(user_id)s
ORDER BY created_at DESC, id

-- name: revoke_key
-- Mark a key revoked, keeping an earlier mark.
   UPDATE public.agent_api_keys
      SET revoked_at = coalesce(revoked_at, %(at)s)
    WHERE id = %(key_id)s AND user_id = %(user_id)s
RETURNING id, name, prefix, last4, scopes, created_at, expires_at, last_used_at, revoked_at

-- name: agent_access_flag
-- The kill switch as stored.
SELECT value FROM public.agent_feature_flags WHERE key = 'agent_profile_access_enabled'

-- name: set_agent_access_flag
-- Replace the kill switch.
UPDATE public.agent_feature_flags
   SET value = %(value)s, updated_at = now()
 WHERE key = 'agent_profile_access_enabled'

-- name: set_own_switch
-- The owner's own switch for all agent routes.
UPDATE judgment.owners SET agent_access_enabled = %(enabled)s WHERE user_id = %(user_id)s

-- name: database_time
-- The transaction's time, by the clock that stamps the rows.
SELECT now()
