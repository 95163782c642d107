import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FLAGS, isDefaultName, settingName, takesValue, type FlagName } from "../config/flag-table.ts";
import { COMMANDS } from "./commands/commands.ts";
import type { Command } from "./invocation/command.ts";
import { runProgram } from "./program.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "attestore-precedence-"));
});
afterAll(() => rmSync(root, { recursive: true }));

interface Given {
  readonly flag: boolean;
  readonly env: boolean;
  readonly defaults: boolean;
}

const ALL_WAYS: readonly Given[] = [true, false].flatMap((flag) =>
  [true, false].flatMap((env) => [true, false].map((defaults) => ({ flag, env, defaults }))),
);

/**
 * Values that say where they come from. Any text will do, because the command itself does not run.
 */
const TEXT = { flag: "from-flag", env: "from-env", defaults: "from-defaults" };

/** The value of one flag that a command gets which does nothing else, through the whole program. */
async function told(
  command: Command,
  name: FlagName,
  given: Given,
  wanted: boolean,
): Promise<string | boolean> {
  const isText = takesValue(name);
  const [form = ""] = FLAGS[name].form.split(" ");
  const bare = form.replace("--no-", "--");
  const env: Record<string, string> = { ATTESTORE_HOME: root };
  const argv = command.name.split(" ");
  for (const { form } of command.words ?? []) if (form.startsWith("<")) argv.push("some-word");
  // For a switch, the source that wins says `wanted`, and every weaker one says the opposite.
  const values = [wanted, given.flag ? !wanted : wanted, given.flag || given.env ? !wanted : wanted];
  if (given.flag && isText) argv.push(form, TEXT.flag);
  if (given.flag && !isText) argv.push(values[0] === true ? bare : bare.replace("--", "--no-"));
  if (given.env) env[FLAGS[name].env] = isText ? TEXT.env : String(values[1]);
  const setting = isText ? TEXT.defaults : String(values[2]);
  const sources = name === "source" ? `sources: { ${TEXT.defaults}: { engine: files, path: /x } }\n` : "";
  writeFileSync(
    join(root, "config.yaml"),
    `${sources}${given.defaults ? `defaults: { ${settingName(name)}: ${setting} }\n` : ""}`,
  );
  let answer: string | boolean | undefined;
  const probe: Command = {
    ...command,
    load: () =>
      Promise.resolve((call) => {
        answer = isText ? (call.flags.text(name) ?? "built-in") : call.flags.isOn(name, !wanted);
        return Promise.resolve(0);
      }),
  };
  const signal = new AbortController().signal;
  const around = { env, cwd: root, signal, stoppedBy: () => null };
  const code = await runProgram(argv, around, [probe]);
  if (answer === undefined) throw new Error(`${argv.join(" ")} ended with ${code} before it ran`);
  return answer;
}

const CASES = COMMANDS.flatMap((command) =>
  command.flags
    .filter(isDefaultName)
    .map((name): [string, FlagName, Command] => [command.name, name, command]),
);

it("every flag belongs to a command, and has an environment variable of its own", () => {
  expect(new Set(CASES.map(([, name]) => name))).toEqual(
    new Set((Object.keys(FLAGS) as FlagName[]).filter(isDefaultName)),
  );
  const twins = Object.values(FLAGS).map(({ env }) => env);
  expect(new Set(twins).size).toBe(twins.length);
  for (const twin of twins) expect(twin).toMatch(/^ATTESTORE_[A-Z0-9_]+$/);
  for (const { flags } of COMMANDS) expect(flags).toContain("root");
});

it.each(CASES)(
  "%s takes %s from the flag, then its twin, then defaults:, then what is built in",
  async (_, name, command) => {
    for (const given of ALL_WAYS) {
      const way = given.flag ? "flag" : given.env ? "env" : given.defaults ? "defaults" : null;
      if (takesValue(name)) {
        expect(await told(command, name, given, true), JSON.stringify(given)).toBe(
          way === null ? "built-in" : TEXT[way],
        );
        continue;
      }
      for (const wanted of [true, false])
        expect(await told(command, name, given, wanted), JSON.stringify(given)).toBe(
          way === null ? !wanted : wanted,
        );
    }
  },
);
