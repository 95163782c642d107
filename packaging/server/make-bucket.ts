/**
 * Makes the S3 bucket of the settings (ATTESTORE_S3_…) if it is not there: for the compose file,
 * whose S3 server begins empty. With object lock where ATTESTORE_S3_OBJECT_LOCK_DAYS is set. The
 * service's own credentials need no right to make buckets, and elsewhere should not have it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { readConfig } from "../../packages/orchestrator/src/platform/config/read-config.ts";

const TRIES = 30;

const config = readConfig(process.env);
const { s3Endpoint: endpoint, s3Bucket: bucket, s3AccessKeyId, s3SecretAccessKey } = config;
if (
  endpoint === undefined ||
  bucket === undefined ||
  s3AccessKeyId === undefined ||
  s3SecretAccessKey === undefined
)
  throw new Error("ATTESTORE_S3_ENDPOINT, _BUCKET, _ACCESS_KEY_ID and _SECRET_ACCESS_KEY have to be set");
const said = await makeBucket();
process.stdout.write(`bucket ${bucket} at ${endpoint}: ${said}\n`);

async function makeBucket(): Promise<string> {
  for (let n = 1; ; n++) {
    try {
      return await ask();
    } catch (error) {
      // It may still be starting.
      if (n === TRIES || !(error instanceof TypeError)) throw error;
      await delay(1000);
    }
  }
}

async function ask(): Promise<string> {
  const signed = await new AwsV4Signer({
    method: "PUT",
    url: `${endpoint ?? ""}/${bucket ?? ""}`,
    headers: config.s3ObjectLockDays === undefined ? {} : { "x-amz-bucket-object-lock-enabled": "true" },
    accessKeyId: s3AccessKeyId ?? "",
    secretAccessKey: s3SecretAccessKey ?? "",
    service: "s3",
    region: config.s3Region,
  }).sign();
  const answer = await fetch(signed.url, { method: signed.method, headers: signed.headers });
  const text = await answer.text();
  if (answer.ok) return "made";
  if (answer.status === 409 && /BucketAlready(OwnedByYou|Exists)/.test(text)) return "there already";
  throw new Error(`the S3 server answered ${answer.status}: ${text.slice(0, 500)}`);
}
