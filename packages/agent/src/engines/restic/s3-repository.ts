import { xmlTexts } from "@attestore/host/s3/xml";
import { RunError } from "../../errors/run-error.ts";
import { PATIENT } from "../../transport/backoff.ts";
import { EMPTY_SHA256, type S3Bucket, s3Client, type S3Client } from "../../transport/s3-client.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { askHttps } from "./ask-https.ts";
import { type AskRemote, remoteFiles } from "./remote-files.ts";
import {
  DamagedRepository,
  FILE_NAME,
  type ListedType,
  MOST_FILES,
  type Repository,
  UnreadableRepository,
} from "./repository.ts";
import { httpsConnections } from "./rest-repository.ts";

/**
 * A bucket: `s3:HOST/BUCKET/PREFIX` or `s3:https://HOST:PORT/BUCKET/PREFIX`. The credentials come
 * from restic's environment variables (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
 * `AWS_SESSION_TOKEN`, `AWS_DEFAULT_REGION`), and a private CA from `RESTIC_CACERT`.
 * @throws RunError `connection_reference`
 */
export async function openS3Repository(
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Repository> {
  const location = s3Location(address, env["AWS_DEFAULT_REGION"] ?? env["AWS_REGION"]);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new RunError(
      "connection_reference",
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: the agent reads the bucket for restic, and needs both in its environment; or reach it as rclone:REMOTE:PATH",
    );
  const connections = await httpsConnections(env["RESTIC_CACERT"]);
  const credentials = { accessKeyId, secretAccessKey, sessionToken: env["AWS_SESSION_TOKEN"] };
  const client = s3Client(location, credentials, { connections, backoff: PATIENT });
  const where = `s3:${address}`;
  const ask: AskRemote = async (method, path, headers, signal) => {
    const url = client.url(packPath(path));
    const signed = await client.sign(method, url, EMPTY_SHA256);
    return askHttps(method, url, { ...signed, ...headers }, connections, signal);
  };
  return {
    ...remoteFiles(where, ask),
    list: (type, signal) => listed(client, where, type, signal),
    close: () => Promise.resolve(connections.destroy()),
  };
}

/** Restic stores packs in `data/ab/abcd…` there too. */
function packPath(path: string): string {
  return path.replace(/^data\/(..)/, "data/$1/$1");
}

/** @throws RunError `connection_reference` */
export function s3Location(address: string, region: string | undefined): S3Bucket {
  const text = /^https?:\/\//.test(address) ? address : `https://${address.replace(/^\/\//, "")}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  const [bucket = "", ...prefix] = (url?.pathname ?? "").split("/").filter((part) => part !== "");
  if (url === null || url.protocol !== "https:" || bucket === "")
    throw new RunError(
      "connection_reference",
      "a repository s3: takes HOST/BUCKET/PREFIX, reached by https:// (the agent sends no credentials without TLS)",
    );
  const [, ofHost] = /^s3[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(url.host) ?? [];
  return {
    bucket,
    prefix: prefix.map(decodeURIComponent).join("/"),
    endpoint: url.host === "s3.amazonaws.com" ? null : new URL(url.origin),
    region: ofHost ?? region ?? "us-east-1",
  };
}

/** A page has a thousand objects. */
const MOST_PAGES = MOST_FILES / 1000;

async function listed(
  client: S3Client,
  where: string,
  type: ListedType,
  signal: AbortSignal,
): Promise<{ name: string; size: number }[]> {
  const below = `${[client.location.prefix, type].filter((part) => part !== "").join("/")}/`;
  const found: { name: string; size: number }[] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const more = token === undefined ? {} : { "continuation-token": token };
    const url = client.url("", { "list-type": "2", prefix: below, ...more });
    const { body } = await client
      .ask({ method: "GET", url, expected: [200], signal })
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError)) throw error;
        throw new UnreadableRepository(`${where} cannot be listed: ${error.message}`, { cause: error });
      });
    const xml = body.toString("utf8");
    const [keys, sizes] = [xmlTexts(xml, "Key"), xmlTexts(xml, "Size")];
    if (keys.length !== sizes.length)
      throw new UnreadableRepository(`${where} sent a listing that cannot be understood`);
    for (const [at, key] of keys.entries()) {
      const [name, size] = [key.slice(below.length), Number(sizes[at])];
      if (key.startsWith(below) && FILE_NAME.test(name) && Number.isSafeInteger(size) && size >= 0)
        found.push({ name, size });
    }
    [token] = xmlTexts(xml, "NextContinuationToken");
    if (token === undefined) return found;
  }
  throw new DamagedRepository(`${type} has more than ${MOST_FILES} files: \`restic prune\` it`);
}
