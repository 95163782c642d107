import type { AgentEncryption } from "@attestore/contract";
import type { Config } from "../config/config.ts";
import type { Layout } from "../state/layout.ts";
import { readRecoveryState } from "./recovery-state.ts";

/**
 * This host's report to the service about its backups' encryption: the public halves of the keys,
 * and whether the recovery kit was tested.
 */
export async function reportEncryption(
  layout: Layout,
  { recipients }: Pick<Config, "recipients">,
): Promise<AgentEncryption> {
  const kit = await readRecoveryState(layout);
  return {
    recipients: [...recipients],
    // If backups are not encrypted to a kit, it opens none of them.
    recovery_kit:
      kit === null || !recipients.includes(kit.recipient)
        ? null
        : { recipient: kit.recipient, made_at: kit.made_at, tested_at: kit.tested_at },
  };
}
