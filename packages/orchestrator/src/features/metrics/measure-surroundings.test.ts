import { tmpdir } from "node:os";
import pg from "pg";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestOrg, type TestService } from "../../../test/service.ts";
import { measurePools, measureSurroundings } from "./measure-surroundings.ts";

let service: TestService;
let org: TestOrg;
let agentId: string;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  ({ id: agentId } = await service.attach(org));
});
afterAll(() => service.close());

/** A scrape that nothing was remembered for. */
async function scraped(around: { pool?: pg.Pool; certificate?: string } = {}): Promise<string> {
  const registry = new Registry();
  const pool = around.pool ?? service.pool;
  measureSurroundings(registry, {
    dataDirectory: tmpdir(),
    certificate: () => around.certificate ?? service.ca,
    log: pool,
    jobs: pool,
  });
  return registry.metrics();
}

const valueOf = (text: string, name: string): number =>
  Number(new RegExp(`^attestore_${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1]);

/** The head of so many hours ago had the size. */
const emit = (hours: number, size: number): Promise<unknown> =>
  service.pool.query(
    `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint)
     values ($1, date_trunc('hour', now()) - make_interval(hours => $2), now(), $3, sha256(''), '')`,
    [org.id, hours, size],
  );

const witness = (size: number, cosignature: string | null): Promise<unknown> =>
  service.pool.query(
    `insert into agent_witnesses (agent_id, tree_size, checkpoint, cosignature, received_at) values ($1, $2, '', $3, now())
     on conflict (agent_id) do update set tree_size = excluded.tree_size, cosignature = excluded.cosignature`,
    [agentId, size, cosignature],
  );

test("a log is unwitnessed if there are agents, but none has cosigned the log as it was 25 hours ago", async () => {
  const unwitnessed = async (): Promise<number> => valueOf(await scraped(), "logs_unwitnessed");
  expect(await unwitnessed()).toBe(0);
  await emit(2, 9);
  expect(await unwitnessed(), "too young").toBe(0);
  await emit(40, 4);
  await emit(30, 5);
  expect(await unwitnessed()).toBe(1);
  await witness(5, null);
  expect(await unwitnessed(), "seen but not cosigned").toBe(1);
  await witness(4, "cosigned");
  expect(await unwitnessed(), "an older head cosigned").toBe(1);
  await witness(5, "cosigned");
  expect(await unwitnessed()).toBe(0);
  await witness(4, "cosigned");
  await service.pool.query("update agents set status = 'revoked', revoked_at = now() where id = $1", [
    agentId,
  ]);
  expect(await unwitnessed(), "no agent is left").toBe(0);
});

test("the oldest mail, the certificate's end, the disk and the connections are shown", async () => {
  expect(valueOf(await scraped(), "mail_oldest_seconds")).toBe(0);
  await service.pool.query(
    `insert into mail_outbox (sealed, expires_at, created_at)
     select '\\x00', now() + interval '1 day', now() - make_interval(mins => n) from generate_series(1, 60) as n`,
  );
  const text = await scraped();
  expect(Math.round(valueOf(text, "mail_oldest_seconds") / 60)).toBe(60);
  expect(valueOf(text, "certificate_not_after_timestamp_seconds")).toBeGreaterThan(Date.now() / 1000);
  expect(valueOf(text, "disk_free_bytes")).toBeGreaterThan(0);
  expect(valueOf(text, "clocks_apart_seconds")).toBeLessThan(2);
  expect(valueOf(text, "standbys_unawaited")).toBe(0);
});

test("work that waits for a connection is counted, and what cannot be measured is left out", async () => {
  const pool = new pg.Pool({ ...service.connection, max: 1 });
  pool.on("error", () => undefined);
  const held = await pool.connect();
  const waiting = pool.query("select");
  const text = new Registry();
  measureSurroundings(text, {
    dataDirectory: "/nowhere",
    certificate: () => "not a certificate",
    log: service.pool,
    jobs: service.pool,
  });
  measurePools(text, { log: pool });
  const shown = await text.metrics();
  expect(shown).toContain('attestore_database_connections_waiting{pool="log"} 1');
  expect(shown).toContain('attestore_database_connections{pool="log",state="used"} 1');
  expect(shown).not.toMatch(/^attestore_disk_free_bytes \d/m);
  expect(shown).not.toMatch(/^attestore_certificate_not_after_timestamp_seconds \d/m);
  held.release();
  await waiting;
  await pool.end();
});
