import type { Command } from "commander";
import { readSettings } from "../platform/config/read-config.ts";
import { readCommandConfig } from "../platform/config/served-address.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { consoleCommand } from "./console-command.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";
import { plainLine, plural } from "@attestore/proof";

/**
 * `attestore-server doctor`: checks everything that the service needs, and changes nothing. Exit
 * code 0 if nothing failed (there may be warnings), 1 if something did, 2 if the settings can't be
 * read, so that nothing else could be checked.
 */
export function doctorCommand(): Command {
  return consoleCommand("doctor", "Check that everything the service needs is there and works").action(
    async (options: { json?: boolean }) => {
      const findings = await examine();
      const settings = findings.find(({ check }) => check === "settings");
      const isWell = findings.every(({ level }) => level !== "failed");
      process.exitCode = settings?.level === "failed" ? 2 : isWell ? 0 : 1;
      process.stdout.write(
        options.json === true
          ? `${JSON.stringify({ ok: isWell, findings }, null, 2)}\n`
          : `${findings.map(shown).join("")}${summary(findings)}\n`,
      );
    },
  );
}

async function examine(): Promise<Finding[]> {
  try {
    const { examineAll } = await import("./doctor/examine-all.ts");
    const { sources } = readSettings(process.env);
    const set = Object.values(sources).filter(({ source }) => source === "environment" || source === "file");
    return [
      ok("settings", `Valid; ${set.length} are set (attestore-server config shows them).`),
      ...(await examineAll(await readCommandConfig(process.env))),
    ];
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid_setting")
      return error.message
        .split("\n")
        .map((line) => failed("settings", line, "Correct the setting; docs/operate.md lists all of them."));
    throw error;
  }
}

const MARKS: Readonly<Record<Finding["level"], string>> = {
  ok: "ok     ",
  warning: "WARNING",
  failed: "FAILED ",
  skipped: "-      ",
};

function shown({ check, level, message, next }: Finding): string {
  const line = `${MARKS[level]}  ${check.padEnd(11)} ${plainLine(message)}\n`;
  return next === undefined ? line : `${line}${" ".repeat(21)}→ ${plainLine(next)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]): number => findings.filter((one) => one.level === level).length;
  return `${count("ok")} ok, ${plural(count("warning"), "warning")}, ${count("failed")} failed, ${count("skipped")} skipped`;
}
