import { formatAge } from "./terminal/times.ts";
import { UserError } from "../errors/user-error.ts";
import { clearLogAlarm, readLogAlarm } from "../state/log-alarm.ts";
import type { Run } from "./invocation/command.ts";
import { openRoot } from "./invocation/open-root.ts";

export const alarm: Run = async (call, action = "show") => {
  const { terminal } = call;
  const { layout, flags } = openRoot(call);
  if (action === "clear") {
    const because = flags.text("because");
    if (because === undefined)
      throw new UserError(
        "usage",
        "clearing an alarm needs a reason, which is kept with the evidence: --because TEXT",
      );
    const kept = await clearLogAlarm(layout, { because, forgetHead: flags.isOn("forgetHead") });
    if (flags.isOn("json")) terminal.data(JSON.stringify({ cleared: true, evidence: kept }));
    else terminal.data(`Cleared. The evidence is kept in ${kept}.`);
    return 0;
  }
  if (action !== "show") throw new UserError("usage", `alarm takes show or clear, not "${action}"`);
  const standing = await readLogAlarm(layout);
  if (flags.isOn("json")) {
    terminal.data(JSON.stringify({ alarm: standing }));
  } else if (standing === null) {
    terminal.data("No alarm: the log extends every head that this agent has seen.");
  } else {
    const { bad, strong } = terminal.onData;
    terminal.data(
      `${bad("ALARM")}  ${standing.reason}, ${formatAge(standing.raised_at)}: ${standing.detail}`,
    );
    terminal.block(`\n${strong("The head that this agent recorded:")}\n${standing.kept ?? "none"}`);
    terminal.block(`${strong("The head that the service returned:")}\n${standing.offered}`);
    terminal.say(
      "The log signed both. Send them to the service's operator and to your auditor.\n" +
        "This host signs nothing until `attestore alarm clear --because TEXT`. With --forget-head, the next head is trusted as if it were the first.",
    );
  }
  return standing === null ? 0 : 1;
};
