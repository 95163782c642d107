import { formatDuration } from "../terminal/times.ts";
import { nearestName } from "@attestore/host/nearest-name";
import type { NegativeControl } from "@attestore/proof";
import { type CheckConfig } from "../../checks/evaluation/check-config.ts";
import { negativeControlLines } from "../../checks/index.ts";
import { parseChecks } from "../../config/parse-checks.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call, Run } from "../invocation/command.ts";
import { chosenSource, openBackend, requireSource } from "../invocation/open-root.ts";
import { downloadAndTest } from "../restore-test/download-and-test.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/**
 * The id of a check given by `--query`, which has no id of its own. A source uses each id only
 * once.
 */
const TRIED = "tried";

/**
 * Runs checks on a stored backup, restored into a throw-away place. It never asks the live data,
 * because those say nothing about the backup. Nothing is signed, recorded or submitted.
 */
export const checkTry: Run = async (call, sourceName, checkId) => {
  const { terminal, signal } = call;
  const root = await openBackend(call);
  const { backend, config, layout, flags } = root;
  const line = terminal.progress();
  try {
    const source = sourceName === undefined ? chosenSource(root) : requireSource(root, sourceName);
    const { checks, only } = chosenChecks(call, source, checkId, layout.root);
    using _ = await takeWorkLock(layout, "check try", {
      signal,
      wait: flags.isOn("wait", true),
      say: terminal.say,
    });
    terminal.note(`Restoring a backup of ${source.slug} to try the checks. Nothing is signed.`);
    const { backup, outcome } = await downloadAndTest(
      backend,
      config,
      { ...source, checks },
      {
        backupId: flags.text("backup"),
        negativeControls: flags.isOn("canFail") ? "all" : "untried",
        signal,
        onProgress: line.update,
      },
    );
    line.clear();
    const shown = outcome.checks.filter(({ id }) => only === null || id === only);
    const isBroken = outcome.checks.length === 0;
    const held = !isBroken && shown.length > 0 && shown.every(({ result }) => result === "passed");
    if (flags.isOn("json")) {
      const reason = isBroken ? (outcome.reason ?? null) : null;
      terminal.data(
        JSON.stringify({ held, reason, source: source.slug, backup_id: backup.id, checks: shown }),
      );
      return held ? 0 : 1;
    }
    const { good, bad, warn, faint } = terminal.onData;
    if (isBroken) terminal.data(`${bad("✗")} ${backup.id}: ${outcome.reason ?? "there is no check to try"}`);
    for (const check of shown) {
      const mark = check.result === "passed" ? good("✓") : bad("✗");
      const took = faint(formatDuration(check.duration_ms));
      terminal.data(`${mark} ${check.id}  ${check.expectation}  ${JSON.stringify(check.observed)}  ${took}`);
      if (check.negative_control !== undefined && check.negative_control.noticed.length > 0)
        terminal.data(faint(shownToFail(check.negative_control)));
      for (const told of negativeControlLines(check)) terminal.data(`${warn("!")} ${told}`);
      for (const how of check.negative_control?.not_tried ?? []) terminal.data(faint(`  not tried: ${how}`));
    }
    return held ? 0 : 1;
  } finally {
    line.clear();
    backend.close();
  }
};

function shownToFail({ at, noticed }: NegativeControl): string {
  return `  failed on ${noticed.join(", ")} (${at.slice(0, 10)}), as it has to`;
}

interface Chosen {
  readonly checks: readonly CheckConfig[];
  /** The check that the user asked for; null for all. */
  readonly only: string | null;
}

/** @throws UserError usage */
function chosenChecks(
  { flags }: Call,
  source: SourceConfig,
  id: string | undefined,
  baseDir: string,
): Chosen {
  const [query, expect] = [flags.text("query"), flags.text("expect")];
  if (query === undefined && expect === undefined) {
    if (id === undefined) return { checks: source.checks, only: null };
    // The engine's own checks are known only after they ran.
    if (id.startsWith("inferred:")) return { checks: [], only: id };
    const check = source.checks.find((each) => each.id === id);
    if (check !== undefined) return { checks: [check], only: id };
    const ids = source.checks.map((each) => each.id);
    const near = nearestName(id, ids);
    const hint =
      ids.length === 0
        ? "it has none"
        : near === null
          ? `it has ${ids.join(", ")}`
          : `did you mean "${near}"?`;
    throw new UserError("usage", `${source.slug} has no check "${id}"; ${hint}`);
  }
  const configured = source.checks.find((each) => each.id === id);
  const before = configured !== undefined && "query" in configured ? configured : null;
  const entry = {
    id: id ?? TRIED,
    query: query ?? before?.query,
    expect: expect ?? (before !== null && "expect" in before ? before.expect : undefined),
  };
  if (entry.query === undefined || entry.expect === undefined)
    throw new UserError("usage", "an ad hoc check needs both --query and --expect");
  const { checks, issues } = parseChecks([entry], "check", baseDir);
  if (issues.length > 0)
    throw new UserError("usage", issues.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return { checks, only: entry.id };
}
