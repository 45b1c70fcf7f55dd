-- Personal context: when it was written, one cap for every writer, and what its copies keep when it
-- is emptied (rulings 4, 33).
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.personal_context_state (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  updated_at timestamptz NOT NULL
);
ALTER TABLE judgment.personal_context_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.personal_context_state FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE (updated_at), DELETE ON judgment.personal_context_state
   TO judgment_owner;
DROP POLICY IF EXISTS personal_context_state_own ON judgment.personal_context_state;
CREATE POLICY personal_context_state_own ON judgment.personal_context_state TO judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());

-- Our column (076), also where a Sync app writes it. NOT VALID leaves what is there alone.
ALTER TABLE public.profiles DROP CONSTRAINT IF EXISTS judgment_personal_context_bytes;
ALTER TABLE public.profiles ADD CONSTRAINT judgment_personal_context_bytes
  CHECK (octet_length(personal_context) <= 65536) NOT VALID;

ALTER TABLE public.evaluation_snapshots
  ADD COLUMN IF NOT EXISTS personal_context_sha256 text NULL;

COMMENT ON TABLE judgment.personal_context_state IS 'When an owner last wrote personal context.';
COMMENT ON COLUMN judgment.personal_context_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.personal_context_state.updated_at IS 'The last time it was written.';
COMMENT ON COLUMN public.evaluation_snapshots.personal_context_sha256 IS
  'Digest of the personal context then; it stays when the text is emptied.';

COMMIT;
