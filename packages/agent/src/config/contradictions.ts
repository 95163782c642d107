import { nearestName } from "@attestore/host/nearest-name";
import { recipientFrom } from "../crypto/recipient.ts";
import { wrongKey } from "../errors/wrong-key.ts";
import { isCredentialName } from "../secrets/credential.ts";
import type { ConfigPath } from "./config-position.ts";
import type { ConfigFile } from "./config-schema.ts";
import { HTTPS_ORIGIN, httpsOrigin } from "./https-origin.ts";
import { suggestion } from "./schema-issues.ts";

/** Of a key, as `ssh-keygen -lf` prints it. */
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;

type Report = (path: ConfigPath, message: string) => void;

/** Reports what no schema sees: fields that contradict each other, and texts that name nothing. */
export function reportContradictions(value: ConfigFile, report: Report): void {
  reportTestFor(value, report);
  const chosen = value.defaults?.source;
  if (typeof chosen === "string" && !Object.hasOwn(value.sources ?? {}, chosen)) {
    const near = nearestName(chosen, Object.keys(value.sources ?? {}));
    report(["defaults", "source"], `no source is named "${chosen}"${suggestion(near)}`);
  }
  if (value.service !== undefined && value.standalone !== undefined)
    report(["standalone"], "can't be combined with service: backups go to one or the other");
  reportEncryption(value, report);
  reportAddresses(value, report);
  const storage = value.standalone?.storage;
  if (storage?.path !== undefined && storage.s3 !== undefined)
    report(["standalone", "storage"], "takes path or s3, not both");
}

function reportTestFor(value: ConfigFile, report: Report): void {
  for (const [slug, { keys }] of Object.entries(value.test_for ?? {})) {
    if (!Object.hasOwn(value.sources ?? {}, slug)) {
      const near = nearestName(slug, Object.keys(value.sources ?? {}));
      report(
        ["test_for", slug],
        `is not a source under sources:, which says how it is tested${suggestion(near)}`,
      );
    }
    for (const [at, key] of keys.entries())
      if (!FINGERPRINT.test(key))
        report(
          ["test_for", slug, "keys", at],
          `must be the fingerprint of a signing key, SHA256:…, as ssh-keygen -lf prints it${wrongKey(key)}`,
        );
  }
}

/** The schema knows their form, but not which ports and host names there are. */
function reportAddresses({ service, standalone }: ConfigFile, report: Report): void {
  const told = `must be ${HTTPS_ORIGIN}`;
  if (service !== undefined && httpsOrigin(service.url) === null) report(["service", "url"], told);
  const endpoint = standalone?.storage?.s3?.endpoint;
  if (endpoint !== undefined && httpsOrigin(endpoint) === null)
    report(["standalone", "storage", "s3", "endpoint"], told);
}

function reportEncryption({ encryption }: ConfigFile, report: Report): void {
  for (const [at, recipient] of (encryption?.recipients ?? []).entries())
    if (recipientFrom(recipient) === null)
      report(
        ["encryption", "recipients", at],
        recipient.startsWith("AGE-SECRET-KEY")
          ? "is a secret key: keep it in its own file, and put its age1… recipient here"
          : `is neither an age1… key nor an ssh-ed25519 or ssh-rsa public key${wrongKey(recipient)}`,
      );
  for (const [at, file] of (encryption?.identity_files ?? []).entries())
    if (file.startsWith("credential:") && !isCredentialName(file.slice("credential:".length)))
      report(["encryption", "identity_files", at], "credential: takes the name of a systemd credential");
}
