-- Tags and the environment of a source, as its agent declares them: {"tags": […], "environment": …}.
alter table sources add column labels jsonb not null default '{}';
select attestore_grant('sources', 'select (labels)', '{requests}');
