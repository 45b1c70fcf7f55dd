-- name: make_state
-- An owner's row of state, where there is none yet.
INSERT INTO judgment.preference_state (user_id) VALUES (%(user_id)s) ON CONFLICT DO NOTHING

-- name: hold_state
-- An owner's row of state, locked: whoever adds anything waits here, so positions have no gaps.
SELECT appended, revision, consented, ledger_position, ledger_hash
  FROM judgment.preference_state WHERE user_id = %(user_id)s FOR UPDATE

-- name: known_signals
-- Which of these signals are there already.
SELECT id, position, recorded_at, supersedes, sent_sha256
  FROM judgment.preference_signals
 WHERE user_id = %(user_id)s AND id = ANY (%(ids)s::uuid[])

-- name: standing_signal
-- The id of the signal that holds for a key and scope now.
SELECT judgment.standing_signal(%(key)s, %(scope)s)

-- name: add_signal
-- Append a signal at its position.
INSERT INTO judgment.preference_signals (user_id, id, position, key, scope, instant, sequence,
                                         supersedes, sent_sha256, statement, recorded_at)
VALUES (%(user_id)s, %(id)s, %(position)s, %(key)s, %(scope)s, %(instant)s, %(sequence)s,
        %(supersedes)s, %(sent_sha256)s, %(statement)s::json, %(recorded_at)s)

-- name: count_added
-- So many signals were appended.
UPDATE judgment.preference_state
   SET appended = appended + %(count)s, revision = revision + %(count)s
 WHERE user_id = %(user_id)s

-- name: delete_signal
-- Delete a signal for good.
DELETE FROM judgment.preference_signals WHERE user_id = %(user_id)s AND id = %(id)s

-- name: count_deleted
-- A signal was deleted; what rests on it is not shown from now on.
UPDATE judgment.preference_state
   SET revision = revision + 1, deleted_revision = revision + 1
 WHERE user_id = %(user_id)s

-- name: disclose_preferences
-- A page of a document as an audience may see it; consent is checked and the ledger written first.
SELECT judgment.disclose_preferences(
  %(whose)s, %(audience)s, %(purpose)s, %(platform)s, %(keys)s::text[], %(below)s, %(after)s,
  %(most)s, %(heaviest)s, %(hand)s, %(correlation_id)s)

-- name: disclose_signals
-- Signals of the transaction's owner; the ledger is written first.
SELECT judgment.disclose_signals(
  %(key)s, %(after)s, %(most)s, %(newest)s, %(hand)s, %(correlation_id)s)

-- name: consent_events
-- The history of consent, oldest first.
  SELECT position, id, effect, key_glob, audience, level, expires, made_at
    FROM judgment.consent_events WHERE user_id = %(user_id)s
ORDER BY position

-- name: add_consent_event
-- A step of consent at its position.
INSERT INTO judgment.consent_events (user_id, position, id, effect, key_glob, audience, level,
                                     expires, made_at)
VALUES (%(user_id)s, %(position)s, %(id)s, %(effect)s, %(key_glob)s, %(audience)s, %(level)s,
        %(expires)s, %(made_at)s)

-- name: count_consented
-- A step of consent was made.
UPDATE judgment.preference_state SET consented = consented + 1 WHERE user_id = %(user_id)s

-- name: ledger_before
-- Links of the ledger, newest first, before a position.
  SELECT position, entry, previous, hash
    FROM judgment.preference_ledger
   WHERE user_id = %(user_id)s AND (%(before)s::bigint IS NULL OR position < %(before)s)
ORDER BY position DESC LIMIT %(most)s

-- name: ledger_after
-- Links of the ledger, oldest first, after a position.
  SELECT position, entry, previous, hash
    FROM judgment.preference_ledger
   WHERE user_id = %(user_id)s AND position > %(after)s
ORDER BY position LIMIT %(most)s

-- name: revisions
-- How far the stream is and how far its documents are.
SELECT revision, compiled_revision FROM judgment.preference_state WHERE user_id = %(user_id)s

-- name: lock_revisions
-- The same, locked: two compilers of one owner take turns to write.
SELECT revision, compiled_revision FROM judgment.preference_state
 WHERE user_id = %(user_id)s FOR UPDATE

-- name: statements
-- Every signal of an owner.
  SELECT statement FROM judgment.preference_signals
   WHERE user_id = %(user_id)s
ORDER BY position

-- name: keep_document
-- A platform's document, unless the stored one says the same.
INSERT INTO judgment.preference_documents AS d (user_id, platform, digest, document)
VALUES (%(user_id)s, %(platform)s, %(digest)s, %(document)s::json)
ON CONFLICT (user_id, platform) DO UPDATE
   SET digest = excluded.digest, document = excluded.document, updated_at = now()
 WHERE d.digest <> excluded.digest

-- name: drop_documents
-- The documents of platforms that say nothing of their own any more.
DELETE FROM judgment.preference_documents
 WHERE user_id = %(user_id)s AND NOT (platform = ANY (%(platforms)s::text[]))

-- name: note_compiled
-- The documents have everything of this revision.
UPDATE judgment.preference_state SET compiled_revision = %(revision)s WHERE user_id = %(user_id)s
