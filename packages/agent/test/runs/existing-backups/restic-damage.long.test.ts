import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { back, directory, run, testIt } from "./dumps-directory.ts";
import { cli, restic, SECRET, useResticArchive } from "./restic-archive.ts";

useResticArchive();

test("a dump that its own job no longer writes is no backup, however new the snapshot is", async () => {
  const written = Date.now() / 1000 - 9 * 86_400;
  utimesSync(join(directory, "tree/a.dump"), written, written);
  cli("backup tree");
  const week = 7 * 86_400;
  for (const file of ["/tree/a.dump", "/tree//a.dump", "/./tree/a.dump"])
    await expect(back(restic({ file, max_age_s: week }))).rejects.toMatchObject({
      code: "source_missing",
      message: expect.stringMatching(
        /the newest dump, .*a\.dump in the snapshot [0-9a-f]{8}, is from 20.*, but may be at most 7 days old/,
      ),
    });
  await expect(back(restic({ file: "/tree/b.dump", max_age_s: week }))).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringMatching(/b\.dump is not in the snapshot [0-9a-f]{8}: check the source's file/),
  });
  await back(restic({ file: "/tree/a.dump", max_age_s: null }));
  await back(restic({ max_age_s: week }));
});

test("damaged packs, a missing snapshot, a wrong password and no match do not pass", async () => {
  const backup = await back(restic());
  await expect(back(restic({ tags: ["other"] }))).rejects.toMatchObject({ code: "source_missing" });
  process.env["TEST_RESTIC_PASSWORD"] = "wrong";
  await expect(testIt(restic(), backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
  process.env["TEST_RESTIC_PASSWORD"] = SECRET;
  const packs = run("find repo/data -type f").toString().trim().split("\n");
  const largest =
    packs.toSorted((a, b) => statSync(join(directory, b)).size - statSync(join(directory, a)).size)[0] ?? "";
  const pack = join(directory, largest);
  run(`chmod -R u+w repo`);
  const bytes = readFileSync(pack);
  const flipped = Buffer.from(bytes);
  flipped[1_000] = (flipped[1_000] ?? 0) ^ 1;
  for (const change of [
    () => writeFileSync(pack, flipped),
    () => writeFileSync(pack, bytes.subarray(0, 2_000)),
    () => rmSync(pack),
  ]) {
    change();
    expect((await testIt(restic(), backup)).result).toBe("failed");
  }
  writeFileSync(pack, bytes);
  expect((await testIt(restic(), backup)).result).toBe("passed");
  cli("forget --prune --keep-last 1 --tag nothing; restic --quiet --no-cache forget latest");
  // Whoever forgets snapshots does no damage: retention does, like that of a directory of dumps.
  await expect(testIt(restic(), backup)).rejects.toMatchObject({
    code: "ciphertext_unavailable",
    message: expect.stringMatching(
      /the snapshot [0-9a-f]{8} .* no longer in the repository: .*attestore backup/,
    ),
  });
});
