import { UserError } from "../../errors/user-error.ts";
import { confirmIdentity, formatIdentity, readSourcePins } from "../../receipts/source-pins.ts";
import { reportAccepted } from "../../receipts/report-accepted.ts";
import { confirm } from "../terminal/ask.ts";
import type { Run } from "../invocation/command.ts";
import { personOf } from "../invocation/person.ts";
import { openRoot, requireSource } from "../invocation/open-root.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/**
 * Confirms that a source is now another database, for example one that was restored from a dump.
 */
export const sourceConfirm: Run = async (call, name) => {
  const { terminal, flags, signal } = call;
  const root = openRoot(call);
  const { layout } = root;
  if (name === undefined) throw new UserError("usage", "which source? attestore source confirm NAME");
  const { slug } = requireSource(root, name);
  using _ = await takeWorkLock(layout, "source confirm", { signal, wait: true, say: terminal.say });
  const pin = (await readSourcePins(layout)).get(slug);
  if (pin === undefined || pin.met === null)
    throw new UserError("usage", `${slug} is the pinned database: there is nothing to confirm`);
  if (!flags.isOn("json")) {
    terminal.say(`pinned: ${formatIdentity(pin.accepted.at(-1)?.identity ?? {})}`);
    terminal.say(`met:    ${formatIdentity(pin.met.identity)}  (${pin.met.in})`);
  }
  if (!(await confirm(`Use this database as ${slug} from now on?`, { yes: flags.isOn("yes"), signal })))
    return 1;
  const confirmed = await confirmIdentity(layout, slug);
  const identity = confirmed?.accepted.at(-1)?.identity ?? {};
  const by = personOf(call);
  await reportAccepted(layout, slug, new Date().toISOString(), {
    change: "identity",
    message: `${by} confirmed that ${slug} is now ${formatIdentity(identity)}`,
    by,
    before: pin.accepted.at(-1)?.identity ?? {},
    after: identity,
  });
  if (flags.isOn("json")) terminal.data(JSON.stringify({ source: slug, identity }));
  else terminal.data(`${terminal.onData.good("✓")} ${slug} is ${formatIdentity(identity)} from now on`);
  return 0;
};
