-- name: hold_state
-- The owner's row, locked until the transaction ends.
SELECT revision, seeded_at FROM judgment.memory_state WHERE user_id = %(user_id)s FOR UPDATE

-- name: make_state
-- The owner's row, where there is none.
INSERT INTO judgment.memory_state (user_id) VALUES (%(user_id)s) ON CONFLICT DO NOTHING

-- name: set_revision
-- How far the memory has come.
UPDATE judgment.memory_state SET revision = %(revision)s WHERE user_id = %(user_id)s

-- name: seeded
-- Whether the starter pack was laid down.
SELECT seeded_at IS NOT NULL FROM judgment.memory_state WHERE user_id = %(user_id)s

-- name: mark_seeded
-- The starter pack is laid down.
UPDATE judgment.memory_state SET seeded_at = %(at)s WHERE user_id = %(user_id)s

-- name: file
-- One file as it is now, with its content.
SELECT f.path, b.content, f.sha256, f.revision, f.updated_at
  FROM judgment.memory_files f
  JOIN judgment.memory_blobs b USING (user_id, sha256)
 WHERE f.user_id = %(user_id)s AND f.path = %(path)s

-- name: digests
-- The contents of some files as they are now.
SELECT path, sha256 FROM judgment.memory_files
 WHERE user_id = %(user_id)s AND path = ANY (%(paths)s)

-- name: entries
-- Every file below a folder, without its content; an empty folder is the root.
  SELECT path, bytes, sha256, revision, updated_at
    FROM judgment.memory_files
   WHERE user_id = %(user_id)s
     AND (%(folder)s = '' OR starts_with(path, %(folder)s || '/'))
ORDER BY path

-- name: relatives
-- Files that could stand in the way of a new one: those below its first folder, or of that name.
SELECT path FROM judgment.memory_files
 WHERE user_id = %(user_id)s AND split_part(folded, '/', 1) = ANY (%(tops)s)

-- name: add_blob
-- A content, where it is new.
INSERT INTO judgment.memory_blobs (user_id, sha256, content)
     VALUES (%(user_id)s, %(sha256)s, %(content)s)
ON CONFLICT DO NOTHING

-- name: add_commit
-- One change of the memory.
INSERT INTO judgment.memory_commits
            (user_id, revision, id, origin, author, message, committed_at)
     VALUES (%(user_id)s, %(revision)s, %(id)s, %(origin)s, %(author)s, %(message)s, %(at)s)

-- name: add_revision
-- What the change made of one file.
INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256)
     VALUES (%(user_id)s, %(path)s, %(revision)s, %(sha256)s)

-- name: put_file
-- A file as it is from now on.
INSERT INTO judgment.memory_files
            (user_id, path, folded, revision, sha256, bytes, updated_at)
     VALUES (%(user_id)s, %(path)s, %(folded)s, %(revision)s, %(sha256)s, %(bytes)s, %(at)s)
ON CONFLICT (user_id, path) DO UPDATE
        SET revision = excluded.revision, sha256 = excluded.sha256, bytes = excluded.bytes,
            updated_at = excluded.updated_at

-- name: drop_file
-- A file that is no more; its history stays.
DELETE FROM judgment.memory_files WHERE user_id = %(user_id)s AND path = %(path)s

-- name: history
-- What was made of a file, or of the files below a folder, the newest first.
  SELECT c.revision, c.id, c.origin, c.author, c.message, c.committed_at, r.path, r.sha256
    FROM judgment.memory_revisions r
    JOIN judgment.memory_commits c USING (user_id, revision)
   WHERE r.user_id = %(user_id)s
     AND (r.path = %(path)s OR starts_with(r.path, %(path)s || '/'))
ORDER BY c.revision DESC, r.path
   LIMIT %(limit)s

-- name: history_length
-- How much of that there is.
SELECT count(*) FROM judgment.memory_revisions
 WHERE user_id = %(user_id)s AND (path = %(path)s OR starts_with(path, %(path)s || '/'))

-- name: versions
-- What a commit made of a file, by the beginning of the commit's id.
SELECT c.revision, c.id, c.origin, c.author, c.message, c.committed_at, r.path, r.sha256
  FROM judgment.memory_revisions r
  JOIN judgment.memory_commits c USING (user_id, revision)
 WHERE r.user_id = %(user_id)s AND r.path = %(path)s AND starts_with(c.id, %(id)s)
 LIMIT 2

-- name: content_at
-- A file's content as of a revision; no row where it was not there.
  SELECT b.content
    FROM judgment.memory_revisions r
    JOIN judgment.memory_blobs b USING (user_id, sha256)
   WHERE r.user_id = %(user_id)s AND r.path = %(path)s
     AND r.revision = (SELECT max(o.revision) FROM judgment.memory_revisions o
                        WHERE o.user_id = %(user_id)s AND o.path = %(path)s
                          AND o.revision <= %(revision)s)

-- name: contents
-- The contents of some files as they are now, in the order of their paths.
  SELECT f.path, b.content
    FROM judgment.memory_files f
    JOIN judgment.memory_blobs b USING (user_id, sha256)
   WHERE f.user_id = %(user_id)s AND f.path = ANY (%(paths)s)
ORDER BY f.path
