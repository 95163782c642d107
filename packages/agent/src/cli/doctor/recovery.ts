import { formatAge } from "../terminal/times.ts";
import { readRecoveryState, recoveryGap } from "../../recovery/recovery-state.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import { type Finding, ok, warning } from "@attestore/host/finding";

/** Whether the backups can be read once this host is gone, and whether somebody has tried. */
export async function examineRecovery(layout: Layout, config: Config): Promise<Finding> {
  const state = await readRecoveryState(layout);
  const gap = recoveryGap(state, config.recipients);
  if (gap !== null) return warning("recovery kit", gap.what, gap.next);
  return ok("recovery kit", `tested ${formatAge(state?.tested_at ?? "")}`);
}
