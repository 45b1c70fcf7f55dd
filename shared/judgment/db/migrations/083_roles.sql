-- One database role per kind of door (ruling 18; the table of them is judgment/db/roles.py).
--
-- None is a superuser, none bypasses row policies, none is a member of another, and none has a
-- password here: on RDS they connect by token, locally the launcher sets one. judgment_definer
-- owns the few functions that must reach past their caller's rights; nobody can log in as it.
BEGIN;

DO $$
DECLARE
  wanted record;
  held record;
BEGIN
  FOR wanted IN
    SELECT * FROM (VALUES
      ('judgment_authorizer', true, '3s'),
      ('judgment_reader', true, '5s'),
      ('judgment_owner', true, '15s'),
      ('judgment_process', true, '15s'),
      ('judgment_worker', true, '30s'),
      ('judgment_evaluator', true, '30s'),
      ('judgment_migrate', true, '0'),
      ('judgment_definer', false, '15s')
    ) AS roles (name, may_log_in, statement_timeout)
  LOOP
    SELECT * INTO held FROM pg_catalog.pg_roles WHERE rolname = wanted.name;
    IF NOT FOUND THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I %s', wanted.name,
                       CASE WHEN wanted.may_log_in THEN 'LOGIN' ELSE 'NOLOGIN' END);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database of this cluster is being migrated at the same moment
      END;
    ELSIF held.rolsuper OR held.rolbypassrls THEN
      RAISE EXCEPTION 'Role % must be neither a superuser nor BYPASSRLS.', wanted.name
        USING HINT = format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS', wanted.name);
    END IF;
    -- Set on the role and not by a SET of the connection, which would pin it in a proxy.
    IF wanted.name NOT IN (session_user, 'judgment_migrate') THEN
      EXECUTE format('ALTER ROLE %I SET statement_timeout = %L', wanted.name,
                     wanted.statement_timeout);
      EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', wanted.name,
                     '30s');
      EXECUTE format('ALTER ROLE %I SET search_path = %L', wanted.name, '');
    END IF;
    IF wanted.may_log_in AND wanted.name <> session_user
       AND EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'rds_iam') THEN
      EXECUTE format('GRANT rds_iam TO %I', wanted.name);
    END IF;
  END LOOP;
END
$$;

GRANT USAGE ON SCHEMA judgment TO judgment_authorizer, judgment_reader, judgment_owner,
  judgment_process, judgment_worker, judgment_evaluator, judgment_definer;
GRANT USAGE ON SCHEMA public TO judgment_authorizer, judgment_reader, judgment_owner,
  judgment_process, judgment_worker, judgment_evaluator, judgment_definer;
GRANT SELECT ON judgment.baseline_objects TO judgment_owner, judgment_definer;

-- A function of our own and not auth.uid(), so that no right on a Sync app's schema is needed.
CREATE OR REPLACE FUNCTION judgment.current_owner() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('request.jwt.claim.sub', true), '')::uuid;
REVOKE ALL ON FUNCTION judgment.current_owner() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judgment.current_owner() TO judgment_authorizer, judgment_reader,
  judgment_owner, judgment_process, judgment_worker, judgment_evaluator, judgment_definer;
COMMENT ON FUNCTION judgment.current_owner() IS
  'The owner that the transaction acts for, or null.';

CREATE OR REPLACE FUNCTION judgment.made_here(object_name text) RETURNS boolean
LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM judgment.baseline_objects b WHERE b.name = object_name)
$$;
REVOKE ALL ON FUNCTION judgment.made_here(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION judgment.made_here(text) TO judgment_owner, judgment_definer;
COMMENT ON FUNCTION judgment.made_here(text) IS
  'Whether our baseline made that object, rather than a Sync app.';

COMMIT;
