-- name: snapshot
-- The revision that a memory has come to, 0 where there is none, and the database's time.
SELECT coalesce((SELECT revision FROM judgment.memory_state WHERE user_id = %(user_id)s), 0)
         AS revision,
       now() AS at

-- name: commits
-- Commits of a range, in their order.
  SELECT revision, id, author, message, committed_at
    FROM judgment.memory_commits
   WHERE user_id = %(user_id)s AND revision BETWEEN %(first)s AND %(last)s
ORDER BY revision

-- name: changes
-- What the commits of a range did to which files.
  SELECT revision, path, sha256
    FROM judgment.memory_revisions
   WHERE user_id = %(user_id)s AND revision BETWEEN %(first)s AND %(last)s
ORDER BY revision, path

-- name: first_uses
-- Contents that a commit of a range is the first to use, with their size.
  SELECT used.revision, used.sha256, octet_length(kept.content) AS bytes
    FROM (SELECT DISTINCT user_id, revision, sha256
            FROM judgment.memory_revisions
           WHERE user_id = %(user_id)s AND revision BETWEEN %(first)s AND %(last)s) used
    JOIN judgment.memory_blobs kept USING (user_id, sha256)
   WHERE NOT EXISTS (
           SELECT FROM judgment.memory_revisions earlier
            WHERE earlier.user_id = used.user_id
              AND earlier.sha256 = used.sha256
              AND earlier.revision < used.revision)
ORDER BY used.revision, used.sha256

-- name: contents
-- Contents by their digests.
SELECT sha256, content
  FROM judgment.memory_blobs
 WHERE user_id = %(user_id)s AND sha256 = ANY (%(digests)s)

-- name: files_at
-- Files as of a revision, by path, from a place on.
  SELECT path, sha256
    FROM (SELECT DISTINCT ON (path) path, sha256
            FROM judgment.memory_revisions
           WHERE user_id = %(user_id)s AND revision <= %(revision)s
        ORDER BY path, revision DESC) latest
   WHERE sha256 IS NOT NULL
ORDER BY path
  OFFSET %(place)s
   LIMIT %(limit)s

-- name: file_at
-- One file's digest as of a revision.
  SELECT sha256
    FROM judgment.memory_revisions
   WHERE user_id = %(user_id)s AND path = %(path)s AND revision <= %(revision)s
ORDER BY revision DESC
   LIMIT 1

-- name: keep_part
-- Put a part of an import by, in the place of one that was sent before.
INSERT INTO judgment.memory_imports (user_id, import_id, part, content)
VALUES (%(user_id)s, %(import_id)s, %(part)s, %(content)s)
ON CONFLICT (user_id, import_id, part) DO UPDATE SET content = excluded.content

-- name: drop_others
-- An owner has one import in the making.
DELETE FROM judgment.memory_imports
 WHERE user_id = %(user_id)s AND import_id <> %(import_id)s

-- name: staged_bytes
-- How much of an import is there.
SELECT coalesce(sum(octet_length(content)), 0)::bigint
  FROM judgment.memory_imports
 WHERE user_id = %(user_id)s AND import_id = %(import_id)s

-- name: part
-- One part of an import.
SELECT content
  FROM judgment.memory_imports
 WHERE user_id = %(user_id)s AND import_id = %(import_id)s AND part = %(part)s

-- name: drop_parts
-- Parts of an import that was carried out.
DELETE FROM judgment.memory_imports
 WHERE user_id = %(user_id)s AND import_id = %(import_id)s

-- name: begin_memory
-- An owner's memory, where they have none yet.
INSERT INTO judgment.memory_state (user_id) VALUES (%(user_id)s) ON CONFLICT DO NOTHING

-- name: lock_memory
-- The revision that the memory has come to; nobody else commits until the transaction ends.
SELECT revision FROM judgment.memory_state WHERE user_id = %(user_id)s FOR UPDATE

-- name: set_revision
-- The revision that the memory has come to now.
UPDATE judgment.memory_state SET revision = %(revision)s WHERE user_id = %(user_id)s

-- name: current_files
-- Every file as it is now.
SELECT path, folded, sha256, revision FROM judgment.memory_files WHERE user_id = %(user_id)s

-- name: known_commits
-- Which of these commits are in the history.
SELECT id FROM judgment.memory_commits WHERE user_id = %(user_id)s AND id = ANY (%(ids)s)

-- name: add_blobs
-- Contents, each once.
INSERT INTO judgment.memory_blobs (user_id, sha256, content)
SELECT %(user_id)s, given.sha256, given.content
  FROM unnest(%(digests)s::text[], %(contents)s::bytea[]) AS given (sha256, content)
ON CONFLICT DO NOTHING

-- name: add_commits
-- Commits of an import, with the revisions they are given.
INSERT INTO judgment.memory_commits
       (user_id, revision, id, origin, author, message, committed_at)
SELECT %(user_id)s, given.revision, given.id, 'import', given.author, given.message, given.at
  FROM unnest(%(revisions)s::bigint[], %(ids)s::text[], %(authors)s::text[],
              %(messages)s::text[], %(times)s::timestamptz[])
       AS given (revision, id, author, message, at)

-- name: add_revisions
-- What these commits did.
INSERT INTO judgment.memory_revisions (user_id, path, revision, sha256)
SELECT %(user_id)s, given.path, given.revision, given.sha256
  FROM unnest(%(paths)s::text[], %(revisions)s::bigint[], %(digests)s::text[])
       AS given (path, revision, sha256)

-- name: set_files
-- The versions that files stand for now.
INSERT INTO judgment.memory_files (user_id, path, folded, revision, sha256, bytes, updated_at)
SELECT %(user_id)s, given.path, given.folded, given.revision, given.sha256,
       octet_length(kept.content), made.committed_at
  FROM unnest(%(paths)s::text[], %(folded)s::text[], %(revisions)s::bigint[], %(digests)s::text[])
       AS given (path, folded, revision, sha256)
  JOIN judgment.memory_blobs kept
    ON kept.user_id = %(user_id)s AND kept.sha256 = given.sha256
  JOIN judgment.memory_commits made
    ON made.user_id = %(user_id)s AND made.revision = given.revision
ON CONFLICT (user_id, path) DO UPDATE
   SET revision = excluded.revision, sha256 = excluded.sha256, bytes = excluded.bytes,
       updated_at = excluded.updated_at

-- name: drop_files
-- Files that are no more; their history stays.
DELETE FROM judgment.memory_files WHERE user_id = %(user_id)s AND path = ANY (%(paths)s)

-- name: retire_parts
-- Forget, for everybody, parts of imports that nobody carried out.
DELETE FROM judgment.memory_imports WHERE created_at < now() - make_interval(days => %(days)s)
