-- name: stored_profile
-- One owner's profile row as JSON, whatever columns it has, with the score, who owns the score,
-- and of the last summary: from how many decisions, and 1 where a move asks for a newer one.
select
    (
        select to_jsonb(p)::text
        from public.player_decision_profiles p
        where p.user_id = %(user_id)s
    ) as profile,
    (select f.sync_score::text from public.profiles f where f.id = %(user_id)s) as sync_score,
    (
        select s.score_owner
        from judgment.profile_state s
        where s.user_id = %(user_id)s
    ) as score_owner,
    (
        select array[
            r.games_analyzed,
            (r.requested_seq > greatest(r.done_seq, r.retried_seq))::integer
        ]
        from judgment.summary_state r
        where r.user_id = %(user_id)s
    ) as summary;

-- name: profile_row
-- The same row alone, for a role that may read no more.
select to_jsonb(p)::text as profile
from public.player_decision_profiles p
where p.user_id = %(user_id)s;

-- name: recent_decisions
-- One owner's latest decisions by their labels; long rationales are cut before they travel.
select
    scenario_id,
    scenario_title,
    category,
    theme,
    chosen_label,
    left(rationale, 8000) as rationale,
    recorded_at
from judgment.decisions
where user_id = %(user_id)s
order by recorded_at desc, id
limit %(limit)s;

-- name: decisions_of
-- Everything `build` reads of one owner, oldest first.
select
    id,
    scenario_id,
    scenario_title,
    category,
    theme,
    options,
    chosen_option_id,
    chosen_label,
    left(rationale, 8000) as rationale,
    confidence,
    response_ms,
    first_option_id,
    predicted_peer_option_id,
    self_predicted_option_id,
    stimuli,
    retest_of,
    outcome_of,
    recorded_at
from judgment.decisions
where user_id = %(user_id)s
order by recorded_at, id;

-- name: save_progress
-- Write what was built of a profile, and the score where it is ours to write (ruling 22); the texts
-- and columns that are not ours keep what they hold.
with scored as (
    update public.profiles f
    set sync_score = %(sync_score)s
    where f.id = %(user_id)s
        and exists (
            select
            from judgment.profile_state s
            where s.user_id = f.id and s.score_owner = 'judgment'
        )
)
insert into public.player_decision_profiles as p (
    user_id,
    games_analyzed,
    reasoning_style_distribution,
    attention_distribution,
    confidence_calibration,
    timing_signature,
    persuadability,
    peer_reading,
    dissent_profile,
    authenticity,
    learning_rate,
    occasion_noise,
    self_awareness,
    name_bias_signal,
    category_patterns,
    context_rules,
    option_preferences
)
values (
    %(user_id)s,
    %(games_analyzed)s,
    %(reasoning_style_distribution)s,
    %(attention_distribution)s,
    %(confidence_calibration)s,
    %(timing_signature)s,
    %(persuadability)s,
    %(peer_reading)s,
    %(dissent_profile)s,
    %(authenticity)s,
    %(learning_rate)s,
    %(occasion_noise)s,
    %(self_awareness)s,
    %(name_bias_signal)s,
    %(category_patterns)s,
    %(context_rules)s,
    %(option_preferences)s
)
on conflict (user_id) do update set
    games_analyzed = excluded.games_analyzed,
    reasoning_style_distribution = excluded.reasoning_style_distribution,
    attention_distribution = excluded.attention_distribution,
    confidence_calibration = excluded.confidence_calibration,
    timing_signature = excluded.timing_signature,
    persuadability = excluded.persuadability,
    peer_reading = excluded.peer_reading,
    dissent_profile = excluded.dissent_profile,
    authenticity = excluded.authenticity,
    learning_rate = excluded.learning_rate,
    occasion_noise = excluded.occasion_noise,
    self_awareness = excluded.self_awareness,
    name_bias_signal = excluded.name_bias_signal,
    category_patterns = excluded.category_patterns,
    context_rules = excluded.context_rules,
    option_preferences = excluded.option_preferences;

-- name: own_score
-- Take charge of the score of an owner who has none, before their first profile is written: who has
-- a profile or a score and nobody in charge of it comes from a Sync app, which keeps it (ruling 22).
insert into judgment.profile_state (user_id, score_owner)
select f.id, 'judgment'
from public.profiles f
where f.id = %(user_id)s
    and coalesce(f.sync_score, 0) = 0
    and not exists (
        select from public.player_decision_profiles p where p.user_id = f.id
    )
on conflict (user_id) do nothing;

-- name: touch_profile
-- Say when a decision was last analysed; only where the table has the column for it.
update public.player_decision_profiles
set updated_at = now()
where user_id = %(user_id)s;

-- name: carried
-- One decision as it is stored, and all that its profile is carried forward from: the owner's part
-- and its domain's of this version, the marks it needs, and the owner's two latest decisions.
select
    d.id,
    d.scenario_id,
    d.scenario_title,
    d.category,
    d.theme,
    d.options,
    d.chosen_option_id,
    d.chosen_label,
    left(d.rationale, 8000) as rationale,
    d.confidence,
    d.response_ms,
    d.first_option_id,
    d.predicted_peer_option_id,
    d.self_predicted_option_id,
    d.stimuli,
    d.retest_of,
    d.outcome_of,
    d.recorded_at,
    array(
        select l.id
        from judgment.decisions l
        where l.user_id = %(user_id)s
        order by l.recorded_at desc, l.id desc
        limit 2
    ) as latest,
    (
        select a.state
        from judgment.profile_accumulators a
        where a.user_id = %(user_id)s and a.part = 'owner' and a.version = %(version)s
    ) as owner_state,
    (
        select a.state
        from judgment.profile_accumulators a
        where a.user_id = %(user_id)s and a.part = d.category and a.version = %(version)s
    ) as category_state,
    (
        select jsonb_object_agg(m.key, m.value)
        from judgment.profile_marks m
        where m.user_id = %(user_id)s and m.key = any(%(keys)s)
    ) as marks,
    exists (
        select
        from pg_catalog.pg_attribute c
        where c.attrelid = 'public.player_decision_profiles'::regclass
            and c.attname = 'updated_at'
            and not c.attisdropped
    ) as says_when
from judgment.decisions d
where d.user_id = %(user_id)s and d.id = %(id)s;

-- name: mark
-- One mark that was not among those looked up with the decision.
select m.value
from judgment.profile_marks m
where m.user_id = %(user_id)s and m.key = %(key)s;

-- name: forget_carried
-- Before everything is taken in anew: no part and no mark of the owner is left.
with parts as (
    delete from judgment.profile_accumulators
    where user_id = %(user_id)s
)
delete from judgment.profile_marks
where user_id = %(user_id)s;

-- name: carry
-- Keep the parts and marks that a decision changed.
with parts as (
    insert into judgment.profile_accumulators as a (user_id, part, version, state)
    select %(user_id)s, p.part, %(version)s, p.state
    from unnest(%(parts)s::text[], %(states)s::text[]) as p (part, state)
    on conflict (user_id, part) do update set
        version = excluded.version,
        state = excluded.state,
        updated_at = now()
)
insert into judgment.profile_marks as m (user_id, key, value)
select %(user_id)s, n.key, n.value
from unnest(%(keys)s::text[], %(values)s::text[]) as n (key, value)
on conflict (user_id, key) do update set value = excluded.value;
