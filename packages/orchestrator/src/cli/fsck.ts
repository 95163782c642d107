import type { Command } from "commander";
import { fsck, type FsckOptions } from "../log/fsck/fsck.ts";
import { countsText, noCounts, type Finding } from "../log/fsck/finding.ts";
import { readConfig } from "../platform/config/read-config.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { readIdentity } from "../platform/keys/service-identity.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import { logIdentityOf } from "../log/checkpoints/log-identity.ts";
import { objectStore } from "../service/open-objects.ts";
import { type CommonOptions, consoleCommand, logOf } from "./console-command.ts";
import { plainLine, plural } from "@attestore/proof";
import { type KeptHeads, readKeptHeads } from "./kept-heads.ts";
import { printOutcome } from "./outcome.ts";
import { requireExisting } from "./require-existing.ts";

interface Options extends CommonOptions {
  withoutArchive?: boolean;
}

/** The most findings in the JSON. */
const MOST_IN_JSON = 1000;

/**
 * `attestore-server fsck`: exit code 0 if every log is intact, 1 if anything was found, 2 if it
 * could not be checked. Only reads, also beside a running service.
 */
export function fsckCommand(): Command {
  return consoleCommand(
    "fsck",
    "Rebuild every log from its leaves, and compare it with everything stored and signed, also outside the database",
  )
    .option("--without-archive", "do not read the envelopes that are in the archive")
    .action(async (options: Options) => {
      const config = readConfig(process.env);
      await requireExisting(config);
      const log = logOf(options);
      const opened = await openConfiguredDatabase(config, { role: "command", log });
      const access = connectDatabase({ connection: opened.connection, log, connections: 1 });
      try {
        await migrate(opened.connection, log, undefined, opened);
        const identity = await readIdentity(access.pool);
        if (identity === null)
          printOutcome(
            {
              json: { ok: true, counts: noCounts(), not_compared: [], findings: [] },
              result: "There is no log yet.",
            },
            options,
          );
        else {
          const files =
            options.withoutArchive === true ? null : objectStore(config, Buffer.alloc(32), log).files;
          await run(
            { pool: access.pool, files, identity: logIdentityOf(identity) },
            await readKeptHeads(config),
            options,
          );
        }
      } finally {
        await access.close();
        await opened.close();
      }
    });
}

async function run(
  what: Pick<FsckOptions, "pool" | "files" | "identity">,
  { heads, unread }: KeptHeads,
  options: Options,
): Promise<void> {
  const kept: Finding[] = [];
  const { findings, counts } = await fsck({
    ...what,
    kept: heads,
    onFinding: (finding) => {
      if (kept.length < MOST_IN_JSON) kept.push(finding);
      if (options.json !== true)
        process.stderr.write(`${finding.orgId}: ${plainLine(finding.message)} (${finding.code})\n`);
    },
  });
  const looked = countsText(counts);
  const notCompared = [
    ...unread,
    ...(counts.unread === 0
      ? []
      : [`${plural(counts.unread, "receipt")} whose envelopes are in the archive`]),
  ];
  printOutcome(
    {
      json: {
        ok: findings === 0,
        counts,
        not_compared: notCompared,
        findings: kept.map(({ code, orgId, message }) => ({ code, org_id: orgId, message })),
      },
      result: findings === 0 ? `clean: ${looked}` : `${plural(findings, "finding")} in ${looked}`,
      talk: notCompared.map((what) => `Not compared: ${what}.`),
    },
    options,
  );
  if (findings > 0) process.exitCode = 1;
}
