-- An owner's row may hang only on a row that is theirs. A foreign key is checked past the row
-- policies, so that without these an owner could put contents of their own on a scenario made for
-- somebody else that has none yet, and then erase it with them; or take the id of another's choice.
BEGIN;

DROP POLICY IF EXISTS scenario_contents_only_on_own ON judgment.scenario_contents;
CREATE POLICY scenario_contents_only_on_own ON judgment.scenario_contents AS RESTRICTIVE FOR INSERT
  TO judgment_owner
  WITH CHECK (EXISTS (SELECT 1 FROM public.scenarios s
                       WHERE s.id = scenario_contents.scenario_id
                         AND s.personalized_for_user_id = judgment.current_owner()));

DROP POLICY IF EXISTS decisions_only_on_own ON judgment.decisions;
CREATE POLICY decisions_only_on_own ON judgment.decisions AS RESTRICTIVE FOR INSERT
  TO judgment_owner
  WITH CHECK (EXISTS (SELECT 1 FROM public.choices c
                       WHERE c.id = decisions.id AND c.user_id = judgment.current_owner())
              AND (retest_of IS NULL
                   OR EXISTS (SELECT 1 FROM judgment.decisions d
                               WHERE d.id = decisions.retest_of
                                 AND d.user_id = judgment.current_owner())));

COMMIT;
