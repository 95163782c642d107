import { createHash } from "node:crypto";
import { ConfigurationError } from "../errors/configuration-error.ts";
import type { S3Client } from "./s3-client.ts";
import { xmlText } from "./s3-xml.ts";

export interface ObjectLock {
  mode: "GOVERNANCE" | "COMPLIANCE";
  days: number;
}
