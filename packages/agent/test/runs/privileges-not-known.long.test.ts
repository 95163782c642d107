import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { Readable } from "node:stream";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lookIntoArchive } from "../../src/engines/postgresql/restore/archive-start.ts";
import { tryPrivileges } from "../../src/engines/postgresql/privileges/try-privileges.ts";
import { PsqlSession } from "../../src/engines/postgresql/connection/psql-session.ts";
import type { ScratchServer } from "../../src/engines/scratch-server.ts";
import { programsIn } from "../../src/processes/run-program.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Where owners and grants cannot be known, and whose those are that no dump has. */

const never = new AbortController().signal;

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql("create role reader");
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

test("a range type's functions compare equal, whoever the server's first superuser is, to whom they belong", async () => {
  const own = await startSourcePostgres(place.dir, "postgres");
  try {
    own.sql(`create role app; create type span as range (subtype = float8); alter type span owner to app;
      create table stays (id int primary key, during span); insert into stays values (1, span(1, 2));`);
    const made = await backUp(place, own.source);
    const tested = await testBackup(place, own.source, made);
    expect(tested.reason).toBeUndefined();
    const privileges = tested.checks.find(({ id }) => id === "inferred:privileges");
    expect(privileges).toMatchObject({ result: "passed", observed: { objects: 4, differing: 0 } });
    expect(privileges?.observed).not.toHaveProperty("not_compared");
    // No dump has this, so the copy lets everybody run the function.
    own.sql("revoke execute on function span(float8, float8) from public");
    const revoked = await testBackup(place, own.source, await backUp(place, own.source));
    expect(revoked.reason).toBeUndefined();
    expect(comparedContentText(revoked.checks)).toContain(
      "owners and grants of 4 objects compared, not compared: all of the kind type function grants",
    );
  } finally {
    await own.close();
  }
});

/** The source, in the place of a scratch server. */
const asScratch = () => ({ run: programsIn(server.bin, server.environment) }) as unknown as ScratchServer;

test("of a dump with more than 64 MiB of SQL, owners and grants are not known, wherever it is cut off", async () => {
  server.sql(`create database large template template0;
    \\connect large
    create table t ();
    do $$ begin execute format('comment on table t is %L', repeat('x', 65 << 20)); end $$;
    grant select on t to reader;`);
  const dump = execFileSync(join(server.bin, "pg_dump"), ["--format=custom", "--compress=0", "large"], {
    env: { ...process.env, ...server.environment },
    maxBuffer: 128 << 20,
  });
  server.sql("drop database large");
  const looked = await lookIntoArchive(
    asScratch(),
    Readable.from([dump]),
    { privileges: true, unrestored: true },
    never,
  );
  await looked.close();
  expect(looked.privileges).toBeNull();
  expect(looked.unrestored).toBeNull();
});

test("where the server has no room for all owners and grants, they are not known", async () => {
  server.sql(`create database wide template template0;
    \\connect wide
    create table t (id int);
    do $$ begin for n in 1..100 loop execute 'create index on t (id)'; end loop; end $$`);
  const tried = () =>
    tryPrivileges(
      asScratch(),
      "wide",
      { statements: () => ["ALTER TABLE public . t OWNER TO reader"], roles: ["reader"] },
      never,
    );
  // The table, and the owner and the grants of the database.
  expect((await tried())?.listed).toHaveLength(3);
  const holder = await PsqlSession.open(programsIn(server.bin, server.environment), {}, never);
  try {
    const locked = await holder.run("select pg_advisory_lock(n) from generate_series(1, 1000000) n");
    expect(locked).toMatchObject({ ok: false, sqlstate: "53200" });
    // That is room for the list, and not for the locks of all indexes.
    await holder.run("select pg_advisory_unlock(n) from generate_series(1, 80) n");
    expect(await tried()).toBeNull();
  } finally {
    await holder.run("select pg_advisory_unlock_all()");
    await holder.close();
  }
});
