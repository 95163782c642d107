import { afterAll, beforeAll, expect, test } from "vitest";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { type DamagedSource, LOST_OR_ODD, startDamagedSource } from "./damaged-postgresql.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";

/**
 * Objects of a PostgreSQL source that are lost one by one, or that no restored copy can have as
 * they were: docs/damage.md.
 */

const own = new DamageTable("PostgreSQL", "PostgreSQL alone", (what) => LOST_OR_ODD.has(what));
let place: TestPlace;
let source: DamagedSource;

beforeAll(async () => {
  place = await makeTestPlace();
  source = await startDamagedSource(place);
});

afterAll(async () => {
  await source?.server.close();
  await place?.remove();
});

const SEVERAL = `
  do $$ begin for n in 1..4 loop
    execute format('create function f%s() returns int language sql as $f$select 1$f$', n); execute format('create view v%s as select 1 as one', n);
    execute format('create trigger t%s after insert on lines for each row execute function touch()', n); execute format('create policy p%s on lines', n);
    execute format('create rule r%s as on update to few do also select 1', n); execute format('create type c%s as (n int)', n);
  end loop; end $$;`;

test("one object of several that the source lost fails nothing, and is told by name and by number", async () => {
  const before = await source.damaged(SEVERAL, source.back);
  const usual = await source.test(before);
  expect(usual.result, usual.reason).toBe("passed");
  const made = await source.damaged(
    `${SEVERAL} drop trigger t2 on lines; drop function f2; drop view v2; drop policy p2 on lines; drop rule r2 on few; drop type c2; drop event trigger at_end;
     revoke update (note) on steady from pg_read_all_stats`,
    source.back,
  );
  const tested = await source.test(made, made, seenForDays(usual));
  expect(tested.result, tested.reason).toBe("passed");
  expect(tested.profile?.suspicious).toEqual([]);
  const { functions, grants } = kindsOf(usual) as Record<string, number>;
  // The copy has no event triggers. The view had a grant of the default privileges.
  expect(kindsOf(tested)["fewer"]).toBe(
    `triggers 5 of 6, functions ${functions! - 1} of ${functions}, views 5 of 6, rules 4 of 5, policies 4 of 5, types 6 of 7, grants ${grants! - 2} of ${grants}`,
  );
  const was = otherObjects(before);
  const is = otherObjects(made);
  expect(is.sha256).not.toBe(was.sha256);
  expect([was.kinds["trigger"], is.kinds["trigger"]]).toEqual([6, 5]);
  expect([was.kinds["grant"], is.kinds["grant"]]).toEqual([grants, grants! - 2]);
  const names = is.named.map(nameOf);
  expect(was.named.map(nameOf).filter((name) => !names.includes(name))).toEqual([
    "event_trigger at_end",
    "policy public.lines.p2",
    "rule public.few.r2",
    "type public.c2",
    "trigger public.lines.t2",
    "function public.f2()",
  ]);
  // The schema hash has views.
  expect(made.sourceMetadata["exact_schema_hash"]).not.toBe(before.sourceMetadata["exact_schema_hash"]);
  own.says(
    "a trigger, function, view, policy, rule, type or grant of several lost at the source",
    "reported as drift",
  );
});

const kindsOf = ({ checks }: RestoreTestResult): Readonly<Record<string, unknown>> =>
  checks.find(({ id }) => id === "inferred:kinds")?.observed ?? {};

interface OtherObjects {
  readonly sha256: string;
  readonly kinds: Readonly<Record<string, number>>;
  readonly named: readonly (readonly [kind: string, name: string, definition: string])[];
  readonly definitions: { readonly key: string };
}

const nameOf = ([kind, name]: OtherObjects["named"][number]): string => `${kind} ${name}`;

const otherObjects = (made: MadeBackup): OtherObjects => made.sourceMetadata["other_objects"] as OtherObjects;

test("another definition at the source fails nothing, and is told by name", async () => {
  const before = await source.damaged(SEVERAL, source.back);
  const made = await source.damaged(
    `${SEVERAL} alter table lines disable trigger t2; alter policy p2 on lines using (false); alter function f2() security definer;
     create or replace function f3() returns int language sql as 'select 82771';
     create or replace rule r2 as on update to few do also select 2; alter event trigger at_end disable;
     alter table lines disable row level security`,
    source.back,
  );
  const tested = await source.test(made);
  expect(tested.result, tested.reason).toBe("passed");
  const [was, is] = [otherObjects(before), otherObjects(made)];
  expect(is.definitions.key).toBe(was.definitions.key);
  const tags = new Map(is.named.map((each) => [nameOf(each), each[2]]));
  expect(was.named.filter((each) => tags.get(nameOf(each)) !== each[2]).map(nameOf)).toEqual([
    "event_trigger at_end",
    "policy public.lines.p2",
    "rule public.few.r2",
    "trigger public.lines.t2",
    "function public.f2()",
    "function public.f3()",
  ]);
  expect(was.named.filter((each) => !tags.has(nameOf(each)))).toEqual([["row_security", "public.lines"]]);
  expect(JSON.stringify(made.sourceMetadata)).not.toContain("82771");
  own.says(
    "a trigger disabled, row level security turned off, or another definition of a function, policy or rule at the source",
    "reported as drift",
  );
});

test("most grants that the source lost are missed, whichever roles it has", async () => {
  source.server.sql("create role clerk; create role auditor");
  const granted =
    "grant all on all tables in schema public to clerk; grant select on all tables in schema public to auditor; grant usage on schema public to clerk";
  const usual = await source.test(await source.damaged(granted, source.back));
  expect(usual.result, usual.reason).toBe("passed");
  const seen = seenForDays(usual);
  // Other owners, and roles that are gone with all that they had, but most grants are left.
  const fewer = await source.damaged(
    `${granted}; alter table emptied owner to auditor; revoke select on all tables in schema public from auditor`,
    source.back,
  );
  const few = await source.test(fewer, fewer, seen);
  expect(few.result, few.reason).toBe("passed");
  const revoked = await source.damaged(
    `${granted}; revoke all on all tables in schema public from clerk, auditor`,
    source.back,
  );
  own.noticed("most grants revoked at the source", await source.test(revoked, revoked, seen), ": grants ");
  source.server.sql("drop role clerk; drop role auditor");
});

test("an event trigger at the source, which only a superuser may create", async () => {
  const made = await source.damaged(
    "create event trigger at_start on ddl_command_start execute function told()",
    source.back,
  );
  const tested = await source.test(made);
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.find(({ id }) => id === "inferred:unrestored")).toMatchObject({
    result: "passed",
    observed: { differing: 0 },
  });
  own.says("an event trigger at the source", "compared in the dump");
  // An agent from before had no list of what a test does not restore.
  const { content, ...more } = made.sourceMetadata as unknown as { content: Record<string, unknown> };
  const { unrestored: _, ...earlier } = content;
  const old = {
    ...made,
    sourceMetadata: { ...more, content: earlier } as unknown as typeof made.sourceMetadata,
  };
  await expect(source.test(old)).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("an event trigger") as string,
  });
});

test("at the source, an index whose function is declared immutable and is not", async () => {
  const made = await source.damaged(
    `create function fickle(int) returns float8 immutable language plpgsql as 'begin return random(); end';
     create index by_chance on steady (fickle(id))`,
    source.back,
  );
  own.noticed(
    "an index made with a function that is declared immutable and is not",
    await source.test(made),
    "public.by_chance",
  );
});

test("at the source, an index whose function depends on the time, although the time stands still in a transaction", async () => {
  const made = await source.damaged(
    `create function seconds_ago(int) returns float8 immutable language sql as 'select extract(epoch from now()) - $1';
     create index by_age on steady (seconds_ago(id))`,
    source.back,
  );
  own.noticed(
    "an index made with a function of the time that is declared immutable",
    await source.test(made),
    "public.by_age",
  );
});

test("every case of the tables is here", () => own.everyCaseIsHeld());
