import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { base, cli, declare, json, root, useStandaloneRoot, writeOrders } from "./standalone-root.ts";

useStandaloneRoot();

/** A module that has a program believe that it is so many days later. */
function clockAhead(days: number): string {
  const code = `const Real = Date, ahead = ${days * 86_400_000};
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ahead) : super(...given); }
      static now() { return Real.now() + ahead; }
    };`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

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
