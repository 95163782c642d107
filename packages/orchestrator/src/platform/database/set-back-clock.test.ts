import { afterEach, expect, test, vi } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { DatabaseClient } from "./servers.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("another server that accepts writes is found although the clock was set back by an hour", async () => {
  const databases = [await openTestDatabase(), await openTestDatabase()];
  const hostOf = ({ connection }: TestDatabase): string => connection.host ?? "";
  const hosts = databases.map((one) => encodeURIComponent(hostOf(one))).join(",");
  const connectionString = `postgresql://attestore@${hosts}/postgres?target_session_attrs=read-write`;
  const host = async (): Promise<string> => {
    const client = new DatabaseClient({ connectionString });
    await client.connect();
    await client.end();
    return client.host;
  };
  try {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    const used = await host();
    vi.useRealTimers();
    const gone = databases.findIndex((one) => hostOf(one) === used);
    await databases.splice(gone, 1)[0]?.close();
    await expect.poll(host, { timeout: 20_000 }).toBe(databases.map(hostOf)[0]);
  } finally {
    for (const one of databases) await one.close();
  }
});
