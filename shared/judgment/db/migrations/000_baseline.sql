-- The least of a Sync database that the later files build on (ruling 36).
--
-- Each object is made only where it is absent, and what is made here is written down in
-- judgment.baseline_objects: row policies are forced, people are added to auth.users, and rows are
-- erased only there. Against a database where a Sync app's 000-075 ran, this file makes nothing.
BEGIN;

CREATE TABLE IF NOT EXISTS judgment.baseline_objects (name text PRIMARY KEY);
COMMENT ON TABLE judgment.baseline_objects IS
  'Objects outside schema judgment that our baseline made; a Sync app''s own are not listed.';
COMMENT ON COLUMN judgment.baseline_objects.name IS 'Qualified name, such as public.profiles.';

CREATE OR REPLACE FUNCTION pg_temp.lacks(wanted_schema text, wanted_name text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  -- The catalogue answers also where the schema itself may not be used.
  SELECT NOT EXISTS (
    SELECT 1 FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = wanted_schema AND c.relname = wanted_name)
$$;

DO $$
DECLARE
  wanted text;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['anon', 'authenticated', 'service_role'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database of this cluster is being migrated at the same moment
      END;
    END IF;
  END LOOP;
END
$$;

DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'auth') THEN
    CREATE SCHEMA auth;
    COMMENT ON SCHEMA auth IS 'People, as their identity provider knows them.';
    GRANT USAGE ON SCHEMA auth TO anon, authenticated, service_role;
    INSERT INTO judgment.baseline_objects VALUES ('auth');
  END IF;

  IF pg_temp.lacks('auth', 'users') THEN
    CREATE TABLE auth.users (
      id uuid PRIMARY KEY,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
    ALTER TABLE auth.users FORCE ROW LEVEL SECURITY;
    COMMENT ON TABLE auth.users IS 'One row per person; every row of owner data hangs on it.';
    COMMENT ON COLUMN auth.users.id IS 'The user id: the token''s uuid subject, or a uuid5 of it.';
    COMMENT ON COLUMN auth.users.created_at IS 'First authenticated call.';
    INSERT INTO judgment.baseline_objects VALUES ('auth.users');
  END IF;

  IF NOT EXISTS (
    SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'auth' AND p.proname = 'uid' AND p.pronargs = 0
  ) THEN
    CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE
    RETURN nullif(current_setting('request.jwt.claim.sub', true), '')::uuid;
    COMMENT ON FUNCTION auth.uid() IS 'Who the transaction acts for, or null.';
    INSERT INTO judgment.baseline_objects VALUES ('auth.uid');
  END IF;
END
$$;

DO $$
BEGIN
  IF pg_temp.lacks('public', 'profiles') THEN
    CREATE TABLE public.profiles (
      id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
      sync_score numeric NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE public.profiles ENABLE ROW LEVEL SECURITY;
    ALTER TABLE public.profiles FORCE ROW LEVEL SECURITY;
    CREATE POLICY profiles_own ON public.profiles FOR SELECT TO authenticated
      USING (id = auth.uid());
    COMMENT ON TABLE public.profiles IS 'What is known of a person besides their judgment.';
    COMMENT ON COLUMN public.profiles.id IS 'The user id.';
    COMMENT ON COLUMN public.profiles.sync_score IS 'How well the profile predicts them, 0-100.';
    COMMENT ON COLUMN public.profiles.created_at IS 'When the person was first seen.';
    COMMENT ON COLUMN public.profiles.updated_at IS 'When this row last changed.';
    INSERT INTO judgment.baseline_objects VALUES ('public.profiles');
  END IF;

  IF pg_temp.lacks('public', 'player_decision_profiles') THEN
    CREATE TABLE public.player_decision_profiles (
      user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
      games_analyzed integer NOT NULL DEFAULT 0,
      reasoning_style_distribution jsonb,
      attention_distribution jsonb,
      confidence_calibration jsonb,
      timing_signature jsonb,
      persuadability jsonb,
      peer_reading jsonb,
      dissent_profile jsonb,
      authenticity jsonb,
      learning_rate jsonb,
      occasion_noise jsonb,
      self_awareness jsonb,
      name_bias_signal jsonb,
      category_patterns jsonb,
      context_rules jsonb,
      option_preferences jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE public.player_decision_profiles ENABLE ROW LEVEL SECURITY;
    ALTER TABLE public.player_decision_profiles FORCE ROW LEVEL SECURITY;
    CREATE POLICY player_decision_profiles_own ON public.player_decision_profiles
      FOR SELECT TO authenticated USING (user_id = auth.uid());
    COMMENT ON TABLE public.player_decision_profiles IS
      'The judgment profile: twelve signals and what was learnt per category, rule and option.';
    COMMENT ON COLUMN public.player_decision_profiles.user_id IS 'Whose judgment.';
    COMMENT ON COLUMN public.player_decision_profiles.games_analyzed IS
      'Decisions that went into the profile.';
    COMMENT ON COLUMN public.player_decision_profiles.reasoning_style_distribution IS
      'Signal: how the person reasons.';
    COMMENT ON COLUMN public.player_decision_profiles.attention_distribution IS
      'Signal: what the person looks at.';
    COMMENT ON COLUMN public.player_decision_profiles.confidence_calibration IS
      'Signal: stated confidence against outcome.';
    COMMENT ON COLUMN public.player_decision_profiles.timing_signature IS
      'Signal: how long decisions take.';
    COMMENT ON COLUMN public.player_decision_profiles.persuadability IS
      'Signal: first answers that changed after discussion.';
    COMMENT ON COLUMN public.player_decision_profiles.peer_reading IS
      'Signal: how well others'' choices are predicted.';
    COMMENT ON COLUMN public.player_decision_profiles.dissent_profile IS
      'Signal: when the person departs from the group.';
    COMMENT ON COLUMN public.player_decision_profiles.authenticity IS
      'Signal: said against done.';
    COMMENT ON COLUMN public.player_decision_profiles.learning_rate IS
      'Signal: how fast choices settle.';
    COMMENT ON COLUMN public.player_decision_profiles.occasion_noise IS
      'Signal: the same question answered differently.';
    COMMENT ON COLUMN public.player_decision_profiles.self_awareness IS
      'Signal: own view against the record.';
    COMMENT ON COLUMN public.player_decision_profiles.name_bias_signal IS
      'Signal: choices that follow characters'' names.';
    COMMENT ON COLUMN public.player_decision_profiles.category_patterns IS
      'What drives decisions in each category.';
    COMMENT ON COLUMN public.player_decision_profiles.context_rules IS
      'Circumstances that shift behaviour.';
    COMMENT ON COLUMN public.player_decision_profiles.option_preferences IS
      'What kinds of option are preferred.';
    COMMENT ON COLUMN public.player_decision_profiles.created_at IS 'First decision analysed.';
    COMMENT ON COLUMN public.player_decision_profiles.updated_at IS 'Last decision analysed.';
    INSERT INTO judgment.baseline_objects VALUES ('public.player_decision_profiles');
  END IF;
END
$$;

DO $$
BEGIN
  IF pg_temp.lacks('public', 'scenarios') THEN
    CREATE TABLE public.scenarios (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      theme text NOT NULL CONSTRAINT scenarios_theme_check CHECK (
        theme IN ('boardroom', 'frontier', 'rebuild', 'court', 'underground', 'custom')),
      category text NOT NULL CONSTRAINT scenarios_category_check CHECK (
        category IN ('governance', 'values-culture', 'resource-allocation', 'team-dynamics')),
      created_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE public.scenarios ENABLE ROW LEVEL SECURITY;
    ALTER TABLE public.scenarios FORCE ROW LEVEL SECURITY;
    COMMENT ON TABLE public.scenarios IS
      'Trade-offs to decide; their text is in judgment.scenario_contents.';
    COMMENT ON COLUMN public.scenarios.id IS 'The scenario.';
    COMMENT ON COLUMN public.scenarios.theme IS 'Surface flavour: where it plays.';
    COMMENT ON COLUMN public.scenarios.category IS 'Decision domain.';
    COMMENT ON COLUMN public.scenarios.created_at IS 'When it was added.';
    INSERT INTO judgment.baseline_objects VALUES ('public.scenarios');
  END IF;

  IF pg_temp.lacks('public', 'choices') THEN
    CREATE TABLE public.choices (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
      created_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX choices_user_id_idx ON public.choices (user_id, created_at DESC);
    ALTER TABLE public.choices ENABLE ROW LEVEL SECURITY;
    ALTER TABLE public.choices FORCE ROW LEVEL SECURITY;
    CREATE POLICY choices_own ON public.choices FOR SELECT TO authenticated
      USING (user_id = auth.uid());
    COMMENT ON TABLE public.choices IS
      'One row per decision made; what was decided is in judgment.decisions.';
    COMMENT ON COLUMN public.choices.id IS 'The decision id.';
    COMMENT ON COLUMN public.choices.user_id IS 'Who decided.';
    COMMENT ON COLUMN public.choices.created_at IS 'When the row was stored.';
    INSERT INTO judgment.baseline_objects VALUES ('public.choices');
  END IF;

  IF pg_temp.lacks('public', 'scenario_character_names') THEN
    CREATE TABLE public.scenario_character_names (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL
    );
    COMMENT ON TABLE public.scenario_character_names IS 'Names that scenarios draw from.';
    COMMENT ON COLUMN public.scenario_character_names.id IS 'The name''s id.';
    COMMENT ON COLUMN public.scenario_character_names.name IS 'The name.';
    INSERT INTO judgment.baseline_objects VALUES ('public.scenario_character_names');
  END IF;
END
$$;

COMMIT;
