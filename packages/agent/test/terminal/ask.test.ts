import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

function initOnTerminal(typed: string): string {
  const base = mkdtempSync(join(tmpdir(), "attestore-ask-"));
  try {
    const init = [
      here("../../src/main.ts"),
      "init",
      "--root",
      join(base, "root"),
      "--service",
      "https://localhost:1",
    ];
    const args = [here("type-into.py"), "Auth key", typed, process.execPath, ...init];
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith("ATTESTORE_")),
    );
    return execFileSync("python3", args, { encoding: "utf8", env });
  } finally {
    rmSync(base, { recursive: true });
  }
}

it("asks for the auth key on a terminal, and does not show what is typed", () => {
  const shown = initOnTerminal("hunter2\r");
  expect(shown).toContain("that is no auth key");
  expect(shown).toContain("exit 2");
  expect(shown).not.toContain("hunter2");
});

it("stops with 130 when Ctrl-C is pressed at the question", () => {
  expect(initOnTerminal("\u0003")).toContain("exit 130");
});
