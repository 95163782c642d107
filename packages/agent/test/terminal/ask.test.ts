import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { typeInto } from "./type-into.ts";

function initOnTerminal(typed: string): string {
  const base = mkdtempSync(join(tmpdir(), "attestore-ask-"));
  try {
    const init = ["init", "--root", join(base, "root"), "--service", "https://localhost:1"];
    return typeInto([["Auth key", typed]], init);
  } finally {
    rmSync(base, { recursive: true });
  }
}

it("init asks for the auth key on a terminal, and hides the typed text", () => {
  const shown = initOnTerminal("hunter2\r");
  expect(shown).toContain("that is not an auth key");
  expect(shown).toContain("exit 2");
  expect(shown).not.toContain("hunter2");
});

it("init stops with 130 when Ctrl-C is pressed at the question", () => {
  expect(initOnTerminal("\u0003")).toContain("exit 130");
});
