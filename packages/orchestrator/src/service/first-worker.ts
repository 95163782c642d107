import { join } from "node:path";
import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import type { Pool } from "pg";
import { warnOfPasskeys } from "../features/operators/warn-of-passkeys.ts";
import type { Config } from "../platform/config/read-config.ts";
import type { DatabaseAccess } from "../platform/database/database.ts";
import { keySlots, leftFiles } from "../platform/keys/key-slots.ts";
import type { Logger } from "../platform/logging/logger.ts";
import type { ServerCertificate } from "./server-certificate.ts";

/** What a data directory's first worker does once, before it answers: it warns and tidies up. */
export async function prepareDataDirectory(
  config: Config,
  { requests, jobs }: { requests: DatabaseAccess; jobs: { pool: Pool } },
  certificate: ServerCertificate,
  log: Logger,
): Promise<void> {
  await warnOfPasskeys(requests.database, config.publicUrl, log);
  const left = await leftFiles(keySlots(config));
  if (left.length > 0)
    log.warn({ files: left }, "keys in the token also exist as files; see attestore-server keys move");
  await sweepTemporaryFiles(join(config.data, "keys"));
  if (certificate.caFile !== null) await sweepTemporaryFiles(join(config.data, "tls"));
  await certificate.warnOfOtherAuthority(jobs.pool);
}

/** Says in the log where the service is. */
export function announce(config: Config, certificate: ServerCertificate, log: Logger): void {
  log.info(
    {
      url: config.publicUrl,
      address: `${config.listen.host}:${config.listen.port}`,
      data: config.data,
      ca_file: certificate.caFile ?? undefined,
      certificate_until: certificate.validTo.toISOString(),
      database: config.databaseUrl === undefined ? "embedded" : "DATABASE_URL",
      objects: config.s3Bucket === undefined ? "disk" : `S3 bucket ${config.s3Bucket}`,
    },
    "listening",
  );
  if (certificate.caFile !== null)
    log.info(
      { ca_file: certificate.caFile },
      "browsers warn about the certificate, because this service issued it itself: continue, or import ca_file as an authority for websites; attestore-server trust says how, and has this machine's other programs trust it",
    );
}
