import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OwnPostgres, startOwnPostgres } from "../../../test/own-postgres.ts";
import { openSequencerPool } from "../../log/sequencer/sequencer-pool.ts";
import { silentLogger } from "../logging/logger.ts";
import { connectDatabase, type DatabaseAccess } from "./database.ts";
import { AWAIT_STANDBY, NotReplicated, standbyWait } from "./standby.ts";
import { asDatabaseUnavailable } from "./unavailable.ts";

let directory: string;
let server: OwnPostgres;
let access: DatabaseAccess;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attestore-standby-"));
  await chmod(directory, 0o711);
  server = await startOwnPostgres(join(directory, "server"));
  await server.query("create table kept (n int)");
  access = connectDatabase({ connection: { connectionString: server.url }, log: silentLogger });
});
afterAll(async () => {
  await awaitStandby("");
  await access.close();
  await server.stop();
  await rm(directory, { recursive: true });
});

const WAITING = "select pid from pg_stat_activity where wait_event = 'SyncRep'";

/** From now on commits wait for a standby that does not exist, or for none. */
async function awaitStandby(name: "nobody" | ""): Promise<void> {
  await server.query(`alter system set synchronous_standby_names = '${name}'`);
  await server.query("select pg_reload_conf()");
  // The server takes a moment to follow its own settings.
  for (let waits = name === ""; !waits;) {
    const probe = server.query("select pg_logical_emit_message(true, 'probe', '')").then(() => true);
    while (!waits && !(await Promise.race([probe, delay(20, false)])))
      waits = ((await server.query(WAITING))[0]?.rowCount ?? 0) > 0;
    await server.query(WAITING.replace("pid", "pg_cancel_backend(pid)"));
    await probe;
  }
}

/** Ends all waits for the standby until this is over; gives what it failed with. */
async function failureWhile(end: "cancel" | "terminate", work: Promise<unknown>): Promise<unknown> {
  const over = work.then(
    () => "it was acknowledged",
    (error: unknown) => error,
  );
  const text = WAITING.replace("pid", `pg_${end}_backend(pid)`);
  while (!(await Promise.race([over.then(() => true), delay(20, false)]))) await server.query(text);
  return over;
}

async function rows(): Promise<unknown> {
  const [result] = await server.query("select count(*)::int as n from kept");
  return (result?.rows as { n: number }[] | undefined)?.[0]?.n;
}

describe.each(["cancel", "terminate"] as const)("a wait for the standby that pg_%s_backend ended", (end) => {
  test("fails the statement or the transaction that committed, and the next one works", async () => {
    const writes: [string, () => Promise<unknown>][] = [
      ["statement", () => access.pool.query("insert into kept values (1)")],
      ["parameters", () => access.pool.query("insert into kept values ($1)", [1])],
      ["prepared", () => access.pool.query({ name: "kept", text: "insert into kept values (1)" })],
      [
        "transaction",
        () => access.database.transaction().execute((tx) => sql`insert into kept values (1)`.execute(tx)),
      ],
    ];
    for (const [name, write] of writes) {
      await awaitStandby("nobody");
      const before = await rows();
      const failure = await failureWhile(end, write());
      expect(failure, name).toBeInstanceOf(NotReplicated);
      expect(asDatabaseUnavailable(failure)).toBe(failure);
      // It is there, and the standby lacks it.
      expect(await rows()).toBe(Number(before) + 1);
      await awaitStandby("");
      await write();
      expect(await rows()).toBe(Number(before) + 2);
    }
  });

  test("fails a batch of the log, whose statements travel together", async () => {
    const log = openSequencerPool({ connectionString: server.url }, silentLogger);
    await awaitStandby("nobody");
    const client = await log.connect();
    const batch = Promise.all(
      ["begin", "insert into kept values (1)", "commit"].map((text) => client.query(text)),
    );
    expect(await failureWhile(end, batch)).toBeInstanceOf(NotReplicated);
    client.release(true);
    await awaitStandby("");
    await log.end();
  });

  test("fails those who only ask whether the standby has everything", async () => {
    const wait = standbyWait(access.pool);
    await wait();
    await awaitStandby("nobody");
    expect(await failureWhile(end, wait())).toBeInstanceOf(NotReplicated);
    const repeat = access.database.transaction().execute((tx) => AWAIT_STANDBY.execute(tx));
    expect(await failureWhile(end, repeat)).toBeInstanceOf(NotReplicated);
    await awaitStandby("");
    await wait();
  });
});

test("nothing is written if no commit waits for a standby", async () => {
  expect((await AWAIT_STANDBY.execute(access.database)).rows).toEqual([]);
});
