-- name: stored_profile
-- One owner's profile row as JSON, whatever columns it has, with the score and who owns the score.
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
    ) as score_owner;

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

-- name: save_profile
-- Write a built profile and its texts; columns that are not ours keep what they hold.
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
    option_preferences,
    summary_text,
    agent_context_block,
    summary_model_version,
    summary_generated_at
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
    %(option_preferences)s,
    %(summary_text)s,
    %(agent_context_block)s,
    %(summary_model_version)s,
    %(summary_generated_at)s
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
    option_preferences = excluded.option_preferences,
    summary_text = excluded.summary_text,
    agent_context_block = excluded.agent_context_block,
    summary_model_version = excluded.summary_model_version,
    summary_generated_at = excluded.summary_generated_at;

-- name: save_documents
-- Write what was built of a profile; its texts and columns that are not ours keep what they hold.
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

-- name: save_score
-- Write the score where it is ours to write (ruling 22).
update public.profiles f
set sync_score = %(sync_score)s
where f.id = %(user_id)s
    and exists (
        select
        from judgment.profile_state s
        where s.user_id = f.id and s.score_owner = 'judgment'
    );
