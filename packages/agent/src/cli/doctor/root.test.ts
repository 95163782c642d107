import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { examineRoot } from "./root.ts";

it("doctor says what chose the root, and nothing twice", async () => {
  const path = mkdtempSync(join(tmpdir(), "attestore-doctor-root-"));
  try {
    const told = async (branch: "ATTESTORE_HOME" | "/var/lib/attestore"): Promise<string> =>
      (await examineRoot({ path, branch })).message;
    expect(await told("ATTESTORE_HOME")).toBe(`${path} (from ATTESTORE_HOME)`);
    expect(await told("/var/lib/attestore")).toBe(`${path} (the default)`);
  } finally {
    rmSync(path, { recursive: true });
  }
});
