-- A Sync database as our migrations may find it: Supabase's roles and defaults, people that belong
-- to another service, profiles that a trigger fills, more columns than the brief names, a policy
-- that opens profiles to everybody, and rows.
CREATE ROLE anon NOLOGIN;
CREATE ROLE authenticated NOLOGIN;
CREATE ROLE service_role NOLOGIN BYPASSRLS;
CREATE ROLE auth_admin NOLOGIN;
CREATE ROLE sync_owner LOGIN CREATEROLE;
GRANT anon, authenticated, service_role TO sync_owner WITH ADMIN OPTION;

CREATE SCHEMA auth AUTHORIZATION auth_admin;
GRANT USAGE ON SCHEMA auth TO anon, authenticated, service_role, sync_owner;
SET ROLE auth_admin;
CREATE TABLE auth.users (
  instance_id uuid,
  id uuid NOT NULL PRIMARY KEY,
  aud varchar(255),
  email varchar(255) UNIQUE,
  encrypted_password varchar(255),
  raw_user_meta_data jsonb,
  is_sso_user boolean NOT NULL DEFAULT false,
  created_at timestamptz DEFAULT now()
);
ALTER TABLE auth.users ENABLE ROW LEVEL SECURITY;
GRANT SELECT, REFERENCES, TRIGGER ON auth.users TO sync_owner;
CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'))::uuid
$$;
RESET ROLE;

GRANT CREATE, USAGE ON SCHEMA public TO sync_owner;
GRANT USAGE ON SCHEMA public TO anon, authenticated, service_role;
SET ROLE sync_owner;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  GRANT ALL ON TABLES TO anon, authenticated, service_role;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
  GRANT ALL ON FUNCTIONS TO anon, authenticated, service_role;

CREATE TABLE public.profiles (
  id uuid PRIMARY KEY REFERENCES auth.users ON DELETE CASCADE,
  username text UNIQUE NOT NULL,
  avatar_url text,
  sync_score integer NOT NULL DEFAULT 0,
  onboarding_completed boolean NOT NULL DEFAULT false,
  decay_enabled boolean NOT NULL DEFAULT true,
  updated_at timestamptz
);
COMMENT ON TABLE public.profiles IS 'Sync says: one per player.';
ALTER TABLE public.profiles ENABLE ROW LEVEL SECURITY;
CREATE POLICY "Public profiles are viewable by everyone." ON public.profiles
  FOR SELECT USING (true);
CREATE POLICY "Users can update own profile." ON public.profiles
  FOR UPDATE USING (auth.uid() = id);

CREATE TABLE public.player_decision_profiles (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL UNIQUE REFERENCES public.profiles (id) ON DELETE CASCADE,
  games_analyzed integer NOT NULL DEFAULT 0,
  reasoning_style_distribution jsonb NOT NULL DEFAULT '{}',
  attention_distribution jsonb NOT NULL DEFAULT '{}',
  confidence_calibration jsonb NOT NULL DEFAULT '{}',
  timing_signature jsonb NOT NULL DEFAULT '{}',
  persuadability jsonb NOT NULL DEFAULT '{}',
  peer_reading jsonb NOT NULL DEFAULT '{}',
  dissent_profile jsonb NOT NULL DEFAULT '{}',
  authenticity jsonb NOT NULL DEFAULT '{}',
  learning_rate jsonb NOT NULL DEFAULT '{}',
  occasion_noise jsonb NOT NULL DEFAULT '{}',
  self_awareness jsonb NOT NULL DEFAULT '{}',
  name_bias_signal jsonb NOT NULL DEFAULT '{}',
  category_patterns jsonb NOT NULL DEFAULT '{}',
  context_rules jsonb NOT NULL DEFAULT '[]',
  option_preferences jsonb NOT NULL DEFAULT '{}',
  legacy_vector numeric[],
  last_game_id uuid,
  updated_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE public.player_decision_profiles ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_profile ON public.player_decision_profiles
  FOR SELECT TO authenticated USING (user_id = auth.uid());

CREATE TABLE public.scenarios (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  title text NOT NULL DEFAULT '',
  description text NOT NULL DEFAULT '',
  options jsonb NOT NULL DEFAULT '[]',
  theme text NOT NULL,
  category text,
  is_published boolean NOT NULL DEFAULT true,
  CONSTRAINT valid_theme CHECK (
    theme = ANY (ARRAY['boardroom', 'frontier', 'rebuild', 'court', 'underground', 'custom']))
);
ALTER TABLE public.scenarios ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone_reads ON public.scenarios FOR SELECT USING (is_published);

CREATE TABLE public.choices (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  user_id uuid NOT NULL REFERENCES public.profiles (id) ON DELETE CASCADE,
  scenario_id uuid NOT NULL REFERENCES public.scenarios (id),
  option_id text NOT NULL,
  rationale text,
  made_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE public.choices ENABLE ROW LEVEL SECURITY;
CREATE POLICY players_see_choices ON public.choices FOR SELECT USING (true);

CREATE TABLE public.scenario_character_names (id serial PRIMARY KEY, name text NOT NULL);

CREATE FUNCTION public.handle_new_user() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  INSERT INTO public.profiles (id, username, sync_score)
  VALUES (new.id, coalesce(new.email, new.id::text), 17);
  RETURN new;
END
$$;
CREATE TRIGGER on_auth_user_created AFTER INSERT ON auth.users
  FOR EACH ROW EXECUTE FUNCTION public.handle_new_user();
RESET ROLE;

INSERT INTO auth.users (id, email) VALUES
  ('aaaaaaaa-0000-4000-8000-000000000001', 'first@example.test'),
  ('aaaaaaaa-0000-4000-8000-000000000002', 'second@example.test');
INSERT INTO public.player_decision_profiles
  (user_id, games_analyzed, self_awareness, legacy_vector, last_game_id)
SELECT id, 23, '{"score": 0.4, "v": 3}', '{1,NaN}', gen_random_uuid() FROM public.profiles;
INSERT INTO public.scenarios (id, title, theme, category) VALUES
  ('bbbbbbbb-0000-4000-8000-000000000001', 'A vote', 'boardroom', 'governance'),
  ('bbbbbbbb-0000-4000-8000-000000000002', 'A well', 'frontier', NULL);
INSERT INTO public.choices (user_id, scenario_id, option_id, rationale)
SELECT p.id, s.id, 'a', 'because' FROM public.profiles p, public.scenarios s;
INSERT INTO public.scenario_character_names (name) VALUES ('Ada'), ('Grace');
