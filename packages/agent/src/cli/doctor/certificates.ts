import { X509Certificate } from "node:crypto";
import { formatDuration } from "../terminal/times.ts";
import { shownCertificates } from "../../transport/pin-certificate.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

const DAY_MS = 86_400_000;

/**
 * Checks the service's certificate, and the pinned one, before they expire. @throws ServiceError
 */
export async function examineCertificates(
  url: URL,
  pinnedPem: string | null,
  signal: AbortSignal,
  now = Date.now(),
): Promise<Finding[]> {
  const [shown] = await shownCertificates(url, signal);
  const findings =
    shown === undefined
      ? []
      : [examineCertificate("certificate", shown, "ask the service's operator to renew it", now)];
  if (pinnedPem === null) return findings;
  for (const pem of pinnedPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []) {
    const pinned = new X509Certificate(pem);
    if (pinned.fingerprint256 === shown?.fingerprint256) continue;
    const next = "get the service's new CA before then, and add it to service.ca_file";
    findings.push(examineCertificate("pinned CA", pinned, next, now));
  }
  return findings;
}

/** Warn in the last fortnight, or in the last fifth of its lifetime if that is shorter. */
export function examineCertificate(
  title: string,
  { validFromDate, validToDate }: X509Certificate,
  next: string,
  now: number,
): Finding {
  const left_ms = validToDate.getTime() - now;
  const lifetime_ms = validToDate.getTime() - validFromDate.getTime();
  const until = validToDate.toISOString().slice(0, 10);
  if (left_ms <= 0) return failed(title, `ran out ${formatDuration(-left_ms)} ago (${until})`, next);
  const detail = `valid until ${until} (${formatDuration(left_ms)})`;
  return left_ms < Math.min(14 * DAY_MS, lifetime_ms / 5) ? warning(title, detail, next) : ok(title, detail);
}
