-- What owners keep in files, with every version of it, and what is said about it: memory,
-- conversations, pages, approvals (seed 002 §§12.1, 20, 25, 26; rulings 30, 31, 33, 41). A version
-- cannot be changed, and a file cannot differ from the version it stands for: both are constraints.
BEGIN;

-- Its lock gives revisions in the order of commits.
CREATE TABLE IF NOT EXISTS judgment.memory_state (
  user_id uuid PRIMARY KEY REFERENCES auth.users (id) ON DELETE CASCADE,
  revision bigint NOT NULL DEFAULT 0 CHECK (revision >= 0),
  seeded_at timestamptz NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS judgment.memory_blobs (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  sha256 text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, sha256),
  CONSTRAINT memory_blobs_digest CHECK (sha256 = encode(pg_catalog.sha256(content), 'hex'))
);
ALTER TABLE judgment.memory_blobs ALTER COLUMN content SET STORAGE EXTENDED;

CREATE TABLE IF NOT EXISTS judgment.memory_commits (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  revision bigint NOT NULL CHECK (revision > 0),
  id text COLLATE "C" NOT NULL CHECK (id ~ '^[0-9a-f]{40}$'),
  origin text NOT NULL,
  author text NOT NULL,
  message text NOT NULL,
  committed_at timestamptz NOT NULL CHECK (isfinite(committed_at)),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, revision),
  UNIQUE (user_id, id),
  CONSTRAINT memory_commits_origin CHECK (origin IN ('starter', 'tool', 'owner', 'import'))
);

CREATE TABLE IF NOT EXISTS judgment.memory_revisions (
  user_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  revision bigint NOT NULL,
  sha256 text COLLATE "C" NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, path, revision),
  UNIQUE (user_id, path, revision, sha256),
  FOREIGN KEY (user_id, revision)
    REFERENCES judgment.memory_commits (user_id, revision) ON DELETE CASCADE,
  FOREIGN KEY (user_id, sha256)
    REFERENCES judgment.memory_blobs (user_id, sha256) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS memory_revisions_of_commit_idx
  ON judgment.memory_revisions (user_id, revision);
CREATE INDEX IF NOT EXISTS memory_revisions_of_blob_idx
  ON judgment.memory_revisions (user_id, sha256);

-- `folded` is the path as a file system reads it that knows no case and one form of each letter.
CREATE TABLE IF NOT EXISTS judgment.memory_files (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  folded text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, path),
  UNIQUE (user_id, folded),
  FOREIGN KEY (user_id, path, revision, sha256)
    REFERENCES judgment.memory_revisions (user_id, path, revision, sha256) ON DELETE CASCADE
);

CREATE TABLE IF NOT EXISTS judgment.memory_imports (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  import_id uuid NOT NULL,
  part integer NOT NULL CHECK (part BETWEEN 1 AND 500),
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, import_id, part)
);

CREATE TABLE IF NOT EXISTS judgment.conversations (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL CHECK (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  title text NOT NULL,
  created_at timestamptz NOT NULL CHECK (isfinite(created_at)),
  updated_at timestamptz NOT NULL CHECK (isfinite(updated_at)),
  message_count integer NOT NULL DEFAULT 0 CHECK (message_count >= 0),
  active_skill_ids json NOT NULL DEFAULT '[]',
  stop_requested_at timestamptz NULL,
  PRIMARY KEY (user_id, id)
);
CREATE INDEX IF NOT EXISTS conversations_latest_idx
  ON judgment.conversations (user_id, updated_at DESC, id);

CREATE TABLE IF NOT EXISTS judgment.conversation_messages (
  user_id uuid NOT NULL,
  conversation_id text COLLATE "C" NOT NULL,
  position integer NOT NULL CHECK (position > 0),
  id text NOT NULL CHECK (id <> ''),
  turn_id uuid NOT NULL,
  role text NOT NULL,
  content text NOT NULL,
  sent_at timestamptz NOT NULL CHECK (isfinite(sent_at)),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, conversation_id, position),
  FOREIGN KEY (user_id, conversation_id)
    REFERENCES judgment.conversations (user_id, id) ON DELETE CASCADE,
  CONSTRAINT conversation_messages_role CHECK (role IN ('user', 'assistant', 'tool'))
);

CREATE TABLE IF NOT EXISTS judgment.projects (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
  position integer NOT NULL,
  name text NOT NULL,
  icon text NOT NULL,
  conversation_id text COLLATE "C" NULL,
  default_skill_ids json NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, id),
  FOREIGN KEY (user_id, conversation_id)
    REFERENCES judgment.conversations (user_id, id) ON DELETE SET NULL (conversation_id)
);

-- `expected`: path to digest as the owner was shown it, null for a file that was not there.
-- `settled_at`: when the call was carried out or given up, once.
CREATE TABLE IF NOT EXISTS judgment.approvals (
  user_id uuid NOT NULL REFERENCES auth.users (id) ON DELETE CASCADE,
  request_id uuid NOT NULL,
  conversation_id text COLLATE "C" NOT NULL,
  turn_id uuid NOT NULL,
  tool_call_id text NOT NULL,
  tool_name text NOT NULL,
  summary text NOT NULL,
  input json NOT NULL,
  expected json NOT NULL,
  decision text NOT NULL DEFAULT 'pending',
  decided_at timestamptz NULL,
  settled_at timestamptz NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, request_id),
  FOREIGN KEY (user_id, conversation_id)
    REFERENCES judgment.conversations (user_id, id) ON DELETE CASCADE,
  CONSTRAINT approvals_decision CHECK (decision IN ('pending', 'approved', 'denied')),
  CONSTRAINT approvals_decided CHECK ((decision = 'pending') = (decided_at IS NULL))
);
CREATE INDEX IF NOT EXISTS approvals_open_idx
  ON judgment.approvals (user_id, conversation_id) WHERE settled_at IS NULL;

ALTER TABLE judgment.memory_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_state FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_blobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_blobs FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_commits FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_revisions FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_files FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.memory_imports FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.conversations FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.conversation_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.conversation_messages FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.projects FORCE ROW LEVEL SECURITY;
ALTER TABLE judgment.approvals ENABLE ROW LEVEL SECURITY;
ALTER TABLE judgment.approvals FORCE ROW LEVEL SECURITY;

-- Messages and owner edits. Versions are appended; only files that stand for one move.
GRANT SELECT, INSERT (user_id), UPDATE (revision, seeded_at)
   ON judgment.memory_state TO judgment_process;
GRANT SELECT, INSERT (user_id, sha256, content) ON judgment.memory_blobs TO judgment_process;
GRANT SELECT, INSERT (user_id, revision, id, origin, author, message, committed_at)
   ON judgment.memory_commits TO judgment_process;
GRANT SELECT, INSERT (user_id, path, revision, sha256)
   ON judgment.memory_revisions TO judgment_process;
GRANT SELECT, INSERT, UPDATE (revision, sha256, bytes, updated_at), DELETE
   ON judgment.memory_files TO judgment_process;
GRANT SELECT, INSERT (user_id, import_id, part, content), UPDATE (content), DELETE
   ON judgment.memory_imports TO judgment_process;
GRANT SELECT, INSERT, UPDATE (title, updated_at, message_count, stop_requested_at)
   ON judgment.conversations TO judgment_process;
GRANT SELECT,
      INSERT (user_id, conversation_id, position, id, turn_id, role, content, sent_at),
      UPDATE (content)
   ON judgment.conversation_messages TO judgment_process;
GRANT SELECT, INSERT, UPDATE (name, icon, conversation_id), DELETE
   ON judgment.projects TO judgment_process;
GRANT SELECT,
      INSERT (user_id, request_id, conversation_id, turn_id, tool_call_id, tool_name, summary,
              input, expected),
      UPDATE (decision, decided_at, settled_at)
   ON judgment.approvals TO judgment_process;
GRANT SELECT ON judgment.owner_models TO judgment_process;
GRANT INSERT ON judgment.model_calls TO judgment_process;

-- Whoever retires what is past its time: parts of an import that nobody carried out.
GRANT SELECT (created_at), DELETE ON judgment.memory_imports TO judgment_worker;

-- The owner: takes it all along, or erases it.
GRANT SELECT, DELETE ON judgment.memory_state, judgment.memory_blobs, judgment.memory_commits,
  judgment.memory_revisions, judgment.memory_files, judgment.memory_imports,
  judgment.conversations, judgment.conversation_messages, judgment.projects, judgment.approvals
  TO judgment_owner;

DROP POLICY IF EXISTS memory_state_own ON judgment.memory_state;
CREATE POLICY memory_state_own ON judgment.memory_state TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_blobs_own ON judgment.memory_blobs;
CREATE POLICY memory_blobs_own ON judgment.memory_blobs TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_commits_own ON judgment.memory_commits;
CREATE POLICY memory_commits_own ON judgment.memory_commits TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_revisions_own ON judgment.memory_revisions;
CREATE POLICY memory_revisions_own ON judgment.memory_revisions
  TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_files_own ON judgment.memory_files;
CREATE POLICY memory_files_own ON judgment.memory_files TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_imports_own ON judgment.memory_imports;
CREATE POLICY memory_imports_own ON judgment.memory_imports TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS memory_imports_overdue ON judgment.memory_imports;
CREATE POLICY memory_imports_overdue ON judgment.memory_imports TO judgment_worker USING (true);
DROP POLICY IF EXISTS conversations_own ON judgment.conversations;
CREATE POLICY conversations_own ON judgment.conversations TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS conversation_messages_own ON judgment.conversation_messages;
CREATE POLICY conversation_messages_own ON judgment.conversation_messages
  TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS projects_own ON judgment.projects;
CREATE POLICY projects_own ON judgment.projects TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS approvals_own ON judgment.approvals;
CREATE POLICY approvals_own ON judgment.approvals TO judgment_process, judgment_owner
  USING (user_id = judgment.current_owner()) WITH CHECK (user_id = judgment.current_owner());
DROP POLICY IF EXISTS owner_models_of_process ON judgment.owner_models;
CREATE POLICY owner_models_of_process ON judgment.owner_models FOR SELECT TO judgment_process
  USING (user_id = judgment.current_owner());
DROP POLICY IF EXISTS model_calls_of_process ON judgment.model_calls;
CREATE POLICY model_calls_of_process ON judgment.model_calls FOR INSERT TO judgment_process
  WITH CHECK (user_id = judgment.current_owner());

COMMENT ON TABLE judgment.memory_state IS
  'One row per owner with a memory: the revision that its files have come to.';
COMMENT ON COLUMN judgment.memory_state.user_id IS 'The owner.';
COMMENT ON COLUMN judgment.memory_state.revision IS 'Number of the last commit.';
COMMENT ON COLUMN judgment.memory_state.seeded_at IS 'When the starter pack was laid down.';
COMMENT ON COLUMN judgment.memory_state.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.memory_blobs IS
  'Contents of files, each once: never changed, gone with the account alone.';
COMMENT ON COLUMN judgment.memory_blobs.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.memory_blobs.sha256 IS 'Digest of the content, checked by the database.';
COMMENT ON COLUMN judgment.memory_blobs.content IS 'The bytes as they were written.';
COMMENT ON COLUMN judgment.memory_blobs.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.memory_commits IS 'Every change of a memory: appended, never changed.';
COMMENT ON COLUMN judgment.memory_commits.user_id IS 'Whose memory.';
COMMENT ON COLUMN judgment.memory_commits.revision IS 'Place in the history, from 1, without gaps.';
COMMENT ON COLUMN judgment.memory_commits.id IS 'Its name, 40 hex digits; an imported one keeps its own.';
COMMENT ON COLUMN judgment.memory_commits.origin IS 'starter, tool, owner or import.';
COMMENT ON COLUMN judgment.memory_commits.author IS 'Who made it, as a name or git''s author line.';
COMMENT ON COLUMN judgment.memory_commits.message IS 'What it says of itself.';
COMMENT ON COLUMN judgment.memory_commits.committed_at IS
  'When it was made; of an imported one, when its author made it.';
COMMENT ON COLUMN judgment.memory_commits.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.memory_revisions IS
  'What a commit made of each file it touched: appended, never changed.';
COMMENT ON COLUMN judgment.memory_revisions.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.memory_revisions.path IS 'The file, relative to the memory''s root.';
COMMENT ON COLUMN judgment.memory_revisions.revision IS 'The commit.';
COMMENT ON COLUMN judgment.memory_revisions.sha256 IS 'Its content since then; null: deleted.';
COMMENT ON COLUMN judgment.memory_revisions.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.memory_files IS 'The files as they are now.';
COMMENT ON COLUMN judgment.memory_files.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.memory_files.path IS 'Relative to the memory''s root.';
COMMENT ON COLUMN judgment.memory_files.folded IS
  'The path without case and in one form of each letter, unique too.';
COMMENT ON COLUMN judgment.memory_files.revision IS 'The commit that made it what it is.';
COMMENT ON COLUMN judgment.memory_files.sha256 IS 'Its content.';
COMMENT ON COLUMN judgment.memory_files.bytes IS 'Its size.';
COMMENT ON COLUMN judgment.memory_files.updated_at IS 'When it last changed.';
COMMENT ON TABLE judgment.memory_imports IS
  'Parts of an import that waits to be carried out; deleted then, or after a day.';
COMMENT ON COLUMN judgment.memory_imports.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.memory_imports.import_id IS 'Which import.';
COMMENT ON COLUMN judgment.memory_imports.part IS 'Its place among the parts, from 1.';
COMMENT ON COLUMN judgment.memory_imports.content IS 'The part''s bytes.';
COMMENT ON COLUMN judgment.memory_imports.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.conversations IS 'What an owner talked about with a model.';
COMMENT ON COLUMN judgment.conversations.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.conversations.id IS 'Its name in headers, routes and file names.';
COMMENT ON COLUMN judgment.conversations.title IS 'The beginning of its first message.';
COMMENT ON COLUMN judgment.conversations.created_at IS 'When it began.';
COMMENT ON COLUMN judgment.conversations.updated_at IS 'When something was last said.';
COMMENT ON COLUMN judgment.conversations.message_count IS 'How many messages it has.';
COMMENT ON COLUMN judgment.conversations.active_skill_ids IS
  'Kept of an imported conversation; nothing here uses it.';
COMMENT ON COLUMN judgment.conversations.stop_requested_at IS
  'When the owner last asked the running turn to end.';
COMMENT ON TABLE judgment.conversation_messages IS 'What was said, and what tools did.';
COMMENT ON COLUMN judgment.conversation_messages.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.conversation_messages.conversation_id IS 'In which conversation.';
COMMENT ON COLUMN judgment.conversation_messages.position IS 'Its place, from 1, without gaps.';
COMMENT ON COLUMN judgment.conversation_messages.id IS 'Its id; of a tool''s message, the call''s.';
COMMENT ON COLUMN judgment.conversation_messages.turn_id IS
  'The request that it belongs to: two that run at once are told apart by it.';
COMMENT ON COLUMN judgment.conversation_messages.role IS 'user, assistant or tool.';
COMMENT ON COLUMN judgment.conversation_messages.content IS
  'The text; of a tool, JSON of the call and what became of it.';
COMMENT ON COLUMN judgment.conversation_messages.sent_at IS 'When it was said.';
COMMENT ON COLUMN judgment.conversation_messages.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.projects IS 'An owner''s pages.';
COMMENT ON COLUMN judgment.projects.user_id IS 'Whose.';
COMMENT ON COLUMN judgment.projects.id IS 'The page''s folder below documents/.';
COMMENT ON COLUMN judgment.projects.position IS 'Its place among the pages.';
COMMENT ON COLUMN judgment.projects.name IS 'Its name.';
COMMENT ON COLUMN judgment.projects.icon IS 'The name of its picture.';
COMMENT ON COLUMN judgment.projects.conversation_id IS 'The conversation attached to it.';
COMMENT ON COLUMN judgment.projects.default_skill_ids IS
  'Kept of an imported page; nothing here uses it.';
COMMENT ON COLUMN judgment.projects.created_at IS 'When the row came to be.';
COMMENT ON TABLE judgment.approvals IS
  'Calls of a model that wait for the owner: they outlive the stream that asked.';
COMMENT ON COLUMN judgment.approvals.user_id IS 'Whose answer is waited for.';
COMMENT ON COLUMN judgment.approvals.request_id IS 'The question.';
COMMENT ON COLUMN judgment.approvals.conversation_id IS 'Where it was asked.';
COMMENT ON COLUMN judgment.approvals.turn_id IS 'In which turn.';
COMMENT ON COLUMN judgment.approvals.tool_call_id IS 'The call.';
COMMENT ON COLUMN judgment.approvals.tool_name IS 'The tool.';
COMMENT ON COLUMN judgment.approvals.summary IS 'The question in words.';
COMMENT ON COLUMN judgment.approvals.input IS 'The call''s input.';
COMMENT ON COLUMN judgment.approvals.expected IS
  'Path to digest of the files it would change, as they were when the question was put.';
COMMENT ON COLUMN judgment.approvals.decision IS 'pending, approved or denied.';
COMMENT ON COLUMN judgment.approvals.decided_at IS 'When the owner answered.';
COMMENT ON COLUMN judgment.approvals.settled_at IS
  'When the call was carried out or given up: once, and never again.';
COMMENT ON COLUMN judgment.approvals.created_at IS 'When the question was put.';

COMMIT;
