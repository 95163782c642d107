import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { back, directory, run, testIt } from "./dumps-directory.ts";
import { cli, restic, SECRET, useResticArchive } from "./restic-archive.ts";

useResticArchive();

test("a tree of links, devices, pipes and set-user-ID programs reaches nothing outside of its place", async () => {
  const outside = join(directory, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "key"), "a secret");
  run(
    `cd tree; ln -s ${outside} out; ln -s ${outside}/key key; ln numbers hard; ln -s . loop; mkfifo pipe; mknod null c 1 3; mknod disk b 7 0;
     cp /bin/sh shell; chmod 4755 shell; mkdir closed; touch closed/f; chmod 000 closed`,
  );
  cli("backup tree");
  const tree = restic({
    checks: [
      { id: "numbers", query: "tree/numbers", expect: "bytes = 588895" },
      { id: "through", query: "tree/out/key", expect: "bytes > 0" },
      { id: "linked", query: "tree/key", expect: "bytes = 8" },
    ],
  });
  const tested = await testIt(tree, await back(tree));
  expect(tested.result).toBe("failed");
  const observed = new Map(tested.checks.map((check) => [check.id, check]));
  expect(observed.get("numbers")?.result).toBe("passed");
  expect(observed.get("through")?.observed).toMatchObject({
    error: expect.stringContaining("not a directory"),
  });
  expect(observed.get("linked")?.observed).toMatchObject({ bytes: 0, sha256: null });
  expect(readdirSync(outside)).toEqual(["key"]);
});

test("an extended attribute that restic cannot archive is named as the reason, without its value", async () => {
  run(`python3 -c "import os; os.setxattr('tree/numbers', 'user.a=b', b'a hidden value')"`);
  cli("backup tree");
  const error: unknown = await testIt(restic(), await back(restic())).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("an extended attribute with = in its name"),
  });
  expect(String(error)).not.toContain("hidden");
});

test("restic's password is in no argument list", async () => {
  // With a key of restic's own, which keeps each restic long enough to be seen.
  run("rm -r repo");
  cli("init; restic --quiet --no-cache backup tree");
  const backing = back(restic());
  const seen: string[] = [];
  const watch = setInterval(
    () => seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" })),
    100,
  );
  await backing;
  clearInterval(watch);
  expect(seen.join("\n")).toContain("restic");
  expect(seen.join("\n")).not.toContain(SECRET);
});
