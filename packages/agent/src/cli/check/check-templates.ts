import { plural } from "@attestore/proof";
import { CHECK_TEMPLATES, templateChecks } from "../../checks/index.ts";
import type { Run } from "../invocation/command.ts";

/** Lists the templates with their checks. */
export const checkTemplates: Run = ({ terminal, flags }) => {
  if (flags.isOn("json")) {
    const templates = CHECK_TEMPLATES.map((template) => ({
      ...template,
      checks: templateChecks(template, template.prefix),
    }));
    terminal.data(JSON.stringify({ templates }));
    return Promise.resolve(0);
  }
  const { strong, faint } = terminal.onData;
  for (const template of CHECK_TEMPLATES) {
    const { name, application, engines, checks, prefix, note } = template;
    terminal.data(
      `${strong(name.padEnd(10))} ${application}: ${plural(checks.length, "check")} (${engines.join(", ")})`,
    );
    for (const { query, expect } of templateChecks(template, prefix))
      terminal.data(`  ${query}  ${faint(expect)}`);
    if (note !== null) terminal.data(faint(`  ${note}`));
  }
  terminal.note("Next: attestore check add SOURCE --template NAME");
  return Promise.resolve(0);
};
