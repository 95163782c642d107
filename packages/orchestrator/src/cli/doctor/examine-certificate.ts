import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Pool } from "pg";
import { fingerprintOf, recordedAuthority } from "../../platform/keys/recorded-authority.ts";
import { requireWholeAuthority } from "../../platform/tls/certificate-files.ts";
import type { Config } from "../../platform/config/read-config.ts";
import { failed, type Finding, ok, skipped, warning } from "@attestore/host/finding";

const DAY_MS = 86_400_000;
/** The service renews its own certificate 90 days before it ends, within a minute. */
const LATE_MS = 80 * DAY_MS;
const SOON_MS = 14 * DAY_MS;

/**
 * The certificate that clients see: when it ends, whether its key fits, and whether it names the
 * service.
 */
export async function examineCertificate(config: Config, now: Date): Promise<Finding[]> {
  const own = config.tlsCertificate !== undefined;
  const file = config.tlsCertificate ?? join(config.data, "tls", "server.pem");
  const keyFile = config.tlsKey ?? file;
  try {
    const certificate = new X509Certificate(await readFile(file));
    const key = createPrivateKey(await readFile(keyFile));
    return [
      expiryFinding(certificate, file, own, now),
      ...(certificate.checkPrivateKey(key)
        ? []
        : [
            failed(
              "tls",
              `The key in ${keyFile} does not belong to the certificate in ${file}.`,
              "Use the two files of one certificate.",
            ),
          ]),
      ...nameFindings(certificate, new URL(config.publicUrl).hostname.replace(/^\[|\]$/g, "")),
      ...(own || config.caKey !== undefined ? [] : await authorityFindings(config.data)),
    ];
  } catch (error) {
    if (!own && errorCode(error) === "ENOENT")
      return [skipped("tls", "There is no certificate yet: the first start creates one.")];
    return [
      failed(
        "tls",
        `${file}: ${errorMessage(error)}.`,
        "Check ATTESTORE_TLS_CERT and ATTESTORE_TLS_KEY, and the permissions of the files.",
      ),
    ];
  }
}

/** No service starts without its authority's key. */
async function authorityFindings(data: string): Promise<Finding[]> {
  try {
    await requireWholeAuthority(join(data, "tls"));
    return [];
  } catch (error) {
    return [
      failed(
        "tls",
        errorMessage(error),
        "The service does not start like this. Restore the directory tls/ from a backup.",
      ),
    ];
  }
}

/** Whether replicas serve with the same local authority, as far as the database knows. */
export async function examineAuthority(config: Config, pool: Pool): Promise<Finding[]> {
  if (config.tlsCertificate !== undefined) return [];
  const caFile = join(config.data, "tls", "ca.pem");
  const caPem = await nullIfMissing(readFile(caFile, "utf8"));
  const recorded = await recordedAuthority(pool);
  if (caPem === null || recorded === null || recorded === fingerprintOf(caPem)) return [];
  return [
    warning(
      "authority",
      `The replica that started last serves with another certificate authority than ${caFile} (SHA-256 ${recorded}). Agents know only one of them.`,
      "Copy tls/ of one replica to all others and restart them, or set a certificate of your own (ATTESTORE_TLS_CERT).",
    ),
  ];
}

export function expiryFinding(
  { validToDate }: Pick<X509Certificate, "validToDate">,
  file: string,
  own: boolean,
  now: Date,
): Finding {
  const left = validToDate.getTime() - now.getTime();
  const until = validToDate.toISOString().slice(0, 10);
  const renew = own
    ? `Renew ${file}; the service loads the new one within a minute.`
    : "Start the service, which renews it. If it does not, see its log.";
  if (left <= 0) return failed("tls", `The certificate in ${file} expired on ${until}.`, renew);
  const message = `The certificate in ${file} is valid until ${until}.`;
  return left < (own ? SOON_MS : LATE_MS) ? warning("tls", message, renew) : ok("tls", message);
}

function nameFindings(certificate: X509Certificate, host: string): Finding[] {
  const named = certificate.checkHost(host) ?? certificate.checkIP(host);
  if (named !== undefined) return [];
  return [
    failed(
      "tls",
      `The certificate does not name ${host}, the host of ATTESTORE_PUBLIC_URL.`,
      "Use a certificate for that name, or a public URL that the certificate names.",
    ),
  ];
}
