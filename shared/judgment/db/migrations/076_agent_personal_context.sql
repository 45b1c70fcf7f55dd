-- The owner's text about their world (seed 000 §7, §11), and the prompt that asks for it once.
BEGIN;

ALTER TABLE public.profiles ADD COLUMN IF NOT EXISTS personal_context text NOT NULL DEFAULT '';
ALTER TABLE public.profiles
  ADD COLUMN IF NOT EXISTS onboarding_lightbox_dismissed_at timestamptz NULL;

COMMENT ON COLUMN public.profiles.personal_context IS
  'Text the owner wrote or pasted about their life and work; emptying it deletes it.';
COMMENT ON COLUMN public.profiles.onboarding_lightbox_dismissed_at IS
  'When the prompt for personal context was dismissed; null while it may still be shown once.';

COMMIT;
