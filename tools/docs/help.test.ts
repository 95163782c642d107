import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { documentation } from "@attestore/host/command-help";
import { expect, test } from "vitest";
import { COMMANDS } from "../../packages/agent/src/cli/commands/commands.ts";
import { FLAGS } from "../../packages/agent/src/config/flag-table.ts";
import { HELP } from "../../packages/orchestrator/src/cli/help-texts.ts";
import { commandPath, runnable, serverProgram } from "../../packages/orchestrator/src/cli/program.ts";
import { HELP as VERIFIER_HELP } from "../../packages/verifier/src/help.ts";
import { anchorsOf } from "./anchors.ts";

const DOCS = join(import.meta.dirname, "../../docs");

/** What is wrong with a link to docs/; null if it leads to a heading. */
function brokenPage(page: string): string | null {
  const [file = "", anchor] = page.split("#");
  const path = join(DOCS, file);
  if (!existsSync(path)) return `${page}: no such file`;
  if (anchor !== undefined && !anchorsOf(readFileSync(path, "utf8")).has(anchor))
    return `${page}: no such heading`;
  return null;
}

/** The long options in the part of a line that calls this program. */
function optionsIn(line: string, program: string): string[] {
  const own = line.split(/[|;]|&& (?!attestore)/).filter((part) => part.includes(program));
  return own.flatMap((part) => part.match(/(?<=\s)--[a-z0-9-]+/g) ?? []);
}

const serverCommands = runnable(serverProgram([]));

test("each command of attestore has examples with flags that it knows, and a page that exists", () => {
  for (const { name, examples, page, flags } of COMMANDS) {
    expect(examples.length, name).toBeGreaterThan(0);
    expect(brokenPage(page), name).toBe(null);
    const known = flags.map((flag) => FLAGS[flag].form.split(" ")[0]);
    for (const [line] of examples) {
      if (name === "status" && line === "attestore") continue;
      expect(line, name).toContain(`attestore ${name}`);
      for (const option of optionsIn(line, "attestore")) expect(known, line).toContain(option);
    }
  }
});

test("each command of attestore-server has examples with options that it knows, and a page that exists", () => {
  expect(Object.keys(HELP).toSorted()).toEqual(serverCommands.map(commandPath).toSorted());
  for (const command of serverCommands) {
    const path = commandPath(command);
    const { examples = [], page = "" } = HELP[path] ?? {};
    expect(examples.length, path).toBeGreaterThan(0);
    expect(brokenPage(page), path).toBe(null);
    const known = command.options.map(({ long }) => long);
    for (const [line] of examples) {
      expect(line).toContain(`attestore-server ${path}`);
      const given = optionsIn(line, "attestore-server");
      for (const option of given) expect(known, line).toContain(option);
      for (const { long, mandatory } of command.options)
        if (mandatory) expect(given, `${line} lacks ${long}`).toContain(long);
    }
  }
});

test("the link in attestore-verify's help leads to a page", () => {
  const [line = "", page = ""] = /^Documentation: docs\/(\S+) .*$/m.exec(VERIFIER_HELP) ?? [];
  expect(line).toBe(documentation(page));
  expect(brokenPage(page)).toBe(null);
});
