-- name: put_event
-- Keep an event with the change it tells of.
INSERT INTO judgment.outbox (id, type, version, user_id, subject_id, correlation_id)
VALUES (%(id)s, %(type)s, %(version)s, %(user_id)s, %(subject_id)s, %(correlation_id)s)

-- name: lock_unsent
-- The unsent events that nobody else is sending, least tried and oldest first.
  SELECT id, type, version, user_id, subject_id, correlation_id
    FROM judgment.outbox
   WHERE sent_at IS NULL
     AND created_at <= now() - make_interval(secs => %(grace_seconds)s)
     AND NOT (id = ANY (%(skip)s::uuid[]))
ORDER BY attempts, created_at, id
   LIMIT %(limit)s
     FOR UPDATE SKIP LOCKED

-- name: mark_sent
-- The bus has these.
UPDATE judgment.outbox
   SET sent_at = now(), attempts = attempts + 1
 WHERE id = ANY (%(ids)s::uuid[]) AND sent_at IS NULL

-- name: mark_tried
-- The bus refused these, or could not be reached.
UPDATE judgment.outbox
   SET attempts = attempts + 1
 WHERE id = ANY (%(ids)s::uuid[]) AND sent_at IS NULL

-- name: count_unsent
-- How many events wait, and how long the oldest has waited, in seconds.
SELECT count(*) AS waiting,
       coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_seconds
  FROM judgment.outbox
 WHERE sent_at IS NULL

-- name: note_processed
-- Claim a message for a consumer, in the transaction of its effect.
INSERT INTO judgment.processed (consumer, message_id)
VALUES (%(consumer)s, %(message_id)s)
ON CONFLICT DO NOTHING

-- name: claim_key
-- Claim an idempotency key; waits for a request that is using it just now.
INSERT INTO judgment.idempotency_keys (user_id, key, route, body_sha256, status)
VALUES (%(user_id)s, %(key)s, %(route)s, %(body_sha256)s, 0)
ON CONFLICT DO NOTHING

-- name: answer_of_key
-- What was answered to a key.
SELECT body_sha256, status, response
  FROM judgment.idempotency_keys
 WHERE user_id = %(user_id)s AND route = %(route)s AND key = %(key)s

-- name: keep_answer
-- Keep the answer to a claimed key.
UPDATE judgment.idempotency_keys
   SET status = %(status)s, response = %(response)s
 WHERE user_id = %(user_id)s AND route = %(route)s AND key = %(key)s

-- name: retire_sent
-- Forget events that were sent long ago.
DELETE FROM judgment.outbox
 WHERE sent_at < now() - make_interval(days => %(days)s)

-- name: retire_processed
-- Forget messages that can no longer be delivered.
DELETE FROM judgment.processed
 WHERE processed_at < now() - make_interval(days => %(days)s)

-- name: retire_answers
-- Forget answers that no client asks for any more.
DELETE FROM judgment.idempotency_keys
 WHERE created_at < now() - make_interval(days => %(days)s)
