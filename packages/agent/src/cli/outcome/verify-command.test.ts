import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { layoutOf, makeLayout } from "../../state/layout.ts";
import { verifyCommand } from "./verify-command.ts";

test("a shell runs the printed call as it is meant, wherever the root is", async () => {
  const base = mkdtempSync(join(tmpdir(), "attestore-it's here; "));
  try {
    const layout = layoutOf(base);
    await makeLayout(layout);
    const call = await verifyCommand(layout, "RECEIPT", true);
    const words = execFileSync("sh", [
      "-c",
      `attestore_words() { printf '%s\\n' "$@"; }; ${call.replace(/^attestore-verify/, "attestore_words")}`,
    ]);
    expect(words.toString().trimEnd().split("\n")).toEqual([
      "RECEIPT",
      "--key",
      layout.publicKey,
      "--log-key",
      layout.logKey,
    ]);
  } finally {
    rmSync(base, { recursive: true });
  }
});
