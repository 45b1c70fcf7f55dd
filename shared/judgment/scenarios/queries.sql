-- name: lock_owner
-- Make one owner's rounds take turns until the transaction ends, and say who keeps their profile.
select score_owner
from judgment.profile_state
where user_id = %(user_id)s
for update;

-- name: owner_is_known
-- Whether there is such an owner at all.
select exists (
    select from public.profiles f where f.id = %(user_id)s
) as known;

-- name: playable
-- A scenario that this owner may play: everybody's, or one made for them.
select
    c.scenario_id,
    s.theme,
    s.category,
    c.owner_user_id,
    c.title,
    c.description,
    c.options,
    c.constraints,
    c.stimuli,
    c.archived,
    c.library_key
from judgment.scenario_contents c
inner join public.scenarios s on s.id = c.scenario_id
where c.scenario_id = %(scenario_id)s
    and not c.archived
    and (c.owner_user_id is null or c.owner_user_id = %(user_id)s);

-- name: open_serving
-- The round that an owner was shown of a scenario and has not decided.
select
    v.id,
    v.scenario_id,
    v.retest_of,
    v.outcome_of
from judgment.servings v
where v.user_id = %(user_id)s
    and v.scenario_id = %(scenario_id)s
    and v.decision_id is null;

-- name: open_canonical_servings
-- Undecided canonical rounds, of one theme or of any, the one shown last first.
select
    v.id,
    v.scenario_id,
    v.retest_of,
    v.outcome_of
from judgment.servings v
inner join public.scenarios s on s.id = v.scenario_id
inner join judgment.scenario_contents c on c.scenario_id = v.scenario_id
where v.user_id = %(user_id)s
    and v.decision_id is null
    and not c.archived
    and c.owner_user_id is null
    and s.theme <> 'personal'
    and (%(theme)s::text is null or s.theme = %(theme)s::text)
order by v.served_at desc, v.id;

-- name: add_serving
-- Keep what is about to be shown, as the latest of its owner's whatever the clock says.
insert into judgment.servings (id, user_id, scenario_id, retest_of, outcome_of, served_at)
values (
    %(id)s,
    %(user_id)s,
    %(scenario_id)s,
    %(retest_of)s,
    %(outcome_of)s,
    greatest(
        %(served_at)s,
        (
            select max(o.served_at) + interval '1 microsecond'
            from judgment.servings o
            where o.user_id = %(user_id)s
        )
    )
);

-- name: serve_again
-- It is shown once more, and so the latest of its owner's whatever the clock says.
update judgment.servings v
set served_at = greatest(
    %(served_at)s,
    (
        select max(o.served_at) + interval '1 microsecond'
        from judgment.servings o
        where o.user_id = v.user_id and o.id <> v.id
    )
)
where v.id = %(id)s;

-- name: close_serving
-- The round is decided.
update judgment.servings
set decision_id = %(decision_id)s
where user_id = %(user_id)s
    and scenario_id = %(scenario_id)s
    and decision_id is null;

-- name: canonical_versions
-- Which scenarios may be offered to anybody, and which text of each; few bytes for each round.
select
    c.scenario_id,
    c.content_sha256
from judgment.scenario_contents c
inner join public.scenarios s on s.id = c.scenario_id
where c.owner_user_id is null
    and not c.archived
    and s.theme <> 'personal'
order by c.scenario_id;

-- name: canonical
-- Some of them in full.
select
    c.scenario_id,
    s.theme,
    s.category,
    c.owner_user_id,
    c.title,
    c.description,
    c.options,
    c.constraints,
    c.stimuli,
    c.archived,
    c.library_key
from judgment.scenario_contents c
inner join public.scenarios s on s.id = c.scenario_id
where c.scenario_id = any(%(ids)s::uuid[]);

-- name: answered
-- What an owner decided, by scenario, counted in their rounds.
select
    d.scenario_id,
    (array_agg(d.id order by d.round desc))[1] as decision_id,
    min(d.round) as first_round,
    max(d.round) as last_round,
    max(d.recorded_at) as last_at,
    count(*) as times
from (
    select
        e.id,
        e.scenario_id,
        e.recorded_at,
        row_number() over (order by e.recorded_at, e.id) as round
    from judgment.decisions e
    where e.user_id = %(user_id)s
) d
group by d.scenario_id;

-- name: is_answered
-- Whether an owner has decided on a scenario before.
select exists (
    select
    from judgment.decisions d
    where d.user_id = %(user_id)s and d.scenario_id = %(scenario_id)s
) as answered;

-- name: decision
-- One decision of an owner.
select
    d.id,
    d.scenario_id,
    d.scenario_title,
    d.category,
    d.theme,
    d.options,
    d.chosen_option_id,
    d.chosen_label,
    d.rationale,
    d.confidence::float8 as confidence,
    d.response_ms,
    d.first_option_id,
    d.predicted_peer_option_id,
    d.self_predicted_option_id,
    d.stimuli,
    d.retest_of,
    d.outcome_of,
    d.recorded_at
from judgment.decisions d
where d.user_id = %(user_id)s and d.id = %(id)s;

-- name: add_choice
-- The id that a decision and its snapshot hang on.
insert into public.choices (id, user_id)
values (%(id)s, %(user_id)s);

-- name: add_snapshot
-- Freeze profile and context as they are before a decision; emptying the context waits (ruling 4).
insert into public.evaluation_snapshots (
    id,
    choice_id,
    user_id,
    profile_state,
    personal_context_snapshot,
    personal_context_sha256
)
select
    %(id)s,
    %(decision_id)s,
    f.id,
    (
        select to_jsonb(p)
        from public.player_decision_profiles p
        where p.user_id = f.id
    ),
    nullif(f.personal_context, ''),
    encode(sha256(convert_to(nullif(f.personal_context, ''), 'UTF8')), 'hex')
from public.profiles f
where f.id = %(user_id)s
for share of f;

-- name: add_decision
-- Store a decision, later than every earlier one of its owner whatever the clock says.
insert into judgment.decisions (
    id,
    user_id,
    scenario_id,
    scenario_title,
    category,
    theme,
    options,
    chosen_option_id,
    chosen_label,
    rationale,
    confidence,
    response_ms,
    first_option_id,
    predicted_peer_option_id,
    self_predicted_option_id,
    stimuli,
    retest_of,
    outcome_of,
    source,
    recorded_at
)
values (
    %(id)s,
    %(user_id)s,
    %(scenario_id)s,
    %(scenario_title)s,
    %(category)s,
    %(theme)s,
    %(options)s,
    %(chosen_option_id)s,
    %(chosen_label)s,
    %(rationale)s,
    %(confidence)s,
    %(response_ms)s,
    %(first_option_id)s,
    %(predicted_peer_option_id)s,
    %(self_predicted_option_id)s,
    %(stimuli)s,
    %(retest_of)s,
    %(outcome_of)s,
    'judgment',
    greatest(
        %(now)s,
        (
            select max(d.recorded_at) + interval '1 microsecond'
            from judgment.decisions d
            where d.user_id = %(user_id)s
        )
    )
);

-- name: add_missing_snapshot
-- Count a decision whose profile before it is gone; no target, because it may not be read here.
insert into judgment.missing_snapshots (decision_id, user_id)
values (%(decision_id)s, %(user_id)s)
on conflict do nothing;
