import { randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestDatabase, openTestDatabase } from "../../../test/database/test-database.ts";
import { createSealer } from "../../platform/http/sealer.ts";
import { listQueuedMail, queueMail } from "../../platform/mail/outbox.ts";
import { SEALED_COLUMNS, resealAll } from "./reseal.ts";
import { rememberAnswer } from "../../platform/http/idempotency.ts";

let server: TestDatabase;
beforeAll(async () => {
  server = await openTestDatabase();
});
afterAll(() => server.close());

const [from, to] = [createSealer(randomBytes(32)), createSealer(randomBytes(32))];

test("every sealed column is known", async () => {
  const { rows } = await server.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = current_schema() and data_type = 'bytea' and column_name like '%sealed%' order by 1`,
  );
  const known = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  expect([...rows.map(({ name }) => name), "idempotency_keys.body"].toSorted()).toEqual(known.toSorted());
});

test("everything opens with the new key and nothing with the one of before; or, where a box is damaged, nothing changes", async () => {
  const bootstrap = newId("bootstrap");
  const scopeSha256 = randomBytes(32);
  const now = new Date();
  const later = new Date(now.getTime() + 3_600_000);
  await server.database.transaction().execute(async (tx) => {
    await queueMail(tx, from, { to: "a@example.org", subject: "s", text: "ABCD-EFGH" }, later);
    const key = { scopeSha256, fingerprint: randomBytes(32), createdAt: now, expiresAt: later };
    await rememberAnswer(tx, key, { status: 201, body: Buffer.from("answer"), replayed: false }, from);
    await tx
      .insertInto("bootstraps")
      .values({
        id: bootstrap,
        code_sha256: randomBytes(32),
        poll_token_sha256: randomBytes(32),
        name: "host-1",
        hostname: "host-1",
        address: "127.0.0.1",
        platform: "linux-x64",
        agent_version: "0.1.0",
        public_key: randomBytes(32),
        expires_at: later,
        sealed_token: await from.seal(Buffer.from("token"), `bootstrap:${bootstrap}`),
      })
      .execute();
  });
  const reseal = () => server.database.transaction().execute((tx) => resealAll(tx, from, to));
  await sql`update bootstraps set sealed_token = sealed_token || '\\x00'::bytea`.execute(server.database);
  await expect(reseal()).rejects.toThrow();
  expect(await listQueuedMail(server.database, from)).toMatchObject([{ text: "ABCD-EFGH" }]);
  await sql`update bootstraps set sealed_token = substring(sealed_token for length(sealed_token) - 1)`.execute(
    server.database,
  );
  expect(await reseal()).toBe(3);
  expect(await listQueuedMail(server.database, to)).toMatchObject([{ text: "ABCD-EFGH" }]);
  await expect(listQueuedMail(server.database, from)).rejects.toThrow();
  const { rows } = await server.pool.query<{ body: Buffer }>(
    "select body from idempotency_keys where scope_sha256 = $1",
    [scopeSha256],
  );
  expect((await to.open(rows[0]?.body ?? Buffer.of(), "idempotency")).toString()).toBe("answer");
  const row = await server.database.selectFrom("bootstraps").select("sealed_token").executeTakeFirstOrThrow();
  expect((await to.open(row.sealed_token ?? Buffer.of(), `bootstrap:${bootstrap}`)).toString()).toBe("token");
});
