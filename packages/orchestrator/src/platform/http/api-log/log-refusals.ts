import type { Logger } from "../../logging/logger.ts";

/** At most one line in this time. */
const EVERY_MS = 60_000;
/** Networks that a line names; whoever floods a service may have many. */
const NAMED = 5;

/**
 * Logs connections that were refused because too many without a credential are open: the first one
 * at once, then once a minute how many there were, and from where most.
 */
export function logRefusals(logger: Logger, every_ms = EVERY_MS): (network: string) => void {
  let refused = new Map<string, number>();
  let pause: NodeJS.Timeout | null = null;
  const say = (): void => {
    pause = null;
    if (refused.size === 0) return;
    const most = [...refused].toSorted(([, a], [, b]) => b - a);
    const connections = most.reduce((sum, [, count]) => sum + count, 0);
    refused = new Map();
    pause = setTimeout(say, every_ms).unref();
    logger.warn(
      { connections, networks: Object.fromEntries(most.slice(0, NAMED)) },
      "connections were refused, because too many on which nobody has shown a credential are open",
    );
  };
  return (network) => {
    // One that nobody counted yet is not worth more memory than the open connections take.
    if (refused.has(network) || refused.size < 10_000) refused.set(network, (refused.get(network) ?? 0) + 1);
    if (pause === null) say();
  };
}
