-- What owners want: a stream of signals, documents compiled from it, consent, and a ledger of every
-- disclosure. Whoever serves an agent or another owner cannot read a signal or a document: only the
-- functions below can, and they check consent and write the ledger first (rulings 15, 16, 18, 33).
BEGIN;

-- Made as 083 makes roles; this one is younger.
DO $$
DECLARE
  held record;
BEGIN
  SELECT * INTO held FROM pg_catalog.pg_roles WHERE rolname = 'judgment_preferences';
  IF NOT FOUND THEN
    BEGIN
      CREATE ROLE judgment_preferences LOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- another database of this cluster is being migrated at the same moment
    END;
  ELSIF held.rolsuper OR held.rolbypassrls THEN
    RAISE EXCEPTION 'Role judgment_preferences must be neither a superuser nor BYPASSRLS.'
      USING HINT = 'ALTER ROLE judgment_preferences NOSUPERUSER NOBYPASSRLS';
  END IF;
  ALTER ROLE judgment_preferences SET statement_timeout = '10s';
  ALTER ROLE judgment_preferences SET idle_in_transaction_session_timeout = '30s';
  ALTER ROLE judgment_preferences SET search_path = '';
  IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'rds_iam') THEN
    GRANT rds_iam TO judgment_preferences;
  END IF;
END
$$;
GRANT USAGE ON SCHEMA judgment, public TO judgment_preferences;
GRANT EXECUTE ON FUNCTION judgment.current_owner() TO judgment_preferences;

-- Its lock gives positions in the order of commits, and one end to the ledger.
CREATE TABLE IF NOT EXISTS judgment.preference_state (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  appended bigint NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 0,
  deleted_revision bigint NOT NULL DEFAULT 0,
  compiled_revision bigint NOT NULL DEFAULT 0,
  consented bigint NOT NULL DEFAULT 0,
  ledger_position bigint NOT NULL DEFAULT 0,
  ledger_hash text NOT NULL DEFAULT '',
  CHECK (compiled_revision <= revision AND deleted_revision <= revision AND appended <= revision)
);

CREATE TABLE IF NOT EXISTS judgment.preference_signals (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  id uuid NOT NULL,
  position bigint NOT NULL CHECK (position > 0),
  key text COLLATE "C" NOT NULL CHECK (key <> ''),
  scope text NOT NULL CHECK (scope = 'global' OR scope LIKE 'platform:%'),
  instant timestamptz NOT NULL CHECK (isfinite(instant)),
  sequence integer NOT NULL CHECK (sequence >= 0),
  supersedes text NULL,
  sent_sha256 text NOT NULL,
  statement json NOT NULL
    CHECK (coalesce(statement ->> 'kind' IN ('preference', 'fact'), false)),
  recorded_at timestamptz NOT NULL CHECK (isfinite(recorded_at)),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, id),
  UNIQUE (user_id, position)
);
CREATE INDEX IF NOT EXISTS preference_signals_key_idx
  ON judgment.preference_signals (user_id, key, position);

CREATE TABLE IF NOT EXISTS judgment.preference_documents (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  platform text COLLATE "C" NOT NULL DEFAULT '',
  digest text NOT NULL,
  document json NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, platform)
);

CREATE TABLE IF NOT EXISTS judgment.consent_events (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  position bigint NOT NULL CHECK (position > 0),
  id uuid NOT NULL,
  effect text NOT NULL,
  key_glob text NOT NULL,
  audience text NOT NULL,
  level text NOT NULL,
  expires timestamptz NULL,
  made_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, position),
  CONSTRAINT consent_events_effect CHECK (effect IN ('allow', 'deny', 'revoke', 'lift')),
  CONSTRAINT consent_events_level CHECK (level IN ('read', 'solve')),
  CONSTRAINT consent_events_expires
    CHECK (expires IS NULL OR (isfinite(expires) AND effect IN ('allow', 'deny'))),
  CONSTRAINT consent_events_named CHECK (audience <> '*' OR effect <> 'allow')
);

CREATE TABLE IF NOT EXISTS judgment.preference_ledger (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  position bigint NOT NULL CHECK (position > 0),
  entry text NOT NULL,
  previous text NOT NULL,
  hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, position)
);

ALTER TABLE judgment.preference_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_state FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_signals ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_signals FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_documents FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.consent_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.consent_events FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_ledger ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.preference_ledger FORCE ROW LEVEL SECURITY;

-- The door of preferences: it appends, and reads back no more than appending once needs.
GRANT SELECT (user_id, appended, revision, deleted_revision, compiled_revision, consented,
              ledger_position, ledger_hash),
      INSERT (user_id),
      UPDATE (appended, revision, deleted_revision, consented)
   ON judgment.preference_state TO judgment_preferences;
GRANT SELECT (user_id, id, position, recorded_at, supersedes, sent_sha256),
      INSERT (user_id, id, position, key, scope, instant, sequence, supersedes, sent_sha256,
              statement, recorded_at),
      DELETE
   ON judgment.preference_signals TO judgment_preferences;
GRANT SELECT,
      INSERT (user_id, position, id, effect, key_glob, audience, level, expires, made_at)
   ON judgment.consent_events TO judgment_preferences;
GRANT SELECT ON judgment.preference_ledger TO judgment_preferences;
GRANT SELECT (id, user_id, sent_at, attempts),
      INSERT (id, type, version, user_id, subject_id, correlation_id),
      UPDATE (attempts, sent_at)
   ON judgment.outbox TO judgment_preferences;
GRANT SELECT (user_id, key, route, body_sha256, status, response),
      INSERT (user_id, key, route, body_sha256, status),
      UPDATE (status, response)
   ON judgment.idempotency_keys TO judgment_preferences;

-- The compiler: of the one owner whom its message names.
GRANT SELECT (user_id, revision, compiled_revision), UPDATE (compiled_revision)
   ON judgment.preference_state TO judgment_worker;
GRANT SELECT ON judgment.preference_signals TO judgment_worker;
GRANT SELECT, INSERT, UPDATE (digest, document, updated_at), DELETE
   ON judgment.preference_documents TO judgment_worker;

-- The owner: takes it all along, or erases it.
GRANT SELECT, DELETE ON judgment.preference_state, judgment.preference_signals,
  judgment.preference_documents, judgment.consent_events, judgment.preference_ledger
  TO judgment_owner;

DROP POLICY IF EXISTS preference_state_own ON judgment.preference_state;
CREATE POLICY preference_state_own ON judgment.preference_state
  TO judgment_preferences, judgment_worker, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS preference_signals_own ON judgment.preference_signals;
CREATE POLICY preference_signals_own ON judgment.preference_signals
  TO judgment_preferences, judgment_worker, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS preference_documents_own ON judgment.preference_documents;
CREATE POLICY preference_documents_own ON judgment.preference_documents
  TO judgment_worker, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS consent_events_own ON judgment.consent_events;
CREATE POLICY consent_events_own ON judgment.consent_events
  TO judgment_preferences, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS preference_ledger_own ON judgment.preference_ledger;
CREATE POLICY preference_ledger_own ON judgment.preference_ledger
  TO judgment_preferences, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS outbox_of_preferences ON judgment.outbox;
CREATE POLICY outbox_of_preferences ON judgment.outbox TO judgment_preferences
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS idempotency_keys_of_preferences ON judgment.idempotency_keys;
CREATE POLICY idempotency_keys_of_preferences ON judgment.idempotency_keys
  TO judgment_preferences
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

-- What discloses: it reads past its caller, and is the only writer of the ledger.
GRANT SELECT, INSERT (user_id), UPDATE (ledger_position, ledger_hash)
   ON judgment.preference_state TO judgment_definer;
GRANT SELECT ON judgment.preference_signals, judgment.preference_documents,
  judgment.consent_events TO judgment_definer;
GRANT INSERT (user_id, position, entry, previous, hash) ON judgment.preference_ledger
   TO judgment_definer;
DROP POLICY IF EXISTS preference_state_definer ON judgment.preference_state;
CREATE POLICY preference_state_definer ON judgment.preference_state TO judgment_definer
  USING (true) WITH CHECK (true);
DROP POLICY IF EXISTS preference_signals_definer ON judgment.preference_signals;
CREATE POLICY preference_signals_definer ON judgment.preference_signals FOR SELECT
  TO judgment_definer USING (true);
DROP POLICY IF EXISTS preference_documents_definer ON judgment.preference_documents;
CREATE POLICY preference_documents_definer ON judgment.preference_documents FOR SELECT
  TO judgment_definer USING (true);
DROP POLICY IF EXISTS consent_events_definer ON judgment.consent_events;
CREATE POLICY consent_events_definer ON judgment.consent_events FOR SELECT
  TO judgment_definer USING (true);
DROP POLICY IF EXISTS preference_ledger_definer ON judgment.preference_ledger;
CREATE POLICY preference_ledger_definer ON judgment.preference_ledger FOR INSERT
  TO judgment_definer WITH CHECK (true);

DO $$ BEGIN EXECUTE format('GRANT judgment_definer TO %I', current_user); END $$;
GRANT CREATE ON SCHEMA judgment TO judgment_definer;
SET LOCAL ROLE judgment_definer;

-- The switches of 090, of any owner: another owner's agents may be asked for.
CREATE OR REPLACE FUNCTION judgment.agent_access_of(whose uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
  switches jsonb;
BEGIN
  SELECT f.value INTO switches FROM public.agent_feature_flags f
   WHERE f.key = 'agent_profile_access_enabled';
  RETURN coalesce(switches -> 'global' = 'true'::jsonb, false)
     AND coalesce(jsonb_typeof(switches -> 'user_overrides'), 'object') = 'object'
     AND coalesce(switches -> 'user_overrides' -> whose::text, 'true'::jsonb) = 'true'::jsonb
     AND coalesce((SELECT o.agent_access_enabled FROM judgment.owners o WHERE o.user_id = whose),
                  true);
END
$$;

CREATE OR REPLACE FUNCTION judgment.agent_access_enabled() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  RETURN judgment.agent_access_of(judgment.current_owner());
END
$$;

-- What was stored as a glob is one: its segments are literal or exactly `*`.
CREATE OR REPLACE FUNCTION judgment.is_key_glob(glob text) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN length(normalize(glob)) <= 200
   AND glob ~ '^(\*|[^.*?\[]+)(\.(\*|[^.*?\[]+))*$'
   AND glob !~ '(^|\.) | (\.|$)' AND glob !~ '[\u0001-\u001f\u007f-\u00a0\u00ad\u2028-\u202f\ufeff]';

CREATE OR REPLACE FUNCTION judgment.is_audience(audience text) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN length(normalize(audience)) BETWEEN 1 AND 100 AND audience <> 'self'
   AND (audience = '*' OR strpos(audience, '*') = 0) AND audience !~ '^ | $'
   AND audience !~ '[\u0001-\u001f\u007f-\u00a0\u00ad\u2028-\u202f\ufeff]';

-- `*` is everything, a last `*` everything beneath, an inner `*` one segment; case-exact. The usual
-- globs are decided without a subquery, so that Postgres takes the function into the query.
CREATE OR REPLACE FUNCTION judgment.segments_cover(glob text[], key text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN glob[cardinality(glob)] = '*' THEN cardinality(key) >= cardinality(glob)
            ELSE cardinality(key) = cardinality(glob) END
   AND NOT EXISTS (SELECT 1 FROM generate_subscripts(glob, 1) n
                    WHERE glob[n] <> '*' AND glob[n] <> key[n]);

CREATE OR REPLACE FUNCTION judgment.glob_covers(glob text, key text) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN glob = '*' THEN true
  WHEN strpos(glob, '*') = 0 THEN glob = key
  WHEN strpos(glob, '*') = length(glob) THEN starts_with(key, left(glob, -1))
  ELSE judgment.segments_cover(string_to_array(glob, '.'), string_to_array(key, '.'))
END;

-- The rule of judgment/preferences/grants.py over stored events, for many keys at once; a property
-- test holds one to the other. What cannot be read opens nothing and closes all it might have meant.
CREATE OR REPLACE FUNCTION judgment.open_keys(
  whose uuid, audience text, purpose text, keys text[], at timestamptz)
RETURNS text[] LANGUAGE sql STABLE AS $$
  WITH asked (level) AS (VALUES (CASE purpose WHEN 'read' THEN 0 WHEN 'solve' THEN 1 END)),
  told AS (
    SELECT e.position, e.effect, e.expires,
           CASE e.level WHEN 'read' THEN 0 WHEN 'solve' THEN 1 END AS level,
           normalize(e.key_glob) AS key_glob, judgment.is_key_glob(e.key_glob) AS has_glob,
           normalize(e.audience) AS audience, judgment.is_audience(e.audience) AS has_audience
      FROM judgment.consent_events e WHERE e.user_id = whose),
  read AS (
    SELECT t.position, t.effect, t.expires, t.level, t.key_glob, t.audience
      FROM told t
     WHERE t.effect IN ('allow', 'deny', 'revoke', 'lift')
       AND t.level IS NOT NULL AND t.has_glob AND t.has_audience
       AND NOT (t.effect = 'allow' AND t.audience = '*')
    UNION ALL
    SELECT t.position,
           CASE WHEN t.effect = 'deny' THEN 'deny' ELSE 'revoke' END,
           NULL, 0,
           CASE WHEN t.effect IN ('deny', 'revoke') AND t.has_glob THEN t.key_glob ELSE '*' END,
           CASE WHEN t.effect IN ('deny', 'revoke') AND t.has_audience THEN t.audience ELSE '*' END
      FROM told t
     WHERE t.effect NOT IN ('allow', 'lift')
       AND (t.effect NOT IN ('deny', 'revoke')
            OR t.level IS NULL OR NOT t.has_glob OR NOT t.has_audience)),
  opens AS (
    SELECT r.position, r.key_glob FROM read r, asked
     WHERE r.effect = 'allow' AND r.audience = open_keys.audience AND r.level >= asked.level
       AND (r.expires IS NULL OR r.expires > at)),
  closes AS (
    SELECT r.position, r.effect, r.key_glob FROM read r, asked
     WHERE r.effect IN ('deny', 'revoke') AND r.audience IN (open_keys.audience, '*')
       AND r.level <= asked.level AND (r.expires IS NULL OR r.effect = 'revoke' OR r.expires > at)
       AND NOT (r.effect = 'deny' AND EXISTS (
             SELECT 1 FROM read l WHERE l.effect = 'lift' AND l.position > r.position
                AND l.key_glob = r.key_glob AND l.audience = r.audience)))
  SELECT coalesce(array_agg(k.key), '{}') FROM unnest(keys) AS k (key)
   WHERE EXISTS (
           SELECT 1 FROM opens o WHERE judgment.glob_covers(o.key_glob, k.key)
              AND NOT EXISTS (SELECT 1 FROM closes c
                               WHERE c.effect = 'revoke' AND c.position > o.position
                                 AND judgment.glob_covers(c.key_glob, k.key)))
     AND NOT EXISTS (SELECT 1 FROM closes c
                      WHERE c.effect = 'deny' AND judgment.glob_covers(c.key_glob, k.key))
$$;

-- The only writer of the ledger. Its caller holds the owner's row of preference_state; the entry is
-- the canonical JSON of judgment/preferences/ledger.py, and the hash is taken over what is stored.
CREATE OR REPLACE FUNCTION judgment.write_preference_ledger(
  whose uuid, kind text, at timestamptz, audience text, purpose text, platform text, keys text[],
  hand text, correlation text)
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  last judgment.preference_state;
  entry text;
  hash text;
BEGIN
  SELECT s.* INTO STRICT last FROM judgment.preference_state s WHERE s.user_id = whose FOR UPDATE;
  entry := '{"at":' || to_json(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
    || ',"audience":' || to_json(audience)
    || ',"by":' || to_json(hand)
    || ',"correlation":' || to_json(correlation)
    || ',"keys":' || array_to_json(ARRAY(SELECT DISTINCT k COLLATE "C" FROM unnest(keys) k
                                          ORDER BY k COLLATE "C"))
    || ',"kind":' || to_json(kind)
    || ',"platform":' || coalesce(to_json(platform)::text, 'null')
    || ',"position":' || (last.ledger_position + 1)
    || ',"purpose":' || to_json(purpose) || '}';
  hash := encode(sha256(convert_to(last.ledger_hash || entry, 'UTF8')), 'hex');
  INSERT INTO judgment.preference_ledger (user_id, position, entry, previous, hash)
  VALUES (whose, last.ledger_position + 1, entry, last.ledger_hash, hash);
  UPDATE judgment.preference_state s
     SET ledger_position = last.ledger_position + 1, ledger_hash = hash
   WHERE s.user_id = whose;
END
$$;

-- Locks the owner's row, made where there is none; false for somebody nobody knows.
CREATE OR REPLACE FUNCTION judgment.hold_preferences(whose uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM 1 FROM judgment.preference_state s WHERE s.user_id = whose FOR UPDATE;
  IF FOUND THEN
    RETURN true;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM judgment.owners o WHERE o.user_id = whose) THEN
    RETURN false;
  END IF;
  INSERT INTO judgment.preference_state (user_id) VALUES (whose) ON CONFLICT DO NOTHING;
  PERFORM 1 FROM judgment.preference_state s WHERE s.user_id = whose FOR UPDATE;
  RETURN FOUND;
END
$$;

-- An entry of a document with what it says and without what it rests on: neither sources nor counts,
-- scope, spelling or flags. Strength, half-life and time stay, because the weight follows from them.
CREATE OR REPLACE FUNCTION judgment.without_provenance(entry json) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN '{"value":' || (entry -> 'value')::text || ',"weight":' || (entry -> 'weight')::text
    || ',"confidence":' || (entry -> 'confidence')::text || ',"kind":' || (entry -> 'kind')::text
    || ',"strength":' || (entry -> 'strength')::text
    || ',"half_life_days":' || (entry -> 'half_life_days')::text
    || ',"observed_at":' || (entry -> 'observed_at')::text
    || ',"scope":"global","n_signals":1,"sources":[]'
    || coalesce(',"counted_from":' || (entry -> 'counted_from')::text, '')
    || coalesce(',"beneath":' || judgment.without_provenance(entry -> 'beneath')::text, '') || '}';
END
$$;

-- The logarithm of |weight| times confidence at a moment: only the order is needed, and a logarithm
-- neither overflows nor underflows.
CREATE OR REPLACE FUNCTION judgment.importance_of(entry json, at timestamptz) RETURNS float8
LANGUAGE sql STABLE
RETURN ln(nullif(abs((entry ->> 'strength')::float8), 0))
     + ln(nullif((entry ->> 'confidence')::float8, 0))
     - ln(2::float8) * coalesce(
         greatest(extract(epoch FROM at
           - coalesce(entry ->> 'counted_from', entry ->> 'observed_at')::timestamptz)::float8, 0)
         / 86400 / greatest((entry ->> 'half_life_days')::float8, 1e-9), 0);

-- The one way to a document (rulings 16 and 18): who asks is taken from the transaction, consent is
-- checked and the ledger written before anything is returned. The owner as `self` sees all of it;
-- any other audience sees open keys only, without what they rest on. `keys` null: all, or those
-- `below` a key; `most` of them after `after`, by key, or the `heaviest` first.
CREATE OR REPLACE FUNCTION judgment.disclose_preferences(
  whose uuid, audience text, purpose text, platform text, keys text[], below text, after text,
  most integer, heaviest boolean, hand text, correlation text)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
#variable_conflict use_column
DECLARE
  me constant uuid := judgment.current_owner();
  is_self constant boolean := whose = me AND disclose_preferences.audience = 'self';
  is_own constant boolean := whose = me;
  at timestamptz;
  held judgment.preference_state;
  found json;
  opened text[];
  refused text[];
  shown text[];
  entries json;
  total bigint;
  ahead bigint;
BEGIN
  IF me IS NULL OR whose IS NULL OR disclose_preferences.audience IS NULL
     OR purpose IS NULL OR purpose NOT IN ('read', 'solve')
     OR NOT (is_own OR disclose_preferences.audience = 'user:' || me) THEN
    RAISE insufficient_privilege USING MESSAGE = 'Not for this audience.';
  END IF;
  IF NOT judgment.hold_preferences(whose) THEN
    RETURN json_build_object('allowed', false, 'at', clock_timestamp());
  END IF;
  at := clock_timestamp();
  IF NOT (is_own OR judgment.agent_access_of(whose)) THEN
    PERFORM judgment.write_preference_ledger(
      whose, 'denial', at, disclose_preferences.audience, purpose, disclose_preferences.platform,
      coalesce(keys, array_remove(ARRAY[below], NULL)), hand, correlation);
    RETURN json_build_object('allowed', false, 'at', at);
  END IF;
  SELECT s.* INTO held FROM judgment.preference_state s WHERE s.user_id = whose;
  SELECT d.document INTO found FROM judgment.preference_documents d
   WHERE d.user_id = whose AND d.platform IN ('', coalesce(disclose_preferences.platform, ''))
   ORDER BY d.platform DESC LIMIT 1;
  IF NOT is_self THEN
    opened := judgment.open_keys(
      whose, disclose_preferences.audience, purpose,
      coalesce(keys, ARRAY(SELECT k FROM json_object_keys(found -> 'keys') k
                            WHERE below IS NULL OR k = below OR starts_with(k, below || '.'))), at);
    refused := ARRAY(SELECT k FROM unnest(keys) k WHERE k <> ALL (opened));
    IF opened = '{}' OR refused <> '{}' THEN
      PERFORM judgment.write_preference_ledger(
        whose, 'denial', at, disclose_preferences.audience, purpose, disclose_preferences.platform,
        CASE WHEN keys IS NULL THEN array_remove(ARRAY[below], NULL) ELSE refused END,
        hand, correlation);
    END IF;
    IF opened = '{}' THEN
      RETURN json_build_object('allowed', false, 'at', at);
    END IF;
  END IF;
  WITH entry AS MATERIALIZED (
    SELECT e.key, e.value AS body FROM json_each(found -> 'keys') e
     WHERE (keys IS NULL OR e.key = ANY (keys))
       AND (below IS NULL OR e.key = below OR starts_with(e.key, below || '.'))
       AND (is_self OR e.key = ANY (opened))
       -- What rests on a signal deleted since is gone at once, not when the next document comes.
       AND (held.deleted_revision <= held.compiled_revision
            OR NOT EXISTS (
              SELECT 1 FROM unnest(ARRAY[e.value -> 'sources' ->> 0,
                                         e.value -> 'beneath' -> 'sources' ->> 0]) AS rests (id)
               WHERE rests.id IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM judgment.preference_signals g
                                  WHERE g.user_id = whose AND g.id::text = rests.id)))),
  page AS (
    SELECT e.key, CASE WHEN is_self THEN e.body ELSE judgment.without_provenance(e.body) END AS body
      FROM entry e
     WHERE after IS NULL OR e.key COLLATE "C" > after
     ORDER BY CASE WHEN heaviest THEN judgment.importance_of(e.body, at) END DESC NULLS LAST,
              e.key COLLATE "C"
     LIMIT most)
  SELECT (SELECT count(*) FROM entry),
         (SELECT count(*) FROM entry e WHERE after IS NULL OR e.key COLLATE "C" > after),
         coalesce(array_agg(p.key), '{}'), coalesce(json_object_agg(p.key, p.body), '{}')
    INTO total, ahead, shown, entries FROM page p;
  PERFORM judgment.write_preference_ledger(
    whose, 'disclosure', at, disclose_preferences.audience, purpose, disclose_preferences.platform,
    shown, hand, correlation);
  RETURN json_build_object(
    'allowed', true, 'at', at, 'total', total, 'ahead', ahead - cardinality(shown),
    'pending', CASE WHEN is_own THEN held.revision - held.compiled_revision ELSE 0 END,
    'quarantined', CASE WHEN is_own THEN found -> 'quarantined' END,
    'compiled_at', found -> 'compiled_at', 'platform', found -> 'platform', 'v', found -> 'v',
    'keys', entries);
END
$$;

-- The one way to an owner's stream, for the owner and the owner's agents alone: of one key or of all,
-- oldest first after a position, or the newest.
CREATE OR REPLACE FUNCTION judgment.disclose_signals(
  key text, after bigint, most integer, newest boolean, hand text, correlation text)
RETURNS json LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' AS $$
#variable_conflict use_column
DECLARE
  me constant uuid := judgment.current_owner();
  at timestamptz;
  shown text[];
  signals json;
  total bigint;
BEGIN
  IF me IS NULL OR NOT judgment.hold_preferences(me) THEN
    RETURN json_build_object('allowed', false, 'at', clock_timestamp());
  END IF;
  at := clock_timestamp();
  SELECT count(*) INTO total FROM judgment.preference_signals g
   WHERE g.user_id = me AND newest AND g.key = disclose_signals.key;
  WITH page AS (
    SELECT g.key, g.position, json_build_object(
             'id', g.id, 'position', g.position, 'recorded_at', g.recorded_at,
             'statement', g.statement) AS signal
      FROM judgment.preference_signals g
     WHERE g.user_id = me AND (disclose_signals.key IS NULL OR g.key = disclose_signals.key)
       AND g.position > after
     ORDER BY CASE WHEN newest THEN -g.position ELSE g.position END
     LIMIT most)
  SELECT coalesce(array_agg(DISTINCT p.key), '{}'),
         coalesce(json_agg(p.signal ORDER BY p.position), '[]')
    INTO shown, signals FROM page p;
  PERFORM judgment.write_preference_ledger(
    me, 'disclosure', at, 'self', 'read', NULL, shown, hand, correlation);
  RETURN json_build_object('allowed', true, 'at', at, 'total', total, 'signals', signals);
END
$$;

-- Which signal of the current owner holds for a key and scope: an id, for a correction to name.
CREATE OR REPLACE FUNCTION judgment.standing_signal(key text, scope text) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
  SELECT g.id FROM judgment.preference_signals g
   WHERE g.user_id = judgment.current_owner()
     AND g.key = standing_signal.key AND g.scope = standing_signal.scope
     AND NOT EXISTS (SELECT 1 FROM judgment.preference_signals l
                      WHERE l.user_id = g.user_id AND l.key = g.key AND l.id <> g.id
                        AND l.supersedes = g.id::text AND l.scope IN ('global', g.scope))
   ORDER BY g.instant DESC, g.sequence DESC, g.position DESC LIMIT 1
$$;

COMMENT ON FUNCTION judgment.agent_access_of(uuid) IS
  'Whether agents may reach that owner now: any switch that is off wins.';
COMMENT ON FUNCTION judgment.is_key_glob(text) IS 'Whether a stored glob can be read.';
COMMENT ON FUNCTION judgment.is_audience(text) IS 'Whether a stored audience can be read.';
COMMENT ON FUNCTION judgment.segments_cover(text[], text[]) IS
  'Whether a glob covers a key, segment by segment.';
COMMENT ON FUNCTION judgment.glob_covers(text, text) IS 'Whether a glob covers a key.';
COMMENT ON FUNCTION judgment.open_keys(uuid, text, text, text[], timestamptz) IS
  'Those of the keys that the owner has opened to the audience for the purpose.';
COMMENT ON FUNCTION judgment.write_preference_ledger(
  uuid, text, timestamptz, text, text, text, text[], text, text) IS
  'Chain an entry to the owner''s ledger.';
COMMENT ON FUNCTION judgment.hold_preferences(uuid) IS
  'Lock the owner''s row of preference_state; false for somebody nobody knows.';
COMMENT ON FUNCTION judgment.without_provenance(json) IS 'An entry without what it rests on.';
COMMENT ON FUNCTION judgment.importance_of(json, timestamptz) IS
  'What entries are ordered by, the most important highest; null for none.';
COMMENT ON FUNCTION judgment.disclose_preferences(
  uuid, text, text, text, text[], text, text, integer, boolean, text, text) IS
  'A page of an owner''s document, as the audience may see it, written down first.';
COMMENT ON FUNCTION judgment.disclose_signals(text, bigint, integer, boolean, text, text) IS
  'Signals of the current owner, written down first.';
COMMENT ON FUNCTION judgment.standing_signal(text, text) IS
  'The id of the current owner''s signal that holds for a key and scope.';

REVOKE ALL ON FUNCTION judgment.agent_access_of(uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.is_key_glob(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.is_audience(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.segments_cover(text[], text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.glob_covers(text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.open_keys(uuid, text, text, text[], timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.write_preference_ledger(
  uuid, text, timestamptz, text, text, text, text[], text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.hold_preferences(uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.without_provenance(json) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.importance_of(json, timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.disclose_preferences(
  uuid, text, text, text, text[], text, text, integer, boolean, text, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.disclose_signals(text, bigint, integer, boolean, text, text)
  FROM PUBLIC;
REVOKE ALL ON FUNCTION judgment.standing_signal(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judgment.agent_access_enabled() TO judgment_preferences;
GRANT EXECUTE ON FUNCTION judgment.disclose_preferences(
  uuid, text, text, text, text[], text, text, integer, boolean, text, text)
  TO judgment_preferences;
GRANT EXECUTE ON FUNCTION judgment.disclose_signals(text, bigint, integer, boolean, text, text)
  TO judgment_preferences;
GRANT EXECUTE ON FUNCTION judgment.standing_signal(text, text) TO judgment_preferences;

RESET ROLE;
REVOKE CREATE ON SCHEMA judgment FROM judgment_definer;
DO $$ BEGIN EXECUTE format('REVOKE judgment_definer FROM %I', current_user); END $$;

COMMENT ON TABLE judgment.preference_state IS
  'One row per owner: how far the stream, its documents, consent and the ledger have come.';
COMMENT ON COLUMN judgment.preference_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.preference_state.appended IS 'Position of the last signal.';
COMMENT ON COLUMN judgment.preference_state.revision IS 'Counts signals added and deleted.';
COMMENT ON COLUMN judgment.preference_state.deleted_revision IS 'The revision of the last deletion.';
COMMENT ON COLUMN judgment.preference_state.compiled_revision IS
  'The revision that the documents have everything of.';
COMMENT ON COLUMN judgment.preference_state.consented IS 'Position of the last step of consent.';
COMMENT ON COLUMN judgment.preference_state.ledger_position IS 'Position of the ledger''s last entry.';
COMMENT ON COLUMN judgment.preference_state.ledger_hash IS 'Hash of the ledger''s last entry.';
COMMENT ON TABLE judgment.preference_signals IS
  'What was said that an owner wants: appended, never changed, deleted by the owner alone.';
COMMENT ON COLUMN judgment.preference_signals.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.preference_signals.id IS
  'The client''s id, or the name of the statement; sent again, it is the same signal.';
COMMENT ON COLUMN judgment.preference_signals.position IS
  'Place in the stream, without gaps as it grows; a deletion leaves one.';
COMMENT ON COLUMN judgment.preference_signals.key IS 'What it is about, in NFC.';
COMMENT ON COLUMN judgment.preference_signals.scope IS 'global, or platform: and its name.';
COMMENT ON COLUMN judgment.preference_signals.instant IS
  'When it was said, but no later than when it was recorded.';
COMMENT ON COLUMN judgment.preference_signals.sequence IS 'Its place in the session it was said in.';
COMMENT ON COLUMN judgment.preference_signals.supersedes IS 'The signal that it takes back, or null.';
COMMENT ON COLUMN judgment.preference_signals.sent_sha256 IS
  'Digest of what the client sent; another content under the same id is a conflict.';
COMMENT ON COLUMN judgment.preference_signals.statement IS
  'The whole statement, as text that keeps every number as it was written.';
COMMENT ON COLUMN judgment.preference_signals.recorded_at IS 'When we took it.';
COMMENT ON COLUMN judgment.preference_signals.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.preference_documents IS
  'What an owner''s signals come to: derived from them, and made anew from them at any time.';
COMMENT ON COLUMN judgment.preference_documents.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.preference_documents.platform IS
  'For which platform; empty for all that have none of their own.';
COMMENT ON COLUMN judgment.preference_documents.digest IS
  'Digest of all but what the clock changes; an equal one is not written again.';
COMMENT ON COLUMN judgment.preference_documents.document IS 'The compiled document.';
COMMENT ON COLUMN judgment.preference_documents.updated_at IS 'When it last changed.';
COMMENT ON TABLE judgment.consent_events IS
  'The history of consent: allow, deny, revoke, lift. Never changed; gone with the account alone.';
COMMENT ON COLUMN judgment.consent_events.user_id IS 'Whose keys.';
COMMENT ON COLUMN judgment.consent_events.position IS 'Place in the history, from 1.';
COMMENT ON COLUMN judgment.consent_events.id IS 'The step.';
COMMENT ON COLUMN judgment.consent_events.effect IS 'allow, deny, revoke or lift.';
COMMENT ON COLUMN judgment.consent_events.key_glob IS 'Which keys.';
COMMENT ON COLUMN judgment.consent_events.audience IS 'Whom: user: and an id, a name, or * for all.';
COMMENT ON COLUMN judgment.consent_events.level IS 'read, or solve, which allows more.';
COMMENT ON COLUMN judgment.consent_events.expires IS 'When an allow or deny ends; null for never.';
COMMENT ON COLUMN judgment.consent_events.made_at IS 'When it was made.';
COMMENT ON COLUMN judgment.consent_events.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.preference_ledger IS
  'Every disclosure and denial, chained by hashes; written before anything is shown.';
COMMENT ON COLUMN judgment.preference_ledger.user_id IS 'Whose preferences.';
COMMENT ON COLUMN judgment.preference_ledger.position IS 'Place in the chain, from 1, without gaps.';
COMMENT ON COLUMN judgment.preference_ledger.entry IS
  'Canonical JSON: when, what kind, audience, purpose, platform, keys, by whom, which request.';
COMMENT ON COLUMN judgment.preference_ledger.previous IS 'Hash of the entry before; empty for none.';
COMMENT ON COLUMN judgment.preference_ledger.hash IS
  'SHA-256 of the previous hash followed by the entry.';
COMMENT ON COLUMN judgment.preference_ledger.created_at IS 'When the row came to be.';

COMMIT;
