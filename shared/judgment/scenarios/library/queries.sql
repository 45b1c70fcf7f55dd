-- name: alone
-- One loader at a time in a database; the others wait and then find nothing left to do.
select pg_advisory_xact_lock(%(lock)s);

-- name: made_here
-- Whether public.scenarios is ours, rather than a Sync app's.
select judgment.made_here('public.scenarios');

-- name: foreign_columns
-- What a Sync app's scenarios have besides what we know of, and whether it must be filled in.
select
    attname as name,
    attnotnull and not atthasdef and attidentity = '' as required
from pg_catalog.pg_attribute
where attrelid = 'public.scenarios'::regclass
    and attnum > 0
    and not attisdropped
    and attname <> all(%(known)s)
order by attnum;

-- name: loaded
-- What of the library is in this database.
select
    scenario_id,
    library_key,
    content_sha256,
    archived
from judgment.scenario_contents
where library_key is not null;

-- name: add_scenario
-- Put a scenario where Sync's tables and ours can point at it.
insert into public.scenarios (id, theme, category)
values (%(scenario_id)s, %(theme)s, %(category)s)
on conflict (id) do nothing;

-- name: add_contents
-- Put in the text of a scenario of the library.
insert into judgment.scenario_contents (
    scenario_id,
    title,
    description,
    options,
    constraints,
    stimuli,
    library_key,
    content_sha256
)
values (
    %(scenario_id)s,
    %(title)s,
    %(description)s,
    %(options)s,
    %(constraints)s,
    %(stimuli)s,
    %(library_key)s,
    %(content_sha256)s
);

-- name: change_scenario
-- Give a scenario of the library the theme and category it has now.
update public.scenarios
set
    theme = %(theme)s,
    category = %(category)s
where id = %(scenario_id)s
    and (theme, category) is distinct from (%(theme)s, %(category)s);

-- name: change_contents
-- Give a scenario of the library the text it has now, and serve it again where it was archived.
update judgment.scenario_contents
set
    title = %(title)s,
    description = %(description)s,
    options = %(options)s,
    constraints = %(constraints)s,
    stimuli = %(stimuli)s,
    content_sha256 = %(content_sha256)s,
    archived = false
where scenario_id = %(scenario_id)s;

-- name: archive
-- Serve no longer what the library no longer has; decisions on it stay.
update judgment.scenario_contents
set archived = true
where scenario_id = any(%(scenario_ids)s);
