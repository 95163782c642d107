import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COMMANDS } from "../src/cli/commands/commands.ts";
import { FLAGS } from "../src/config/flag-table.ts";

const page = readFileSync(new URL("../../../docs/standalone.md", import.meta.url), "utf8");
const units = [...page.matchAll(/`\/etc\/systemd\/system\/([\w.-]+)`\n\n```ini\n([^]*?)```/g)].map(
  ([, name = "", text = ""]) => ({ name: basename(name), text }),
);

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "attestore-units-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** What systemd has to say against some units. The program need not be installed to say it. */
function complaints(of: readonly { name: string; text: string }[]): string {
  for (const { name, text } of of)
    writeFileSync(join(directory, name), text.replaceAll("/usr/bin/attestore", "/usr/bin/true"));
  const paths = of.map(({ name }) => join(directory, name));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--recursive-errors=yes", ...paths], {
    encoding: "utf8",
  });
  return status === 0 ? "" : `${status}: ${stderr}`;
}

it("systemd accepts the documented units without a warning", () => {
  expect(units.map(({ name }) => name)).toEqual([
    "attestore-backup.service",
    "attestore-backup.timer",
    "attestore-restore-test.service",
    "attestore-restore-test.timer",
  ]);
  expect(complaints(units)).toBe("");
  // It would have said so.
  const wrong = units.map(({ name, text }) => ({ name, text: text.replace("OnCalendar", "OnCalender") }));
  expect(complaints(wrong)).toContain("OnCalender");
  for (const [, when = ""] of page.matchAll(/^OnCalendar=(.*)$/gm))
    execFileSync("systemd-analyze", ["calendar", when]);
});

it("the documented commands and flags exist", () => {
  const calls = [
    ...page.matchAll(/(?:^|ExecStart=\/usr\/bin\/|&& |`| {2})attestore ((?:[a-z-]+ ?)+)([^\n`#&]*)/gm),
  ];
  expect(calls.length).toBeGreaterThan(10);
  for (const [call, words = "", rest = ""] of calls) {
    const command = COMMANDS.find(({ name }) => `${words} `.startsWith(`${name} `));
    if (command === undefined) throw new Error(`no such command: ${call}`);
    const known = command.flags.map((flag) => FLAGS[flag].form.replace(/ .*/, ""));
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(known, call).toContain(flag);
  }
});
