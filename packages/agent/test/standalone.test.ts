import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";
import { base, cli, declare, json, root, useStandaloneRoot, writeOrders } from "./standalone-root.ts";

const VERIFY = fileURLToPath(new URL("../../verifier/src/main.ts", import.meta.url));

useStandaloneRoot();

const verify = (name: string): string =>
  execFileSync(
    process.execPath,
    [VERIFY, join(root, "receipts", name), "--key", join(root, "keys/agent.pub")],
    {
      encoding: "utf8",
    },
  );

it("init refuses an object store's address that cannot be, and writes no config.yaml", async () => {
  const args = ["init", "--standalone", "--storage", "s3://backups", "--s3-endpoint"];
  expect(await json([...args, "https://s3.example.org:90000"], 2)).toMatchObject({ error: "usage" });
  expect(existsSync(join(root, "config.yaml"))).toBe(false);
});

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
