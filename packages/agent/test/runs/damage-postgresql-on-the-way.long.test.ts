import { afterAll, beforeAll, expect, test } from "vitest";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { DamageTable, ON_WAY } from "./damage-table.ts";
import { type Damage, type DamagedSource, startDamagedSource } from "./damaged-postgresql.ts";
import { makeTestPlace, type TestPlace, reseal } from "./scratch.ts";

/** What only a PostgreSQL database has and a dump can lose: docs/damage.md. */

const own = new DamageTable("PostgreSQL", "PostgreSQL alone", (what) => what.endsWith(ON_WAY));
let place: TestPlace;
let source: DamagedSource;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startDamagedSource(place);
  // Roles that no sandbox has. The second is none of PostgreSQL's own, despite its name.
  source.server.sql(`create role app; create role "PUBLIC";
    \\connect shop
    create policy of_app on moods to app using (n > 0); create policy of_odd on moods to "PUBLIC" using (n > 0)`);
  backup = await source.back();
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

const OF_POSTGRESQL: readonly (readonly Damage[])[] = [
  [
    [
      "a policy's condition changed on the way",
      "drop policy own on lines; create policy own on lines using (n > (0) or n < 0)",
      "policy public.lines.own (other)",
    ],
    [
      "a policy for one role made for PUBLIC on the way",
      "alter policy of_app on moods to public",
      "policy public.moods.of_app (other)",
    ],
    [
      "a policy for one role made for PUBLIC on the way",
      "alter policy of_odd on moods to public",
      "policy public.moods.of_odd (other)",
    ],
    [
      "a trigger disabled on the way",
      "alter table lines disable trigger touched",
      "trigger public.lines.touched (other)",
    ],
    [
      "a constraint no longer validated on the way",
      "alter table lines drop constraint positive; alter table lines add constraint positive check (n > 0) not valid",
      "constraint public.lines.positive (other)",
    ],
    [
      "row level security turned off on the way",
      "alter table lines disable row level security",
      "table public.lines (other)",
    ],
  ],
  [
    [
      "a value of an enum lost on the way",
      "alter type mood rename to before; create type mood as enum ('a', 'b'); alter table moods alter m type mood using m::text::mood; drop type before",
      "type public.mood (other)",
    ],
    [
      "an index of a partitioned table without those of its partitions on the way",
      "drop index parts_at; create index parts_at on only parts (d)",
      "index public.parts_at (other)",
    ],
    [
      "a domain's condition changed on the way",
      "alter domain positive_n drop constraint above; alter domain positive_n add constraint above check (value >= 0)",
      "constraint public.positive_n.above (other)",
    ],
    ["a collation lost on the way", "drop collation german", "collation public.german (missing)"],
    [
      "extended statistics lost on the way",
      "drop statistics of_lines",
      "statistics public.of_lines (missing)",
    ],
  ],
  [
    [
      "a view's query changed on the way",
      "create or replace view few as select * from lines limit 6",
      "view public.few (other)",
    ],
    [
      "a rule changed on the way",
      "drop rule kept on few; create rule kept as on delete to few do also nothing",
      "rule public.few.kept (other)",
    ],
    [
      "a function that runs as its owner on the way",
      "alter function twice(int) security definer",
      "function public.twice(integer) (other)",
    ],
    [
      "a table's storage parameters changed on the way",
      "alter table steady set (fillfactor = 50)",
      "table public.steady (other)",
    ],
  ],
  [
    [
      "a partition detached on the way",
      "alter table parts detach partition parts_1",
      "table public.parts_1 (other)",
    ],
    ["a publication lost on the way", "drop publication sends", "publication sends (missing)"],
    [
      "an event trigger lost or disabled on the way",
      "alter event trigger at_end disable",
      "event trigger at_end (other)",
    ],
  ],
];

/** What nothing but the third version of the list of objects has. */
const RARER: readonly (readonly Damage[])[] = [
  [
    [
      "the next value of an unused sequence reset on the way",
      "alter sequence unused restart with 1",
      "sequence start public.unused (other)",
    ],
    [
      "a trigger that is off in one partition turned on again on the way",
      "alter table parts_1 enable trigger of_parts",
      "partition trigger public.parts_1.of_parts (missing)",
    ],
    [
      "columns of a partitioned table in another order on the way",
      "alter table spread drop x; alter table spread add x text",
      "column order public.spread (other)",
    ],
    [
      "a generated column in another place on the way",
      "alter table computed drop twice; alter table computed add twice int generated always as (a * 2) stored",
      "generated column order public.computed (other)",
    ],
    [
      "columns of a foreign table in another order on the way",
      "alter foreign table there drop a; alter foreign table there add a int",
      "column order public.there (other)",
    ],
    ["a conversion lost on the way", "drop conversion narrower", "conversion public.narrower (missing)"],
  ],
  [
    [
      "a user mapping lost on the way",
      "drop user mapping for public server away",
      "user mapping public away (missing)",
    ],
    [
      "the operator class of a range type changed on the way",
      "drop type names; create type names as range (subtype = text)",
      "range public.names (other)",
    ],
    [
      "the space that an aggregate needs changed on the way",
      "drop aggregate added(int); create aggregate added(int) (sfunc = int4pl, stype = int)",
      "aggregate public.added(integer) (other)",
    ],
    [
      "the statistics target of an index's column lost on the way",
      "alter index by_sum alter column 1 set statistics -1",
      "index column public.by_sum 1 (missing)",
    ],
  ],
  [
    [
      "storage parameters of a materialized view's TOAST table changed on the way",
      "alter materialized view counted set (toast.autovacuum_enabled = off)",
      "toast options public.counted (not at the source)",
    ],
    [
      "a function's dependency on an extension lost on the way",
      "alter function told() no depends on extension postgres_fdw",
      "extension dependency function public.told() on postgres_fdw (missing)",
    ],
    [
      "an inherited column that its table no longer declares on the way",
      "drop table heir; create table heir (c text) inherits (parent)",
      "own column public.heir.a (missing)",
    ],
    [
      "the comment of the schema `public` changed on the way",
      "comment on schema public is 'other'",
      "schema comment public (not at the source)",
    ],
    [
      "an extension's comment changed on the way",
      "comment on extension pg_trgm is 'other'",
      "extension comment pg_trgm (other)",
    ],
  ],
];

/** Rights are granted to roles that every server has. */
const PRIVILEGES: readonly (readonly Damage[])[] = [
  [
    [
      "the password of a user mapping changed on the way",
      "alter user mapping for pg_monitor server away options (set password 'other')",
      "user mapping options pg_monitor away (other)",
    ],
    [
      "the owner of a conversion changed on the way",
      "alter conversion wider owner to pg_monitor",
      "conversion owner public.wider (other)",
    ],
    [
      "a grant on a function of the server added on the way",
      "grant execute on function pg_read_file(text) to pg_monitor",
      "grants on system objects (not at the source)",
    ],
    [
      "a grant on a function of an extension added on the way",
      "revoke execute on function similarity(text, text) from public",
      "grants on extension objects (not at the source)",
    ],
  ],
  [
    [
      "a grant lost on the way",
      "revoke select on steady from pg_monitor",
      "privileges table public.steady (other)",
    ],
    [
      "a right that was revoked from PUBLIC given back on the way",
      "grant execute on function twice(int) to public",
      "privileges function public.twice(integer) (other)",
    ],
    [
      "an owner changed on the way",
      "alter table changed owner to current_user",
      "privileges table public.changed (other)",
    ],
    [
      "default privileges lost on the way",
      "alter default privileges in schema public revoke select on tables from pg_monitor",
      "default privileges",
    ],
  ],
];

const CASES = [...OF_POSTGRESQL, ...RARER, ...PRIVILEGES];

test.each(CASES.map((each) => [each]))("on the way: %#", async (damages) => {
  const dump = await source.damaged(damages.map((each) => each[1]).join(";\n"), (name) =>
    Promise.resolve(source.dumpOf(name)),
  );
  const tested = await source.test(backup, await reseal(place, dump));
  for (const [what, , names] of damages) own.noticed(what, tested, names);
  expect(JSON.stringify([tested, backup.sourceMetadata])).not.toContain("never-to-be-seen");
});

test("every case of the table is here", () => own.everyCaseIsHeld());
