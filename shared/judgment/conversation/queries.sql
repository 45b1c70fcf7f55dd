-- name: create_conversation
-- A conversation without messages.
INSERT INTO judgment.conversations (user_id, id, title, created_at, updated_at)
VALUES (%(user_id)s, %(id)s, %(title)s, %(at)s, %(at)s)

-- name: conversation
-- One conversation.
SELECT id, title, created_at, updated_at, message_count, active_skill_ids
  FROM judgment.conversations WHERE user_id = %(user_id)s AND id = %(id)s

-- name: conversations
-- A page of an owner's conversations, the latest first.
  SELECT id, title, created_at, updated_at, message_count, active_skill_ids
    FROM judgment.conversations WHERE user_id = %(user_id)s
ORDER BY updated_at DESC, id
   LIMIT %(limit)s OFFSET %(offset)s

-- name: count_conversations
-- How many there are.
SELECT count(*) FROM judgment.conversations WHERE user_id = %(user_id)s

-- name: take_place
-- The next place in a conversation. Its row stays locked, so that places follow commits gaplessly.
   UPDATE judgment.conversations
      SET message_count = message_count + 1, updated_at = greatest(updated_at, %(at)s)
    WHERE user_id = %(user_id)s AND id = %(id)s
RETURNING message_count

-- name: add_message
-- Append a message at its place.
INSERT INTO judgment.conversation_messages (user_id, conversation_id, position, id, turn_id, role,
                                            content, sent_at)
VALUES (%(user_id)s, %(conversation_id)s, %(position)s, %(id)s, %(turn_id)s, %(role)s,
        %(content)s, %(sent_at)s)

-- name: replace_content
-- What became of a call that waited, in place of its waiting.
UPDATE judgment.conversation_messages SET content = %(content)s
 WHERE user_id = %(user_id)s AND conversation_id = %(conversation_id)s
   AND turn_id = %(turn_id)s AND id = %(id)s

-- name: messages
-- A conversation in its order.
  SELECT id, turn_id, role, content, sent_at, position
    FROM judgment.conversation_messages
   WHERE user_id = %(user_id)s AND conversation_id = %(conversation_id)s
ORDER BY position

-- name: message
-- One message of a turn; providers repeat ids of calls from one turn to the next.
SELECT id, turn_id, role, content, sent_at, position
  FROM judgment.conversation_messages
 WHERE user_id = %(user_id)s AND conversation_id = %(conversation_id)s
   AND turn_id = %(turn_id)s AND id = %(id)s

-- name: request_stop
-- The owner asks the turn that runs there to end.
UPDATE judgment.conversations SET stop_requested_at = %(at)s
 WHERE user_id = %(user_id)s AND id = %(id)s

-- name: stop_requested_since
-- Whether they asked it of a turn that began then.
SELECT stop_requested_at >= %(since)s
  FROM judgment.conversations WHERE user_id = %(user_id)s AND id = %(id)s

-- name: projects
-- An owner's pages in their order.
  SELECT id, name, icon, conversation_id, default_skill_ids, position
    FROM judgment.projects WHERE user_id = %(user_id)s
ORDER BY position, id

-- name: project
-- One page.
SELECT id, name, icon, conversation_id, default_skill_ids, position
  FROM judgment.projects WHERE user_id = %(user_id)s AND id = %(id)s

-- name: add_project
-- A page behind the others, unless there is one of that id.
INSERT INTO judgment.projects (user_id, id, position, name, icon)
SELECT %(user_id)s, %(id)s, coalesce(max(position), 0) + 1, %(name)s, %(icon)s
  FROM judgment.projects WHERE user_id = %(user_id)s
    ON CONFLICT DO NOTHING

-- name: rename_project
-- Another name or icon; null leaves what is there.
UPDATE judgment.projects SET name = coalesce(%(name)s, name), icon = coalesce(%(icon)s, icon)
 WHERE user_id = %(user_id)s AND id = %(id)s

-- name: delete_project
-- Delete a page's row.
DELETE FROM judgment.projects WHERE user_id = %(user_id)s AND id = %(id)s

-- name: attach
-- A page and the conversation that is attached to it; null for none.
UPDATE judgment.projects SET conversation_id = %(conversation_id)s
 WHERE user_id = %(user_id)s AND id = %(id)s

-- name: ask
-- A call that waits for the owner.
INSERT INTO judgment.approvals (user_id, request_id, conversation_id, turn_id, tool_call_id,
                                tool_name, summary, input, expected)
VALUES (%(user_id)s, %(request_id)s, %(conversation_id)s, %(turn_id)s, %(tool_call_id)s,
        %(tool_name)s, %(summary)s, %(input)s::json, %(expected)s::json)

-- name: approval
-- One of them, whatever became of it.
SELECT request_id, conversation_id, turn_id, tool_call_id, tool_name, summary, input, expected,
       decision, created_at, settled_at
  FROM judgment.approvals WHERE user_id = %(user_id)s AND request_id = %(request_id)s

-- name: open_approvals
-- Those that nobody has carried out or given up, of one conversation or of all, the oldest first.
  SELECT request_id, conversation_id, turn_id, tool_call_id, tool_name, summary, input, expected,
         decision, created_at, settled_at
    FROM judgment.approvals
   WHERE user_id = %(user_id)s AND settled_at IS NULL
     AND (%(conversation_id)s::text IS NULL OR conversation_id = %(conversation_id)s)
ORDER BY created_at, request_id

-- name: decide
-- The owner's first answer; later ones change nothing.
UPDATE judgment.approvals SET decision = %(decision)s, decided_at = %(at)s
 WHERE user_id = %(user_id)s AND request_id = %(request_id)s
   AND decision = 'pending' AND settled_at IS NULL

-- name: settle
-- Whoever does this first carries out, or gives up, what was decided.
UPDATE judgment.approvals SET settled_at = %(at)s
 WHERE user_id = %(user_id)s AND request_id = %(request_id)s
   AND decision <> 'pending' AND settled_at IS NULL
