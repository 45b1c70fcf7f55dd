-- name: lock_owner
-- Waits for a round of this owner that is being recorded, whose snapshot may copy the text.
select true from judgment.profile_state where user_id = %(user_id)s for update;

-- name: lock_context
-- The text, its row held until the transaction ends, so that writers follow one another.
select personal_context from public.profiles where id = %(user_id)s for update;

-- name: context_as_shown
-- The text with what decides whether to ask for it; a Sync app keeps a profile or score that nobody
-- here took charge of (ruling 22).
select
    f.personal_context,
    f.onboarding_lightbox_dismissed_at is not null as dismissed,
    s.updated_at,
    coalesce(p.games_analyzed, 0) as games_analyzed,
    coalesce(
        o.score_owner = 'sync',
        p.user_id is not null or coalesce(f.sync_score, 0) <> 0
    ) as is_sync_profile
from public.profiles f
left join judgment.personal_context_state s on s.user_id = f.id
left join public.player_decision_profiles p on p.user_id = f.id
left join judgment.profile_state o on o.user_id = f.id
where f.id = %(user_id)s;

-- name: write_context
-- Replace the text.
update public.profiles set personal_context = %(text)s where id = %(user_id)s;

-- name: note_context_written
-- When it was replaced; the row's lock was waited for, so the transaction's start is too early.
insert into judgment.personal_context_state (user_id, updated_at)
values (%(user_id)s, clock_timestamp())
on conflict (user_id) do update set updated_at = excluded.updated_at;

-- name: dismiss_lightbox
-- The prompt was seen; the first time stays.
update public.profiles
set onboarding_lightbox_dismissed_at = coalesce(onboarding_lightbox_dismissed_at, now())
where id = %(user_id)s;

-- name: forget_snapshot_texts
-- Null the text in snapshots; its digest stays, so that what it was is known to whoever has it.
update public.evaluation_snapshots
set
    personal_context_sha256 = coalesce(
        personal_context_sha256,
        encode(sha256(convert_to(personal_context_snapshot, 'UTF8')), 'hex')
    ),
    personal_context_snapshot = null
where user_id = %(user_id)s and personal_context_snapshot is not null;

-- name: unanswered_personal
-- Rounds made for this owner that they have not decided on.
select s.id
from public.scenarios s
where s.personalized_for_user_id = %(user_id)s
    and not exists (
        select from judgment.decisions d
        where d.user_id = %(user_id)s and d.scenario_id = s.id
    );

-- name: drop_servings
-- That these rounds were shown.
delete from judgment.servings where user_id = %(user_id)s and scenario_id = any(%(ids)s);

-- name: drop_contents
-- The words of these rounds.
delete from judgment.scenario_contents
where owner_user_id = %(user_id)s and scenario_id = any(%(ids)s);

-- name: may_drop_scenarios
-- Whether the table of scenarios is ours; a Sync app's choices may hang on its rows.
select judgment.made_here('public.scenarios');

-- name: drop_scenarios
-- The rounds themselves, where the table is ours.
delete from public.scenarios
where personalized_for_user_id = %(user_id)s and id = any(%(ids)s);

-- name: made_by_domain
-- How many personal rounds an owner has, answered or not.
select s.category, count(*) as rounds
from public.scenarios s
where s.personalized_for_user_id = %(user_id)s
group by s.category;

-- name: evidence_by_domain
-- What each decision was asked and answered, counted as `profile.signals` says each signal rests.
select
    d.category,
    count(d.rationale) as rationales,
    count(d.confidence) as confidences,
    count(d.response_ms) as timings,
    count(*) filter (where d.stimuli ? 'majority_option_id') as majorities,
    count(d.predicted_peer_option_id) as peer_predictions,
    count(d.first_option_id) filter (where d.stimuli ? 'counter_arguments') as first_choices,
    count(d.self_predicted_option_id) as self_predictions
from judgment.decisions d
where d.user_id = %(user_id)s
group by d.category;

-- name: add_scenario
-- The row that decisions and a Sync app know a round by; it holds no words.
insert into public.scenarios (
    id, theme, category, personalized_for_user_id, personalization_inputs_hash
)
values (
    %(scenario_id)s, %(theme)s, %(category)s, %(owner_user_id)s, %(inputs_sha256)s
);

-- name: add_contents
-- The words of a round.
insert into judgment.scenario_contents (
    scenario_id, owner_user_id, title, description, options, constraints, stimuli
)
values (
    %(scenario_id)s,
    %(owner_user_id)s,
    %(title)s,
    %(description)s,
    %(options)s,
    %(constraints)s,
    %(stimuli)s
);

-- name: fallbacks
-- Canonical rounds that an owner was never shown, of one domain first; none that needs another
-- round beside it unless there is nothing else.
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
where c.owner_user_id is null
    and c.library_key is not null
    and not c.archived
    and not c.stimuli ? 'sequel_of'
    and not exists (
        select from judgment.decisions d
        where d.user_id = %(user_id)s and d.scenario_id = c.scenario_id
    )
    and not exists (
        select from judgment.servings v
        where v.user_id = %(user_id)s and v.scenario_id = c.scenario_id
    )
order by s.category = %(category)s desc, c.stimuli ? 'pair', c.library_key
limit 8;

-- name: serve
-- Note that a round was shown, as the owner's latest whatever the clock says; two may show one.
insert into judgment.servings (id, user_id, scenario_id, served_at)
values (
    %(id)s,
    %(user_id)s,
    %(scenario_id)s,
    greatest(
        %(served_at)s,
        (
            select max(o.served_at) + interval '1 microsecond'
            from judgment.servings o
            where o.user_id = %(user_id)s
        )
    )
)
on conflict (user_id, scenario_id) where decision_id is null
do update set served_at = excluded.served_at;
