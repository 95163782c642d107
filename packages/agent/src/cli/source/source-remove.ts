import { planConfigEdit } from "../../config/edit-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { confirm } from "../terminal/ask.ts";
import { formatDiff } from "../terminal/line-diff.ts";
import type { Run } from "../invocation/command.ts";
import { openRoot, requireSource } from "../invocation/open-root.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/** Removes a source from config.yaml. Its backups and receipts stay where they are. */
export const sourceRemove: Run = async (call, name) => {
  const { terminal, flags, signal } = call;
  const root = openRoot(call);
  const { layout, config } = root;
  if (name === undefined) throw new UserError("usage", "which source? attestore source remove NAME");
  const { slug } = requireSource(root, name);
  using _ = await takeWorkLock(layout, "source remove", { signal, wait: true, say: terminal.say });
  const edit = await planConfigEdit(layout, (document) => {
    document.deleteIn(["sources", slug]);
    if (config.defaults["source"] === slug) document.deleteIn(["defaults", "source"]);
  });
  if (!flags.isOn("json"))
    for (const line of formatDiff(edit.before, edit.after, terminal.onTalk)) terminal.say(line);
  if (!(await confirm(`Stop backing up ${slug}?`, { yes: flags.isOn("yes"), signal }))) return 1;
  await edit.write();
  if (flags.isOn("json")) terminal.data(JSON.stringify({ removed: slug }));
  else
    terminal.data(
      `${terminal.onData.good("✓")} ${slug} removed from ${layout.config}; its backups and receipts stay`,
    );
  return 0;
};
