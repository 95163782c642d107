import type { ConfigRequest } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import type { JournaledRequest } from "../../journal/config-requests.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import type { Layout } from "../../state/layout.ts";
import { type Addition, changeConfig } from "./change-config.ts";
import { chooseDatabase } from "./chosen-database.ts";
import { earlierRequest } from "./earlier-request.ts";
import { refused } from "./refused.ts";

const LONGEST_MS = 3_600_000;
const MOST_SOURCES = 200;

/**
 * Adds a database that was tried before, with those of the checks that this host proposed.
 * @throws UserError request_refused, config_changed, log_alarm; RunError
 */
export async function addSource(
  layout: Layout,
  config: Config,
  entry: JournaledRequest,
  { tried, name, checks: wanted }: Extract<ConfigRequest, { kind: "add_source" }>,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<void> {
  const { request, result } = await earlierRequest(layout, "try_source", tried, { longest_ms: LONGEST_MS });
  const checks = result.source.checks.filter(({ id }) => wanted.includes(id));
  if (checks.length < wanted.length) throw refused("one of these checks was not proposed by this host");
  if (config.sources.has(name) && entry.state !== "adding")
    throw refused(`there is already a source ${name}: choose another name`);
  if (config.sources.size >= MOST_SOURCES)
    throw refused(`config.yaml has ${MOST_SOURCES} sources: add more on the host`);
  const { place, database } = request;
  const chosen = await chooseDatabase(config, { place, database, name, root: layout.root }, context);
  const addition: Addition = {
    kind: "source",
    source: name,
    database,
    entry: { ...chosen.entry, ...(checks.length === 0 ? {} : { checks }) },
  };
  await changeConfig(layout, entry, addition, chosen.secret);
}
