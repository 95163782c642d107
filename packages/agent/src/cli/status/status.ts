import { formatBytes, plural } from "@attestore/proof";
import { existsSync } from "node:fs";
import { errorCode } from "@attestore/host/errno";
import { formatAge } from "../terminal/times.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Style } from "../terminal/terminal.ts";
import { coverageText } from "../../receipts/coverage.ts";
import { readAgentStatus, type AgentStatus } from "./agent-status.ts";
import type { SourceStatus } from "./source-status.ts";
import { tablesText } from "../outcome/tables-text.ts";
import type { Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";
import type { FoundRoot } from "../invocation/find-root.ts";
import { layoutOf, makeLayout, type Layout } from "../../state/layout.ts";
import { isLocked } from "../../state/lock.ts";
import { notAttached } from "../../service/not-attached.ts";

export const status: Run = async (call) => {
  const { terminal } = call;
  printThatItRuns(call.root);
  const { layout, config, flags } = openRoot(call);
  if (config.agent === null) throw notAttached(layout, config);
  await makeLayout(layout);
  const found = await readAgentStatus(layout, config);
  if (flags.isOn("json")) terminal.data(JSON.stringify(found));
  else for (const text of describe(found, terminal.onData)) terminal.data(text);
  return found.problems.length === 0 && found.sources.length > 0 ? 0 : 1;
};

/**
 * @throws UserError that also says, besides what is wrong with config.yaml, whether an agent still
 * runs
 */
function printThatItRuns({ resolved, problem }: FoundRoot): void {
  if (problem === null || resolved === null) return;
  const layout = layoutOf(resolved.path);
  if (!isSeenToRun(layout)) return;
  throw new UserError(
    problem.code,
    `${problem.message}\nUntil then \`attestore run\` keeps using the last valid configuration.`,
  );
}

/**
 * Also false for users who may not look at the locks. They often may not read config.yaml either.
 */
function isSeenToRun(layout: Layout): boolean {
  try {
    return existsSync(layout.locks) && isLocked(layout, "run");
  } catch (error) {
    if (errorCode(error) === "EACCES") return false;
    throw error;
  }
}

function describe(found: AgentStatus, style: Style): string[] {
  const proven = found.sources.filter(({ verdict }) => verdict === "proven").length;
  const count = `${proven} of ${plural(found.sources.length, "source")} proven`;
  const isGood = found.problems.length === 0 && proven > 0;
  const lines = [`${isGood ? style.good(count) : style.bad(count)}  ${style.faint(describeHome(found))}`];
  const width = Math.max(0, ...found.sources.map(({ source }) => source.length));
  for (const source of found.sources) lines.push(`  ${sourceLine(source, width, style)}`);
  for (const { what, next } of found.problems)
    lines.push(`${style.bad("!")} ${what}\n    ${style.strong(next)}`);
  for (const { what, next } of found.advice)
    lines.push(`${style.warn("·")} ${what}\n    ${style.strong(next)}`);
  lines.push(...remoteConfigLines(found, style));
  if (found.sources.length === 0) lines.push("Add a source to back up: attestore source add");
  return lines;
}

function remoteConfigLines({ remote_config: { allowed, added } }: AgentStatus, style: Style): string[] {
  const lines = allowed
    ? ["The dashboard may add sources and checks (allow_remote_config in config.yaml)"]
    : [];
  for (const { at, by, what } of added) lines.push(`  ${what} was added ${formatAge(at)} by ${by}`);
  return lines.map(style.faint);
}

function describeHome(found: AgentStatus): string {
  if (found.storage !== null) return `standalone, ${found.storage}`;
  const heard =
    found.last_heartbeat_at === null ? "no heartbeat yet" : `heard ${formatAge(found.last_heartbeat_at)}`;
  return `${found.service ?? ""} ${heard}${found.running ? ", agent running" : ", agent not running"}`;
}

function sourceLine(
  { source, verdict, last_backup: backup, last_test: test, last_clean_backup: clean, coverage }: SourceStatus,
  width: number,
  style: Style,
): string {
  const marks = {
    proven: style.good("✓ proven  "),
    failed: style.bad("✗ FAILED  "),
    untested: style.warn("? untested"),
    no_backup: style.warn("- nothing "),
  };
  const parts = [marks[verdict], source.padEnd(width)];
  // A test fails before the restore, too: of a damaged backup nothing was restored.
  if (test !== null) {
    const did = test.result === "passed" ? "restored" : "tested";
    parts.push(`${did} ${formatAge(test.at)}, ${plural(test.checks, "check")}`);
  }
  if (test !== null && test.not_counted > 0)
    parts.push(
      style.warn(`not counted: ${tablesText({ count: test.not_counted, names: test.not_counted_tables })}`),
    );
  if (test !== null && test.not_checked > 0)
    parts.push(
      style.warn(`not checked: ${tablesText({ count: test.not_checked, names: test.not_checked_names })}`),
    );
  const fewer = test?.fewer_objects ?? null;
  if (fewer !== null) parts.push(style.warn(`fewer than before: ${fewer}`));
  const [suspicion, ...others] = test?.suspicious ?? [];
  if (suspicion !== undefined) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    parts.push(style.warn(`suspicious: ${suspicion}${more}`), `last clean backup ${clean ?? "none"}`);
  }
  if (test !== null) parts.push(test.content_text);
  if (coverage !== null) parts.push(coverageText(coverage));
  if (backup !== null) parts.push(`backed up ${formatAge(backup.at)}, ${formatBytes(backup.size_bytes)}`);
  return parts.join("  ");
}
