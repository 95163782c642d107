import { plural } from "@attestore/proof";
import { isSeq } from "yaml";
import { templateChecks } from "../../checks/index.ts";
import { planConfigEdit } from "../../config/edit-config.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Run } from "../invocation/command.ts";
import { chosenSource, openRoot, requireSource } from "../invocation/open-root.ts";
import { chosenTemplate, givenPrefix } from "../source/chosen-template.ts";
import { confirm } from "../terminal/ask.ts";
import { formatDiff } from "../terminal/line-diff.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/** Adds a template's checks to a source in config.yaml. Checks that the source has already stay. */
export const checkAdd: Run = async (call, name) => {
  const { terminal, flags, signal } = call;
  const root = openRoot(call);
  const { layout } = root;
  const source = name === undefined ? chosenSource(root) : requireSource(root, name);
  const template = chosenTemplate(call, source.engine);
  if (template === null)
    throw new UserError("usage", "which template? --template NAME; attestore check templates lists them");
  const before = new Set(source.checks.map(({ id }) => id));
  const added = templateChecks(template, givenPrefix(call, template) ?? template.prefix).filter(
    ({ id }) => !before.has(id),
  );
  using _ = await takeWorkLock(layout, "check add", { signal, wait: true, say: terminal.say });
  const edit = await planConfigEdit(layout, (document) => {
    const place = ["sources", source.slug, "checks"];
    if (isSeq(document.getIn(place)))
      for (const check of added) document.addIn(place, document.createNode(check));
    else document.setIn(place, document.createNode(added));
  });
  if (added.length > 0) {
    if (!flags.isOn("json"))
      for (const line of formatDiff(edit.before, edit.after, terminal.onTalk)) terminal.say(line);
    const question = `Add ${plural(added.length, "check")} to ${source.slug}?`;
    if (!(await confirm(question, { yes: flags.isOn("yes"), signal }))) return 1;
    await edit.write();
  }
  if (flags.isOn("json")) {
    terminal.data(
      JSON.stringify({ source: source.slug, template: template.name, added: added.map(({ id }) => id) }),
    );
    return 0;
  }
  const { good } = terminal.onData;
  terminal.data(
    added.length === 0
      ? `${good("✓")} ${source.slug} has all checks of the template ${template.name} already`
      : `${good("✓")} ${plural(added.length, "check")} for ${template.application} added to ${source.slug}`,
  );
  if (template.note !== null) terminal.note(template.note);
  terminal.note(`Next: attestore check try ${source.slug} --can-fail`);
  return 0;
};
