import type { Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";

export const sourceList: Run = async (call) => {
  const { terminal, flags } = call;
  const { config } = openRoot(call);
  const sources = [...config.sources.values()].map(({ slug, engine, checks }) => ({
    source: slug,
    engine,
    checks: checks.map(({ id }) => id),
    is_default: config.defaults["source"] === slug,
  }));
  if (flags.isOn("json")) terminal.data(JSON.stringify({ sources }));
  else if (sources.length === 0) terminal.note("There are no sources yet. Add one: attestore source add");
  else
    for (const { source, engine, checks, is_default: isDefault } of sources)
      terminal.data(
        `${source}  ${engine}  ${checks.length === 0 ? "built-in checks only" : checks.join(", ")}${isDefault ? "  (default)" : ""}`,
      );
  return 0;
};
