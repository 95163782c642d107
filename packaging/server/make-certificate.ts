/**
 * Makes a certificate for the host of ATTESTORE_S3_ENDPOINT as OUT/server.pem, with its key, unless
 * a good one is there: for the compose file's S3 server. It is of the service's own authority
 * (`tls/ca.pem`), which agents know already. Nobody renews it while that server runs, so it lasts
 * as long as the authority does.
 *
 *   node make-certificate.ts OUT
 */
import { join } from "node:path";
import { readConfig } from "../../packages/orchestrator/src/platform/config/read-config.ts";
import { ensureLocalCertificate } from "../../packages/orchestrator/src/platform/tls/certificate-files.ts";

const [out] = process.argv.slice(2);
const { data, s3Endpoint } = readConfig(process.env);
if (out === undefined || s3Endpoint === undefined)
  throw new Error("usage: node make-certificate.ts OUT, with ATTESTORE_S3_ENDPOINT set");
const { hostname } = new URL(s3Endpoint);
const { renewed } = await ensureLocalCertificate(join(data, "tls"), { dns: [hostname], ip: [] }, new Date(), {
  leafFile: join(out, "server.pem"),
  days: Number.POSITIVE_INFINITY,
});
process.stdout.write(`certificate of ${hostname}: ${renewed ? "made" : "there already"}\n`);
