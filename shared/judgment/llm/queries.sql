-- name: owner_models
-- What the owner chose, by role.
  SELECT role, provider, model, key_secret
    FROM judgment.owner_models
   WHERE user_id = %(user_id)s
ORDER BY role

-- name: forget_owner_models
-- Leave every role to the operator's settings again.
DELETE FROM judgment.owner_models WHERE user_id = %(user_id)s

-- name: insert_owner_model
-- The owner's choice for one role.
INSERT INTO judgment.owner_models (user_id, role, provider, model, key_secret)
     VALUES (%(user_id)s, %(role)s, %(provider)s, %(model)s, %(key_secret)s)

-- name: lock_owner
-- Let one of several writers of an owner's choices go after the other.
SELECT pg_advisory_xact_lock(hashtextextended('owner_models ' || %(user_id)s, 0))

-- name: insert_call
-- One call of a model, without a word of it.
INSERT INTO judgment.model_calls
            (id, user_id, role, provider, model, prompt_tokens, completion_tokens, cost_usd,
             milliseconds, outcome)
     VALUES (%(id)s, %(user_id)s, %(role)s, %(provider)s, %(model)s, %(prompt_tokens)s,
             %(completion_tokens)s, %(cost_usd)s, %(milliseconds)s, %(outcome)s)
