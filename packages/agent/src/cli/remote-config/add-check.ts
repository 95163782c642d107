import type { ConfigRequest } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import { MAX_CHECKS } from "../../config/parse-checks.ts";
import type { JournaledRequest } from "../../journal/config-requests.ts";
import type { Layout } from "../../state/layout.ts";
import { changeConfig } from "./change-config.ts";
import { earlierRequest } from "./earlier-request.ts";
import { refused } from "./refused.ts";

const LONGEST_MS = 24 * 3_600_000;

/**
 * Adds a check that was tried before: one that held, and failed on ruined data.
 * @returns the source
 * @throws UserError request_refused, config_changed, log_alarm
 */
export async function addCheck(
  layout: Layout,
  config: Config,
  entry: JournaledRequest,
  { tried, name }: Extract<ConfigRequest, { kind: "add_check" }>,
): Promise<string> {
  const { request, result } = await earlierRequest(layout, "try_check", tried, { longest_ms: LONGEST_MS });
  const { query, expect, held, noticed } = result.check;
  if (!held) throw refused("the check did not hold on the restored backup");
  if (noticed.length === 0)
    throw refused("the check noticed nothing when the copy was ruined: it cannot fail");
  const source = config.sources.get(request.source);
  if (source === undefined) throw refused(`config.yaml has no source ${request.source}`);
  if (source.checks.some(({ id }) => id === name) && entry.state !== "adding")
    throw refused(`${request.source} has a check ${name} already: choose another name`);
  if (source.checks.length >= MAX_CHECKS) throw refused(`${request.source} has ${MAX_CHECKS} checks already`);
  await changeConfig(layout, entry, {
    kind: "check",
    source: request.source,
    entry: { id: name, query, expect },
  });
  return request.source;
}
