-- Nothing is lost and nothing happens twice: events committed with their change, a note of what a
-- consumer has done, and answers kept for a client that asks again.
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.outbox (
  id uuid PRIMARY KEY,
  type text NOT NULL,
  version integer NOT NULL,
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  subject_id uuid NOT NULL,
  correlation_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  sent_at timestamptz NULL
);
CREATE INDEX IF NOT EXISTS outbox_unsent_idx
  ON judgment.outbox (created_at, id) WHERE sent_at IS NULL;
CREATE INDEX IF NOT EXISTS outbox_sent_at_idx
  ON judgment.outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS outbox_user_id_idx ON judgment.outbox (user_id);

CREATE TABLE IF NOT EXISTS judgment.processed (
  consumer text NOT NULL,
  message_id uuid NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, message_id)
);
CREATE INDEX IF NOT EXISTS processed_at_idx ON judgment.processed (processed_at);

CREATE TABLE IF NOT EXISTS judgment.idempotency_keys (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  key text NOT NULL CHECK (key <> '' AND octet_length(key) <= 255),
  route text NOT NULL,
  body_sha256 text NOT NULL,
  status integer NOT NULL,
  response jsonb NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, route, key)
);
CREATE INDEX IF NOT EXISTS idempotency_keys_created_at_idx
  ON judgment.idempotency_keys (created_at);

ALTER TABLE judgment.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.outbox FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.processed ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.processed FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.idempotency_keys FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE (attempts, sent_at), DELETE ON judgment.outbox TO judgment_owner;
DROP POLICY IF EXISTS outbox_own ON judgment.outbox;
CREATE POLICY outbox_own ON judgment.outbox TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
GRANT SELECT, INSERT, UPDATE (attempts, sent_at), DELETE ON judgment.outbox TO judgment_worker;
DROP POLICY IF EXISTS outbox_swept_by_worker ON judgment.outbox;
CREATE POLICY outbox_swept_by_worker ON judgment.outbox TO judgment_worker
  USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON judgment.processed TO judgment_worker;
DROP POLICY IF EXISTS processed_by_worker ON judgment.processed;
CREATE POLICY processed_by_worker ON judgment.processed TO judgment_worker
  USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, DELETE ON judgment.idempotency_keys TO judgment_owner;
GRANT UPDATE (status, response) ON judgment.idempotency_keys TO judgment_owner;
DROP POLICY IF EXISTS idempotency_keys_own ON judgment.idempotency_keys;
CREATE POLICY idempotency_keys_own ON judgment.idempotency_keys TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
GRANT SELECT (created_at), DELETE ON judgment.idempotency_keys TO judgment_worker;
DROP POLICY IF EXISTS idempotency_keys_retired_by_worker ON judgment.idempotency_keys;
CREATE POLICY idempotency_keys_retired_by_worker ON judgment.idempotency_keys TO judgment_worker
  USING (true) WITH CHECK (true);

COMMENT ON TABLE judgment.outbox IS
  'Events, committed with the change they tell of and sent after it; ids only.';
COMMENT ON COLUMN judgment.outbox.id IS 'The event''s id, by which consumers know it again.';
COMMENT ON COLUMN judgment.outbox.type IS 'What happened, from contract.jobs.';
COMMENT ON COLUMN judgment.outbox.version IS 'Version of that type.';
COMMENT ON COLUMN judgment.outbox.user_id IS 'Whose it is.';
COMMENT ON COLUMN judgment.outbox.subject_id IS 'What it happened to.';
COMMENT ON COLUMN judgment.outbox.correlation_id IS 'The request that caused it.';
COMMENT ON COLUMN judgment.outbox.created_at IS 'When it happened.';
COMMENT ON COLUMN judgment.outbox.attempts IS 'How often sending was tried.';
COMMENT ON COLUMN judgment.outbox.sent_at IS 'When the bus took it; null until then.';
COMMENT ON TABLE judgment.processed IS
  'Messages whose effect is in; written in the effect''s own transaction.';
COMMENT ON COLUMN judgment.processed.consumer IS 'Who processed it.';
COMMENT ON COLUMN judgment.processed.message_id IS 'The event''s id.';
COMMENT ON COLUMN judgment.processed.processed_at IS 'When.';
COMMENT ON TABLE judgment.idempotency_keys IS
  'Answers to requests that carried an Idempotency-Key, for when they come again.';
COMMENT ON COLUMN judgment.idempotency_keys.user_id IS 'Who asked.';
COMMENT ON COLUMN judgment.idempotency_keys.key IS 'The client''s key.';
COMMENT ON COLUMN judgment.idempotency_keys.route IS 'Method and path template.';
COMMENT ON COLUMN judgment.idempotency_keys.body_sha256 IS
  'Digest of the body; another body with the same key is a conflict.';
COMMENT ON COLUMN judgment.idempotency_keys.status IS 'HTTP status of the answer; 0 in between.';
COMMENT ON COLUMN judgment.idempotency_keys.response IS 'Body of the answer, without secrets.';
COMMENT ON COLUMN judgment.idempotency_keys.created_at IS 'When it was first asked.';

COMMIT;
