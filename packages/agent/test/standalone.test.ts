import {
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

const VERIFY = fileURLToPath(new URL("../../verifier/src/main.ts", import.meta.url));

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "attestore-standalone-"));
  root = join(base, "root");
});
afterEach(() => rmSync(base, { recursive: true }));

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

async function json<T = Record<string, unknown>>(args: string[], code = 0, env = {}): Promise<T> {
  const done = await runCli([...args, "--json"], { env: { ATTESTORE_HOME: root, ...env }, cwd: base });
  expect(done.code, `${args.join(" ")}\n${done.stdout}${done.stderr}`).toBe(code);
  return JSON.parse(done.stdout) as T;
}

function writeOrders(rows: number): void {
  rmSync(join(base, "orders.db"), { force: true });
  const database = new DatabaseSync(join(base, "orders.db"));
  database.exec("create table orders (id integer primary key, cents integer not null)");
  const insert = database.prepare("insert into orders (cents) values (?)");
  for (let row = 0; row < rows; row++) insert.run(row);
  database.close();
}

function declare(): void {
  const file = join(root, "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}
sources:
  orders:
    engine: sqlite
    path: ${join(base, "orders.db")}
    checks: [{ id: rows, query: "select count(*) as n from orders", expect: "n >= 100" }]
`,
  );
}

/** A module that has a program believe that it is so many days later. */
function clockAhead(days: number): string {
  const code = `const Real = Date, ahead = ${days * 86_400_000};
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ahead) : super(...given); }
      static now() { return Real.now() + ahead; }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

const verify = (name: string): string =>
  execFileSync(
    process.execPath,
    [VERIFY, join(root, "receipts", name), "--key", join(root, "keys/agent.pub")],
    {
      encoding: "utf8",
    },
  );

it("a standalone agent backs up, proves, restores and prunes without any service; receipts verify with the verifier alone", async () => {
  const storage = join(base, "disk");
  mkdirSync(storage);
  await json(["init", "--standalone", "--storage", storage, "--name", "lone"]);
  declare();
  writeOrders(200);
  expect(await json(["status"], 1)).toMatchObject({
    storage,
    service: null,
    sources: [{ verdict: "no_backup" }],
  });
  const first = await json<{ backup_id: string }>(["backup"]);
  expect(first).toMatchObject({ receipt: "kept" });
  expect(readdirSync(join(storage, "orders"))).toEqual([`${first.backup_id}.age`]);
  expect(await json(["restore-test"])).toMatchObject({ result: "passed", backup_id: first.backup_id });
  expect((await json<{ problems: unknown[] }>(["status"])).problems).toEqual([]);
  const within = (rpo_s: number): void => {
    const text = readFileSync(join(root, "config.yaml"), "utf8").replace(/ {4}objectives: .*\n/, "");
    const objectives = `    engine: sqlite\n    objectives: { rpo_s: ${rpo_s} }\n`;
    writeFileSync(join(root, "config.yaml"), text.replace("    engine: sqlite\n", objectives));
  };
  within(86_400);
  const kept = await json(["status"]);
  expect(kept).toMatchObject({ sources: [{ rpo: { objective_s: 86_400, met: true } }], problems: [] });
  within(1);
  await expect
    .poll(async () => (await cli("status")).stdout)
    .toMatch(
      /orders: its newest backup is .* old, and may be at most 1 s old \(objectives.rpo_s\)\n +attestore backup --source orders/,
    );
  within(86_400);
  expect(verify("00000001-backup.json")).toContain("TRUE");
  expect(verify("00000002-restore-test.json")).toContain("TRUE");

  // Whoever has an identity and the ciphertext recomputes the receipt's digests, without the root.
  const ciphertext = join(storage, "orders", `${first.backup_id}.age`);
  const recompute = (receipt: string, file: string): Promise<Finished> =>
    runCli(
      `receipts recompute ${join(root, "receipts", receipt)} --file ${file} --identity ${join(root, "keys/age.key")} --root ${join(base, "none")}`.split(
        " ",
      ),
      { env: {}, cwd: base },
    );
  const recomputed = await recompute("00000001-backup.json", ciphertext);
  expect(`${recomputed.code} ${recomputed.stdout}${recomputed.stderr}`).toMatch(
    /^0 ✓ inferred:content {2}recomputed ([0-9a-f]{64}), in the receipt \1\n✓ inferred:objects .*\ncontent of 1 table compared; /,
  );
  const bytes = readFileSync(ciphertext);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(join(base, "flipped.age"), bytes);
  expect((await recompute("00000001-backup.json", join(base, "flipped.age"))).code).toBe(1);
  const notBackup = await recompute("00000002-restore-test.json", ciphertext);
  expect(`${notBackup.code} ${notBackup.stderr}`).toMatch(/^2 .* is not the receipt of a backup/);
  const restored = join(base, "restored.db");
  await json(["restore", "--output", restored]);
  const database = new DatabaseSync(restored, { readOnly: true });
  expect(database.prepare("select count(*) as n from orders").get()).toEqual({ n: 200 });
  database.close();

  // An emptied source makes a backup that does not pass; pruning to one keeps it and the proven
  // one.
  writeOrders(3);
  const later: string[] = [];
  for (let round = 0; round < 2; round++)
    later.push((await json<{ backup_id: string }>(["backup"])).backup_id);
  expect(await json(["restore-test"], 1)).toMatchObject({ result: "failed", backup_id: later[1] });
  const shown = await json(["prune", "--keep-last", "1", "--dry-run"]);
  expect(shown).toMatchObject({ would_remove: [later[0]], removed: [] });
  expect(await json(["prune", "--keep-last", "1"], 2)).toMatchObject({ error: "usage" });
  expect(await json(["prune", "--keep-last", "1", "--yes"])).toMatchObject({ removed: [later[0]] });
  expect(readdirSync(join(storage, "orders")).toSorted()).toEqual(
    [first.backup_id, later[1]].map((id) => `${id}.age`).toSorted(),
  );
  expect(await json(["restore-test", "--backup", first.backup_id])).toMatchObject({ result: "passed" });
  expect(await json(["restore-test", "--backup", later[0] ?? ""], 2)).toMatchObject({
    error: "backup_unknown",
  });
});

it("an emptied source is compared with its newest backup that passed, even after an older one was tested again", async () => {
  await json(["init", "--standalone"]);
  declare();
  const backUp = async (orders: number) => {
    writeOrders(orders);
    return (await json<{ backup_id: string }>(["backup"])).backup_id;
  };
  const small = await backUp(200);
  const large = await backUp(2000);
  for (const id of [small, large, small])
    expect(await json(["restore-test", "--backup", id])).toMatchObject({ result: "passed" });
  await backUp(200);
  expect(await json(["restore-test"], 1)).toMatchObject({ result: "failed" });
});

interface Pruned {
  kept: { id: string; by: string[] }[];
  would_remove: string[];
}

it("a standalone agent keeps a backup that restores if an older proven one has been damaged since", async () => {
  await json(["init", "--standalone"]);
  declare();
  writeOrders(200);
  const backUp = async () => (await json<{ backup_id: string }>(["backup"])).backup_id;
  const good = await backUp();
  await json(["restore-test"]);
  const rotten = await backUp();
  await json(["restore-test"]);
  const file = join(root, "blobs/stored/orders", `${rotten}.age`);
  const bytes = readFileSync(file);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(await json(["restore-test"], 1)).toMatchObject({ result: "failed", backup_id: rotten });
  const untested = await backUp();
  const newest = await backUp();
  const { kept, would_remove } = await json<Pruned>(["prune", "--keep-last", "1", "--dry-run"]);
  expect(Object.fromEntries(kept.map(({ id, by }) => [id, by]))).toEqual({
    [good]: ["proven"],
    [rotten]: ["proven"],
    [newest]: ["last"],
  });
  expect(would_remove).toEqual([untested]);
});

it("a damaged stored file fails its test, and a missing one cannot be tested", async () => {
  await json(["init", "--standalone"]);
  declare();
  writeOrders(200);
  const { backup_id: id } = await json<{ backup_id: string }>(["backup"]);
  const file = join(root, "blobs/stored/orders", `${id}.age`);
  const bytes = readFileSync(file);
  bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(await json(["restore-test"], 1)).toMatchObject({ result: "failed" });
  rmSync(file);
  expect(await json(["restore-test"], 2)).toMatchObject({ error: "ciphertext_unavailable" });
  expect(readdirSync(join(root, "events")).filter((name) => name.endsWith(".json"))).toHaveLength(1);
});

it("a backup that the storage can't take is kept, and sync stores it", async () => {
  const storage = join(base, "disk");
  await json(["init", "--standalone", "--storage", storage]);
  declare();
  writeOrders(200);
  writeFileSync(storage, "not a directory");
  const failed = await cli("backup");
  expect(failed.code).toBe(2);
  expect(failed.stderr).toContain("queued in blobs/");
  rmSync(storage);
  expect(await json(["sync"])).toMatchObject({ backups_delivered: 1, accepted: 1 });
  expect(await json(["restore-test"])).toMatchObject({ result: "passed" });
});

it("a storage whose disk is not mounted gets no backup in its place, and commands say so", async () => {
  const storage = join(base, "disk");
  await json(["init", "--standalone", "--storage", storage]);
  declare();
  writeOrders(200);
  await json(["backup"]);
  await json(["restore-test"]);
  renameSync(storage, join(base, "unmounted"));
  mkdirSync(storage);

  const question = `${storage} has none of the backups that were stored there: is its disk mounted?`;
  for (const command of [["backup"], ["sync"], ["restore-test"], ["prune", "--yes"]]) {
    const refused = await cli(...command);
    expect(refused.code, command.join(" ")).toBe(2);
    expect(refused.stderr).toContain(question);
    // It has no service to run for.
    expect(refused.stderr).not.toContain("attestore run");
  }
  expect(readdirSync(storage)).toEqual([]);
  const status = await json<{ problems: { what: string }[] }>(["status"], 1);
  expect(status.problems.map(({ what }) => what)).toContainEqual(expect.stringContaining(question));
  const doctor = await json<{ findings: { title: string; detail: string }[] }>(["doctor"], 1);
  expect(doctor.findings).toContainEqual(
    expect.objectContaining({ title: "storage", detail: expect.stringContaining(question) as string }),
  );

  rmSync(storage, { recursive: true });
  renameSync(join(base, "unmounted"), storage);
  expect(await json(["sync"])).toMatchObject({ backups_delivered: 1 });
  await json(["restore-test"]);
  await json(["status"]);

  // A new disk, on purpose.
  renameSync(storage, join(base, "former"));
  mkdirSync(storage);
  writeFileSync(join(storage, ".attestore-new"), "");
  await json(["backup"]);
  expect(await json(["restore-test"])).toMatchObject({ result: "passed" });
});

it("a backup that a clock dated ahead is not the newest for as long, neither for tests nor for prune", async () => {
  await json(["init", "--standalone"]);
  declare();
  writeOrders(200);
  const ahead = { NODE_OPTIONS: `--import=${clockAhead(400)}` };
  const made = async (env = {}): Promise<unknown> => (await json(["backup"], 0, env))["backup_id"];
  const wrong = [await made(ahead), await made(ahead)];
  expect(await json(["restore-test"], 0, ahead)).toMatchObject({ backup_id: wrong[1], result: "passed" });
  const right = [await made(), await made()];

  const because = async (): Promise<unknown> =>
    (await json<{ sources: unknown[] }>(["status"], 1)).sources[0];
  // Nobody knows when that test ended, nor how old the backup is that it is about.
  expect(await because()).toMatchObject({ verdict: "untested", because: "proof_too_old" });
  await json(["restore-test", "--backup", String(wrong[1])]);
  expect(await because()).toMatchObject({ verdict: "untested", because: "newest_not_proven" });
  expect(await json(["restore-test"])).toMatchObject({ backup_id: right[1], result: "passed" });
  expect((await json<{ sources: unknown[] }>(["status"])).sources).toMatchObject([{ verdict: "proven" }]);
  const pruned = await json<{ removed: string[] }>(["prune", "--keep-last", "2", "--yes"]);
  expect(new Set(pruned.removed)).toEqual(new Set(wrong));
});

it("a config.yaml that was emptied is not called a host that was never set up", async () => {
  await json(["init", "--standalone"]);
  const file = join(root, "config.yaml");
  const config = readFileSync(file);
  writeFileSync(file, "");
  for (const command of ["status", "backup", "restore-test"]) {
    const refused = await cli(command);
    expect(refused.code).toBe(2);
    expect(refused.stderr, command).toContain(`Put a copy of ${file} back`);
  }
  writeFileSync(file, config);
  expect((await cli("status")).stderr).toBe("");
});

it("commands that a standalone root has no use for say so", async () => {
  await json(["init", "--standalone"]);
  const run = await cli("run");
  expect(run.code).toBe(2);
  expect(run.stderr).toContain("docs/standalone.md");
});
