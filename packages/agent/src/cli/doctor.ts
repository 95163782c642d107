import { layoutOf, makeLayout } from "../state/layout.ts";
import type { Style } from "./terminal/terminal.ts";
import type { Run } from "./command.ts";
import { examine } from "./doctor/examine.ts";
import type { Finding } from "./doctor/finding.ts";

export const doctor: Run = async (call) => {
  const { terminal, flags } = call;
  const { resolved, problem } = call.root;
  // A broken config.yaml is a finding. Without a root there is nothing to examine.
  if (resolved === null || problem?.code === "root_missing") throw problem;
  const layout = layoutOf(resolved.path);
  await makeLayout(layout);
  const findings = await examine(call, resolved, layout);
  if (flags.isOn("json")) {
    terminal.data(JSON.stringify({ root: resolved.path, branch: resolved.branch, findings }));
  } else for (const finding of findings) terminal.data(describe(finding, terminal.onData));
  return findings.some(({ result }) => result === "bad") ? 1 : 0;
};

function describe({ result, title, detail, next }: Finding, style: Style): string {
  const mark = { good: style.good("✓"), warn: style.warn("!"), bad: style.bad("✗") }[result];
  return `${mark} ${title.padEnd(16)} ${detail}${next === null ? "" : `\n${" ".repeat(19)}${style.strong(next)}`}`;
}
