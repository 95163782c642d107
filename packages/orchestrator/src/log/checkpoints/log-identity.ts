import type { LogIdentity } from "./log-keys.ts";
import type { ServiceIdentity } from "../../platform/keys/service-identity.ts";

/** The keys with which a database's logs are verified. */
export function logIdentityOf(identity: ServiceIdentity): LogIdentity {
  return {
    host: identity.log_host,
    notePublicKey: new Uint8Array(Buffer.from(identity.log_key, "base64")),
    timePublicKey: new Uint8Array(Buffer.from(identity.cosigner_key, "base64")),
  };
}
