-- Run once per change, as the cluster's master user, before any migration: makes the one role that
-- migrates. It may make roles and hand them the right to log in by IAM token; it is no superuser.
-- What Postgres lets everybody write it no longer does; large objects are the cluster's, and where
-- this user may not close them the revocation is a warning. Idempotent. rds_iam exists on Aurora only.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'judgment_migrate') THEN
    CREATE ROLE judgment_migrate LOGIN CREATEROLE;
  ELSE
    ALTER ROLE judgment_migrate LOGIN CREATEROLE;
  END IF;
  EXECUTE format('GRANT CONNECT, CREATE, TEMPORARY ON DATABASE %I TO judgment_migrate', current_database());
  GRANT CREATE, USAGE ON SCHEMA public TO judgment_migrate;
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  REVOKE EXECUTE ON FUNCTION pg_catalog.lo_creat(integer), pg_catalog.lo_create(oid),
    pg_catalog.lo_from_bytea(oid, bytea) FROM PUBLIC;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'rds_iam') THEN
    GRANT rds_iam TO judgment_migrate WITH ADMIN OPTION;
  END IF;
END
$$;
