-- name: lock_state
-- One owner's state, held until the transaction ends.
SELECT components, games_analyzed, run_after, last_failure, failures
  FROM judgment.summary_state
 WHERE user_id = %(user_id)s
   FOR UPDATE

-- name: request
-- One more move wants a summary; moments that only a clock moved back can leave are pulled in.
INSERT INTO judgment.summary_state AS s (user_id, requested_seq, run_after, correlation_id)
VALUES (%(user_id)s, 1, %(now)s, %(correlation_id)s)
ON CONFLICT (user_id) DO UPDATE
   SET requested_seq = s.requested_seq + 1,
       retried_seq = CASE WHEN %(is_retry)s THEN s.requested_seq + 1 ELSE s.retried_seq END,
       run_after = least(coalesce(s.run_after, greatest(%(now)s, s.started_at + %(window)s)),
                         %(now)s + %(window)s + %(slack)s),
       lease_until = CASE WHEN s.lease_until > %(now)s + %(lease)s + %(slack)s
                          THEN %(now)s + %(lease)s ELSE s.lease_until END,
       correlation_id = %(correlation_id)s
RETURNING s.run_after

-- name: claim
-- Begin a summary that is due and that nobody is writing; no row for whoever comes early or twice.
UPDATE judgment.summary_state
   SET run_after = NULL,
       started_at = %(now)s,
       lease_until = %(now)s + %(lease)s,
       claimed_seq = requested_seq
 WHERE user_id = %(user_id)s
   AND run_after <= %(now)s
   AND (lease_until IS NULL OR lease_until <= %(now)s)
RETURNING claimed_seq AS seq, correlation_id

-- name: next_look
-- When a summary that is wanted can be begun; null or no row where none is wanted.
SELECT greatest(run_after, lease_until) AS moment
  FROM judgment.summary_state
 WHERE user_id = %(user_id)s AND run_after IS NOT NULL

-- name: finish
-- What was claimed is written; touches no row when another claim has come since.
UPDATE judgment.summary_state
   SET done_seq = claimed_seq,
       lease_until = NULL,
       components = %(components)s,
       games_analyzed = %(games_analyzed)s,
       last_failure = %(last_failure)s,
       failed_at = CASE WHEN %(last_failure)s::text IS NULL THEN NULL ELSE %(now)s END,
       failures = %(failures)s
 WHERE user_id = %(user_id)s AND claimed_seq = %(seq)s AND lease_until IS NOT NULL

-- name: finish_unchanged
-- What was claimed needs no new texts; what the last ones were written from stays.
UPDATE judgment.summary_state
   SET done_seq = claimed_seq, lease_until = NULL
 WHERE user_id = %(user_id)s AND claimed_seq = %(seq)s AND lease_until IS NOT NULL

-- name: overdue
-- Arm again what a lost wake-up, a dead worker or a clock moved back has left, longest waiting first.
UPDATE judgment.summary_state s
   SET requested_seq = s.requested_seq + CASE WHEN s.run_after IS NULL
                       AND (s.lease_until IS NULL OR s.lease_until <= %(now)s) THEN 1 ELSE 0 END,
       run_after = CASE
         WHEN s.run_after IS NOT NULL
         THEN least(s.run_after, %(now)s + %(window)s + %(slack)s)
         WHEN s.lease_until IS NULL OR s.lease_until <= %(now)s
         THEN least(greatest(%(now)s, s.started_at + %(window)s),
                    %(now)s + %(window)s + %(slack)s) END,
       lease_until = CASE WHEN s.lease_until > %(now)s + %(lease)s + %(slack)s
                          THEN %(now)s + %(lease)s ELSE s.lease_until END
 WHERE s.user_id IN (
         SELECT w.user_id
           FROM judgment.summary_state w
          WHERE w.requested_seq > w.done_seq
            AND ((w.run_after IS NULL AND (w.lease_until IS NULL OR w.lease_until <= %(now)s))
                 OR w.run_after <= %(now)s - %(grace)s
                 OR w.run_after > %(now)s + %(window)s + %(slack)s
                 OR w.lease_until > %(now)s + %(lease)s + %(slack)s)
       ORDER BY w.run_after NULLS FIRST, w.user_id
          LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED)
RETURNING s.user_id, s.run_after, s.correlation_id

-- name: write_texts
-- Both texts, who worded them and when.
UPDATE public.player_decision_profiles
   SET summary_text = %(summary_text)s,
       agent_context_block = %(agent_context_block)s,
       summary_model_version = %(version)s,
       summary_generated_at = %(now)s
 WHERE user_id = %(user_id)s
