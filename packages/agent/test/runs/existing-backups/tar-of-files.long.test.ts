import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { expect, test } from "vitest";
import type { SourceConfigOf } from "../../../src/config/source-config.ts";
import { DEFAULT_LIMITS } from "../../../src/config/source-limits.ts";
import { back, controlOf, directory, run, source, testIt, useDumpsDirectory } from "./dumps-directory.ts";

useDumpsDirectory();

test("a tar of files is restored, and links out of it lead nowhere", async () => {
  mkdirSync(join(directory, "tree"));
  writeFileSync(join(directory, "tree", "f"), "content");
  symlinkSync("/tmp", join(directory, "tree", "out"));
  run("tar -czf tree.tgz tree && rm -r tree");
  const of = source({ checks: [{ id: "f", query: "tree/f", expect: "bytes = 7" }] });
  const tested = await testIt(of, await back(of));
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(controlOf(tested, "f")?.noticed).toEqual(["an empty tree/f"]);
  expect(comparedContentText(tested.checks)).toBe("content and times compared; not compared: owners");
  expect(tested.checks.find(({ id }) => id === "inferred:manifest")?.result).toBe("passed");
  run("mkdir e; touch e/1 e/2; tar -czf tree.tgz e; rm -r e");
  const hollow = await back(source());
  // Metadata that came over the wire cannot make an empty tree count as full.
  for (const said of [{}, { restored_files: 2 }])
    expect(
      await testIt(source(), { ...hollow, sourceMetadata: { ...hollow.sourceMetadata, ...said } }),
    ).toMatchObject({ result: "failed", reason: expect.stringContaining("bytes > 0") });
  run(
    "mkdir e; ln -s /tmp e/l; tar -cf evil.tar e/l; rm -r e; mkdir -p e/l; touch e/l/attestore-was-here; tar -rf evil.tar e/l/attestore-was-here; rm -r e tree.tgz",
  );
  await testIt(source(), await back(source())).catch(() => null);
  expect(existsSync("/tmp/attestore-was-here")).toBe(false);
});

test("a tar that is not restored whole, or cannot be compared, says so", async () => {
  const last = async (command: string, more: Partial<SourceConfigOf<"dumps">> = {}) => {
    run(`rm -rf *; echo one >a; echo two >b; ${command}; find . -type f ! -name x.tar -delete`);
    const of = source({ pattern: "x.tar", ...more });
    return testIt(of, await back(of));
  };
  const twice = await last("tar -cf x.tar a b; echo three >a; tar -rf x.tar a");
  expect(twice.result).toBe("passed");
  expect(comparedContentText(twice.checks)).toBe("content not compared (a name comes twice)");
  const joined = last("tar -cf 1 a; tar -cf 2 b; cat 1 2 >x.tar");
  await expect(joined).rejects.toMatchObject({ code: "sandbox_lacks" });
  const device = last("mknod null c 1 3; tar -cf x.tar a null; rm null");
  await expect(device).rejects.toMatchObject({ code: "sandbox_lacks" });
  const limits = { ...DEFAULT_LIMITS, logicalBytes: 2 ** 30 };
  for (const format of ["posix", "gnu"]) {
    const large = await last(`truncate -s 2G h; echo x >>h; tar --format=${format} -Scf x.tar a h; rm h`, {
      limits,
    });
    expect(large).toMatchObject({ result: "failed", reason: expect.stringContaining("logical_bytes") });
  }
});
