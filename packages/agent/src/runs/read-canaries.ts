import { type Canary, CanaryError, type CheckConfig, readCanary } from "../checks/index.ts";
import { RunError } from "../errors/run-error.ts";

/**
 * The checks' canaries, by check id; they are read before anything is restored. A secret inside a
 * check's own text would end up in the receipt.
 * @throws RunError `canary_unusable`
 */
export async function readCanaries(checks: readonly CheckConfig[]): Promise<Map<string, Canary>> {
  const canaries = new Map<string, Canary>();
  for (const check of checks) {
    if (!("canary" in check)) continue;
    try {
      canaries.set(check.id, await readCanary(check.canary));
    } catch (error) {
      if (error instanceof CanaryError)
        throw new RunError("canary_unusable", `check ${check.id}: ${error.message}`);
      throw error;
    }
  }
  for (const [id, canary] of canaries) {
    const holder = checks.find((check) => canary.isIn(JSON.stringify(check)));
    if (holder === undefined) continue;
    throw new RunError(
      "canary_unusable",
      `the canary of check ${id} appears in check ${holder.id} itself, whose text goes into receipts: make a new canary, and put only a reference to it there`,
    );
  }
  return canaries;
}
