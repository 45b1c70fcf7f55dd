-- name: bring_conversation
-- A conversation as another memory had it, unless there is one of its id.
INSERT INTO judgment.conversations
       (user_id, id, title, created_at, updated_at, message_count, active_skill_ids)
VALUES (%(user_id)s, %(id)s, %(title)s, %(created_at)s, %(updated_at)s, %(message_count)s,
        %(active_skill_ids)s::json)
ON CONFLICT DO NOTHING

-- name: bring_messages
-- Its messages.
INSERT INTO judgment.conversation_messages
       (user_id, conversation_id, position, id, turn_id, role, content, sent_at)
SELECT %(user_id)s, %(conversation_id)s, given.position, given.id, given.turn_id, given.role,
       given.content, given.sent_at
  FROM unnest(%(positions)s::integer[], %(ids)s::text[], %(turns)s::uuid[], %(roles)s::text[],
              %(contents)s::text[], %(times)s::timestamptz[])
       AS given (position, id, turn_id, role, content, sent_at)

-- name: bring_project
-- A page behind the others as another memory had it, unless there is one of its id.
INSERT INTO judgment.projects (user_id, id, position, name, icon, default_skill_ids)
SELECT %(user_id)s, %(id)s, coalesce(max(position), 0) + 1, %(name)s, %(icon)s,
       %(default_skill_ids)s::json
  FROM judgment.projects WHERE user_id = %(user_id)s
    ON CONFLICT DO NOTHING
