import type { Finding } from "@attestore/host/finding";
import { layoutOf, makeLayout } from "../../state/layout.ts";
import type { Style } from "../terminal/terminal.ts";
import type { Run } from "../invocation/command.ts";
import { examine } from "./examine.ts";

export const doctor: Run = async (call) => {
  const { terminal, flags } = call;
  const { resolved, problem } = call.root;
  // A broken config.yaml is a finding. Without a root there is nothing to examine.
  if (resolved === null || problem?.code === "root_missing") throw problem;
  const layout = layoutOf(resolved.path);
  await makeLayout(layout);
  const findings = await examine(call, resolved, layout);
  if (flags.isOn("json")) {
    terminal.data(
      JSON.stringify({ root: resolved.path, branch: resolved.branch, findings: findings.map(jsonOf) }),
    );
  } else for (const finding of findings) terminal.data(describe(finding, terminal.onData));
  return findings.some(({ level }) => level === "failed") ? 1 : 0;
};

/** The levels as `--json` has had them from the start. */
const RESULTS = { ok: "good", warning: "warn", failed: "bad", skipped: "skipped" } as const;

function jsonOf({ check, level, message, next }: Finding) {
  return { title: check, result: RESULTS[level], detail: message, next: next ?? null };
}

function describe({ check, level, message, next }: Finding, style: Style): string {
  const { good, warn, bad } = style;
  const mark = { ok: good("✓"), skipped: "-", warning: warn("!"), failed: bad("✗") }[level];
  return `${mark} ${check.padEnd(16)} ${message}${next === undefined ? "" : `\n${" ".repeat(19)}${style.strong(next)}`}`;
}
