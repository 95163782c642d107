import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSourceConfig, type SourceConfigOf } from "../../../src/config/source-config.ts";
import { back, directory, place, run, testIt } from "./dumps-directory.ts";
import { cli, restic, useResticArchive } from "./restic-archive.ts";

useResticArchive();

test("a tree, and a dump in a snapshot, are restored and proven", async () => {
  const tree = restic({
    tags: ["db"],
    checks: [{ id: "numbers", query: "tree/numbers", expect: "bytes = 588895" }],
  });
  const backup = await back(tree);
  const listed = JSON.parse(cli("snapshots --json").toString()) as { id: string; tree: string }[];
  expect(backup.sourceMetadata).toMatchObject({
    engine: "restic",
    original: { snapshot_id: listed[0]?.id, tree_id: listed[0]?.tree },
  });
  const tested = await testIt(tree, backup);
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({ result: "passed", runtime: { engine: "restic" } });

  const file = restic({
    file: "/tree/a.dump",
    checks: [{ id: "n", query: "select count(*) as n from orders", expect: "n = 1000" }],
  });
  const dumped = await testIt(file, await back(file));
  expect(dumped.reason).toBeUndefined();
  expect(dumped).toMatchObject({ result: "passed", runtime: { engine: "postgresql" } });
  expect(cli("list locks").toString()).toBe("");

  cli("backup --tag old --time '2020-01-01 00:00:00' tree");
  const old = (more: object): SourceConfigOf<"restic"> =>
    parseSourceConfig(
      "archive",
      {
        engine: "restic",
        repository: join(directory, "repo"),
        password: "env:TEST_RESTIC_PASSWORD",
        tags: ["old"],
        ...more,
      },
      place.dir,
    ) as SourceConfigOf<"restic">;
  await expect(back(old({}))).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringMatching(/is from (?:2020|2019)-.*, but may be at most 8 days old/),
  });
  await back(old({ max_age_s: "any" }));

  // One of the future would be the newest, and new, for ever.
  cli("backup --time '2099-01-01 00:00:00' tree");
  await expect(back(restic({ max_age_s: 60 }))).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("in the future"),
  });
});

test("a snapshot that restic cannot read is not passed over for an older one", async () => {
  cli("backup tree");
  const [newest] = JSON.parse(cli("snapshots --json latest").toString()) as { id: string }[];
  const file = `repo/snapshots/${newest?.id}`;
  run(`chmod -R u+w repo; cp ${file} whole`);
  const damaged = readFileSync(join(directory, file));
  damaged[20] = (damaged[20] ?? 0) ^ 1;
  writeFileSync(join(directory, file), damaged);
  for (const tags of [[], ["nightly"]])
    await expect(back(restic({ tags }))).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringMatching(
        /cannot read 1 snapshot of the repository \([0-9a-f]{8}\).*restic check/,
      ),
    });
  run(`cp whole ${file}`);
  expect((await back(restic())).sourceMetadata["original"]).toMatchObject({ snapshot_id: newest?.id });
});

test("a place without a restic repository is said to be one", async () => {
  mkdirSync(join(directory, "empty"));
  await expect(back(restic({ repository: join(directory, "empty") }))).rejects.toMatchObject({
    code: "ciphertext_unavailable",
    message: expect.stringContaining("there is no restic repository"),
  });
});
