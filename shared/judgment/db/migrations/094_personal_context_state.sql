-- Personal context: when it was written, one cap for every writer, what its copies keep when it is
-- emptied, and who never sees what was made from it (rulings 4, 33; seed 000 §8).
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
GRANT UPDATE (personal_context_sha256) ON public.evaluation_snapshots TO judgment_owner;

-- A policy hides rows and not columns: where a Sync app shows profiles to everybody, it would show
-- the personal context with them. That policy is the app's to narrow; here it can only be said.
DO $$
DECLARE
  open_policy text;
BEGIN
  SELECT string_agg(quote_ident(p.policyname), ', ') INTO open_policy
    FROM pg_catalog.pg_policies p
   WHERE p.schemaname = 'public' AND p.tablename = 'profiles'
     AND p.permissive = 'PERMISSIVE' AND p.cmd IN ('SELECT', 'ALL')
     AND p.roles && ARRAY['public', 'anon', 'authenticated']::name[]
     AND p.qual NOT LIKE '%uid()%'
     AND (has_column_privilege('anon', 'public.profiles', 'personal_context', 'SELECT')
          OR has_column_privilege('authenticated', 'public.profiles', 'personal_context', 'SELECT'));
  IF open_policy IS NOT NULL THEN
    RAISE WARNING 'Policy % lets others read public.profiles.personal_context.', open_policy
      USING HINT = 'Narrow it to the owner''s own row, or to other columns, before owners write any.';
  END IF;
END
$$;

-- A Sync app may show its scenarios to everybody, and offer them to games of many. Rounds made for
-- one owner are ours (078) and are kept out of whatever its clients see; its other rows are not
-- touched by this.
DROP POLICY IF EXISTS judgment_made_for_one ON public.scenarios;
CREATE POLICY judgment_made_for_one ON public.scenarios AS RESTRICTIVE FOR SELECT
  TO anon, authenticated, judgment_migrate
  USING (personalized_for_user_id IS NULL OR personalized_for_user_id = auth.uid());

COMMENT ON TABLE judgment.personal_context_state IS 'When an owner last wrote personal context.';
COMMENT ON COLUMN judgment.personal_context_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.personal_context_state.updated_at IS 'The last time it was written.';
COMMENT ON COLUMN public.evaluation_snapshots.personal_context_sha256 IS
  'Digest of the personal context then; it stays when the text is emptied.';

COMMIT;
