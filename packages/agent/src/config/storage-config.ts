import { resolve } from "node:path";
import type { Static } from "typebox";
import { credentialPath, isCredentialName } from "../secrets/credential.ts";
import type { StandaloneBlock } from "./config-schema.ts";
import type { SecretReference } from "../secrets/secret-reference.ts";
import type { S3Bucket } from "../transport/s3-client.ts";

export interface S3Location extends S3Bucket {
  /** Absolute; null for the public CAs. */
  readonly caFile: string | null;
  readonly accessKeyId: SecretReference;
  readonly secretAccessKey: SecretReference;
}

export type StorageConfig =
  /** Absolute. */
  { readonly kind: "directory"; readonly path: string } | { readonly kind: "s3"; readonly s3: S3Location };

/**
 * How many backups each rule keeps; 0 keeps none. A backup that any rule keeps stays (contract
 * section 11).
 */
export interface KeepRules {
  /** The newest n. */
  readonly last: number;
  /** All that are at most n times 24 hours older than the newest. */
  readonly days: number;
  /**
   * The newest of each of the n newest days (UTC) that have one; weeks start on Monday (ISO 8601).
   * While fewer have one, the oldest stays too.
   */
  readonly daily: number;
  readonly weekly: number;
  readonly monthly: number;
  readonly yearly: number;
}

/** `standalone:` of config.yaml: there is no service. */
export interface StandaloneConfig {
  readonly storage: StorageConfig;
  readonly retention: KeepRules;
}

/** `s3://BUCKET/PREFIX`, or without the prefix, which is then empty; null for any other text. */
export function parseS3Url(text: string): { readonly bucket: string; readonly prefix: string } | null {
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  return bucket === undefined ? null : { bucket, prefix };
}

export function withoutOuterSlashes(prefix: string): string {
  return prefix.replaceAll(/^\/+|\/+$/g, "");
}

/** Reads a value that the schema has accepted, and `reportContradictions` too. */
export function standaloneConfig(
  { storage, retention }: Static<typeof StandaloneBlock>,
  root: string,
  builtInPath: string,
): StandaloneConfig {
  const s3 = storage?.s3;
  return {
    storage:
      s3 === undefined
        ? { kind: "directory", path: resolve(root, storage?.path ?? builtInPath) }
        : {
            kind: "s3",
            s3: {
              bucket: s3.bucket,
              prefix: withoutOuterSlashes(s3.prefix ?? ""),
              endpoint: s3.endpoint === undefined ? null : new URL(s3.endpoint),
              region: s3.region ?? "us-east-1",
              caFile: s3.ca_file === undefined ? null : resolve(root, s3.ca_file),
              accessKeyId: secretReference(s3.access_key_id ?? "env:AWS_ACCESS_KEY_ID", root),
              secretAccessKey: secretReference(s3.secret_access_key ?? "env:AWS_SECRET_ACCESS_KEY", root),
            },
          },
    retention: {
      last: retention?.keep_last ?? 0,
      days: retention?.keep_days ?? 0,
      daily: retention?.keep_daily ?? 0,
      weekly: retention?.keep_weekly ?? 0,
      monthly: retention?.keep_monthly ?? 0,
      yearly: retention?.keep_yearly ?? 0,
    },
  };
}

/** `env:NAME`, `file:PATH` or `credential:NAME`, in the schema's pattern. */
function secretReference(text: string, root: string): SecretReference {
  const at = text.indexOf(":");
  const [kind, rest] = [text.slice(0, at), text.slice(at + 1)];
  if (kind === "env") return { kind, name: rest };
  if (kind === "credential" && isCredentialName(rest)) return { kind: "file", path: credentialPath(rest) };
  return { kind: "file", path: resolve(root, rest) };
}
