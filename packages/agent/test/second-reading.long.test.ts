import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStandaloneBackend } from "../src/backends/standalone/standalone-backend.ts";
import { downloadAndTest } from "../src/cli/restore-test/download-and-test.ts";
import { readConfig } from "../src/config/config.ts";
import { layoutOf } from "../src/state/layout.ts";
import { runCli, type Finished } from "./service/cli.ts";
import { attachedRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/** A store that gives back other bytes once, and one that always does. */

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-reading-"));
  const database = new DatabaseSync(join(base, "shop.db"));
  database.exec(`create table orders (id integer primary key);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) insert into orders select i from n`);
  database.close();
});
afterEach(() => rmSync(base, { recursive: true }));

interface Tested {
  readonly result: string;
  readonly reason: string | null;
  readonly checks: readonly { id: string; observed: Record<string, unknown> }[];
}

const flipped = (bytes: Buffer): Buffer => {
  const other = Buffer.from(bytes);
  other[other.length >> 1]! ^= 4;
  return other;
};

it("an object store that flips a bit once fails no test, and the receipt and the command say so", async () => {
  const service = await TestService.start();
  const root = await attachedRoot(service, `  shop: { engine: sqlite, path: ${join(base, "shop.db")} }\n`);
  const cli = (...args: string[]): Promise<Finished> =>
    runCli(args, { env: { ATTESTORE_HOME: root.layout.root }, cwd: base });
  try {
    const backup = await cli("backup");
    expect(backup.code, backup.stderr).toBe(0);
    const [[key, stored] = expect.unreachable()] = [...service.objects];
    let flips = 0;
    let readings = 0;
    service.interfere = ({ route }) => {
      if (route !== `GET /objects/${key}`) return undefined;
      service.objects.set(key, readings++ < flips ? flipped(stored) : stored);
      return undefined;
    };
    const test = async (times: number, code: number): Promise<Tested> => {
      [flips, readings] = [times, 0];
      const done = await cli("restore-test", "--json");
      expect(done.code, done.stdout + done.stderr).toBe(code);
      return JSON.parse(done.stdout) as Tested;
    };
    expect((await test(0, 0)).checks.map(({ id }) => id)).not.toContain("inferred:reading");
    expect(readings).toBe(1);
    expect(await test(1, 0)).toMatchObject({
      result: "passed",
      checks: expect.arrayContaining([
        expect.objectContaining({
          id: "inferred:reading",
          observed: expect.objectContaining({ readings: 2 }) as object,
        }),
      ]) as object[],
    });
    expect(readings).toBe(2);
    // The URL is asked for again, because the first may be too old by then.
    expect(service.calls.filter(({ route }) => route.endsWith("/download-url"))).toHaveLength(3);
    const signed = JSON.stringify(
      service.receipts.map(({ envelope }) => Buffer.from(envelope.payload, "base64").toString()),
    );
    expect(signed.match(/inferred:reading/g)).toHaveLength(1);
    [flips, readings] = [1, 0];
    expect((await cli("restore-test")).stdout).toContain(
      "read twice: the first reading of the stored backup was damaged",
    );
    expect(await test(99, 1)).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("damaged both times") as string,
    });
    expect(readings).toBe(2);
  } finally {
    root.remove();
    await service.stop();
  }
});

it("a directory that gives back other bytes once fails no test either", async () => {
  const [root, storage] = [join(base, "root"), join(base, "disk")];
  const cli = (...args: string[]): Promise<Finished> =>
    runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });
  mkdirSync(storage);
  expect((await cli("init", "--standalone", "--storage", storage)).code).toBe(0);
  const file = join(root, "config.yaml");
  const source = `shop: { engine: sqlite, path: ${join(base, "shop.db")} }`;
  writeFileSync(file, `${readFileSync(file, "utf8")}\nsources:\n  ${source}\n`);
  expect((await cli("backup")).code).toBe(0);
  const [name = ""] = readdirSync(join(storage, "shop"));
  const path = join(storage, "shop", name);
  const stored = readFileSync(path);

  const layout = layoutOf(root);
  const config = await readConfig(layout.config, layout.root);
  const backend = await openStandaloneBackend(layout, config);
  const test = async (isMended: boolean) => {
    writeFileSync(path, flipped(stored));
    const { outcome } = await downloadAndTest(backend, config, config.sources.get("shop")!, {
      backupId: undefined,
      signal: new AbortController().signal,
      onProgress: (phase) => {
        if (phase === "decrypt" && isMended) writeFileSync(path, stored);
      },
    });
    return outcome;
  };
  try {
    const once = await test(true);
    expect([once.reason, once.result]).toEqual([undefined, "passed"]);
    expect(once.checks.map(({ id }) => id)).toContain("inferred:reading");
    const always = await test(false);
    expect(always).toMatchObject({ result: "failed", checks: [] });
    expect(always.reason).toContain("damaged both times");
  } finally {
    backend.close();
  }
});
