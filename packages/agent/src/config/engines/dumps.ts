import { HTTPS_ORIGIN, httpsOrigin } from "../https-origin.ts";
import type { SourceFields } from "../source-fields.ts";
import { parseS3Url, type S3Location, withoutOuterSlashes } from "../storage-config.ts";
import { maxAgeOf } from "./max-age.ts";
import type { EngineSettings } from "./settings.ts";
import { globPattern } from "./glob.ts";

export interface DumpsSettings {
  /** Where the dumps are written. */
  readonly place:
    /** Absolute. */
    | { readonly kind: "directory"; readonly path: string }
    | { readonly kind: "bucket"; readonly s3: S3Location };
  /** Which of its files: `*` and `?` in each part between slashes. */
  readonly pattern: string;
  /** A file that was written more recently may be incomplete. */
  readonly min_age_s: number;
  /** How old the newest one may be; null for any age. */
  readonly max_age_s: number | null;
  /** A smaller file is not a dump. */
  readonly min_bytes: number;
}

const BUCKET_FIELDS = ["bucket", "endpoint", "region", "ca_file", "access_key_id", "secret_access_key"];
const YEAR_S = 366 * 24 * 3600;

export const dumpsSettings: EngineSettings<DumpsSettings> = {
  fields: ["path", ...BUCKET_FIELDS, "pattern", "min_age_s", "max_age_s", "min_bytes"],
  parse: (fields) => {
    const place = placeOf(fields);
    const pattern = fields.has("pattern") ? fields.text("pattern", "a pattern such as orders-*.sql.gz") : "*";
    if (pattern !== null && globPattern(pattern) === null)
      fields.issue("pattern", "must be relative, without .., such as orders-*.sql.gz or */orders.dump");
    const min_age_s = fields.count("min_age_s", 60, {
      min: 0,
      max: YEAR_S,
      what: "a whole number of seconds",
    });
    const max_age_s = maxAgeOf(fields);
    const min_bytes = fields.count("min_bytes", 1, { min: 1, max: 2 ** 50, what: "a whole number of bytes" });
    return place === null || pattern === null ? null : { place, pattern, min_age_s, max_age_s, min_bytes };
  },
};

function placeOf(fields: SourceFields): DumpsSettings["place"] | null {
  if (fields.has("bucket")) {
    if (fields.has("path"))
      return fields.issue("path", "dumps are in a directory (path) or in a bucket, not both");
    const s3 = bucketOf(fields);
    return s3 === null ? null : { kind: "bucket", s3 };
  }
  const stray = BUCKET_FIELDS.find((name) => fields.has(name));
  if (stray !== undefined)
    return fields.issue(stray, "is for dumps in a bucket: give bucket: s3://NAME/PREFIX");
  const path = fields.path(
    "path",
    "the path of the directory with the dumps (or give bucket: s3://NAME/PREFIX)",
  );
  return path === null ? null : { kind: "directory", path };
}

function bucketOf(fields: SourceFields): S3Location | null {
  const place = parseS3Url(fields.text("bucket", "s3://NAME/PREFIX") ?? "");
  if (place === null) return fields.issue("bucket", "must be s3://NAME or s3://NAME/PREFIX");
  const given = fields.optionalText("endpoint", HTTPS_ORIGIN);
  const endpoint = given === null ? null : httpsOrigin(given);
  if (given !== null && endpoint === null) return fields.issue("endpoint", `must be ${HTTPS_ORIGIN}`);
  const accessKeyId = fields.has("access_key_id")
    ? fields.secret("access_key_id")
    : ({ kind: "env", name: "AWS_ACCESS_KEY_ID" } as const);
  const secretAccessKey = fields.has("secret_access_key")
    ? fields.secret("secret_access_key")
    : ({ kind: "env", name: "AWS_SECRET_ACCESS_KEY" } as const);
  if (accessKeyId === null || secretAccessKey === null) return null;
  return {
    bucket: place.bucket,
    prefix: withoutOuterSlashes(place.prefix),
    endpoint,
    region: fields.optionalText("region", "a region such as eu-central-1") ?? "us-east-1",
    caFile: fields.has("ca_file") ? fields.path("ca_file", "the path of a certificate in PEM") : null,
    accessKeyId,
    secretAccessKey,
  };
}
