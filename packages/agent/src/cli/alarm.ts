import { formatAge } from "@attestore/host/amounts";
import { UserError } from "../errors/user-error.ts";
import { clearLogAlarm, readLogAlarm } from "../state/log-alarm.ts";
import type { Run } from "./command.ts";
import { openRoot } from "./open-root.ts";

export const alarm: Run = async (call, action = "show") => {
  const { terminal } = call;
  const { layout, flags } = openRoot(call);
  if (action === "clear") {
    const because = flags.text("because");
    if (because === undefined)
      throw new UserError("usage", "clearing an alarm needs a reason that is kept with it: --because TEXT");
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
    terminal.data("No alarm: the log has extended every head that this agent has seen.");
  } else {
    const { bad, strong } = terminal.onData;
    terminal.data(
      `${bad("ALARM")}  ${standing.reason}, ${formatAge(standing.raised_at)}: ${standing.detail}`,
    );
    terminal.block(`\n${strong("The head that this agent kept:")}\n${standing.kept ?? "none"}`);
    terminal.block(`${strong("The head that it was shown:")}\n${standing.offered}`);
    terminal.say(
      "Both are signed by the log: send them to the service's operator and to your auditor.\n" +
        "Nothing is signed here until `attestore alarm clear --because TEXT`; with --forget-head the next head is taken as the first.",
    );
  }
  return standing === null ? 0 : 1;
};
