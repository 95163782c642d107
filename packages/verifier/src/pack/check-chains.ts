import type { AgentTimes } from "./check-agents.ts";
import type { CheckedReceipt } from "./check-entries.ts";
import type { Findings } from "./findings.ts";

/**
 * Each receipt names the one that its agent signed before. One that was signed and never reached the log shows as a predecessor that
 * nobody has: the service may have dropped it, or the agent lost it. Only an agent's first receipt here may follow on one from
 * before, and it is told of how many that is. Also that nobody signed before they came or after they were revoked.
 */
export function checkChains(
  findings: Findings,
  receipts: readonly CheckedReceipt[],
  otherBodies: ReadonlySet<string>,
  { attachedAt, revokedAt, inUseFrom }: AgentTimes,
): void {
  const known = new Set(receipts.map(({ bodySha256 }) => bodySha256));
  const seen = new Set<string>();
  let gaps = 0;
  let firstGap = "";
  let restarts = 0;
  let fromBefore = 0;
  for (const { id, logIndex, statement, keyFingerprint, isEarlier } of receipts) {
    const { agent_id, previous_receipt_sha256: previous } = statement.predicate;
    const from = inUseFrom.get(keyFingerprint) ?? attachedAt.get(agent_id) ?? -1;
    if (logIndex < from || logIndex > (revokedAt.get(agent_id) ?? Infinity))
      findings.fail("agents", `${id} is of ${agent_id} at a time when its key did not count`);
    if (isEarlier) continue;
    const isFirst = !seen.has(agent_id);
    seen.add(agent_id);
    const isKnown = previous === null || known.has(previous) || otherBodies.has(previous);
    if (isFirst) {
      if (!isKnown) fromBefore += 1;
    } else if (previous === null) restarts += 1;
    else if (!isKnown) {
      gaps += 1;
      firstGap ||= `${id} of ${agent_id}`;
    }
  }
  if (gaps > 0)
    findings.leaveOpen(
      "chains",
      `${gaps} receipts follow on one that is not in the log, the first is ${firstGap}: ask the host for its receipts/`,
    );
  const restarted = `; ${restarts} receipts begin a chain anew, as after a host was set up again`;
  const begun = `; of ${fromBefore} agents from their first receipt here on, which follows on one that is not in the pack`;
  findings.hold(
    "chains",
    `of ${seen.size} agents${fromBefore > 0 ? begun : ""}${restarts > 0 ? restarted : ""}`,
  );
}
