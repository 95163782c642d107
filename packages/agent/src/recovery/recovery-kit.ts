import { escapeHtml } from "@attestore/proof";
import type { Config } from "../config/config.ts";
import { formatShare } from "../crypto/share-text.ts";
import type { Share } from "../crypto/shamir.ts";

/** A description of the kit, for somebody who finds it in a safe in five years. */
export interface KitFacts {
  readonly made: string;
  readonly host: string;
  readonly recipient: string;
  /** Of the key that signs receipts: a new host needs to know whose it may trust. */
  readonly fingerprint: string;
  readonly config: Config;
}

/** One page: the whole key, or one share of it. */
export type KitSecret =
  | { readonly kind: "key"; readonly identity: string }
  | { readonly kind: "share"; readonly share: Share; readonly count: number; readonly threshold: number };

/** A page of the kit in plain text, at most 78 columns except for the key. */
export function kitText(facts: KitFacts, secret: KitSecret): string {
  const share = secret.kind === "share" ? secret : null;
  const title =
    share === null
      ? "ATTESTORE RECOVERY KIT"
      : `ATTESTORE RECOVERY KIT, SHARE ${share.share.number} OF ${share.count}`;
  const { agent, sources } = facts.config;
  const lines = [
    title,
    "=".repeat(title.length),
    "",
    "This page decrypts the backups named below that were made after it. Whoever has it can",
    "read them.",
    "Keep it on paper, away from the host, in a place that others can find without you.",
    "",
    `made      ${facts.made}`,
    `host      ${facts.host}`,
    ...(agent === null ? [] : [`agent     ${agent.id}`, `org       ${agent.orgId}`]),
    `backups   ${storageOf(facts.config)}`,
    `sources   ${[...sources.values()].map(({ slug, engine }) => `${slug} (${engine})`).join(", ") || "none yet"}`,
    `public    ${facts.recipient}`,
    `signed by ${facts.fingerprint}`,
    "",
    ...(secret.kind === "key" ? keySection(secret.identity) : shareSection(secret)),
    "RECOVER A BACKUP WITHOUT US",
    "",
    "Any Debian will do: apt-get install age zstd, and for the data postgresql-client,",
    "mariadb-client, sqlite3 or tar. Then, with a ciphertext (*.age) of the place above:",
    "",
    "    age --decrypt --identity age.key --output backup.zst backup.age &&",
    "      zstd --decompress --rm backup.zst -o backup.dump",
    "",
    "If either fails, delete its output and use another backup. backup.dump is",
    "the output of the engine's own program: pg_restore for PostgreSQL, the database file for",
    "SQLite, tar for files. The receipt of the backup names versions and its SHA-256.",
    "",
    "TEST THIS KIT, today and once a year, from the paper itself:",
    "",
    "    attestore keys recovery-kit --test",
    "",
  ];
  return `${lines.join("\n")}\n`;
}

function keySection(identity: string): string[] {
  return [
    "THE KEY",
    "",
    "Type this line into a file age.key. The key has a checksum, so age notices a typing error.",
    "",
    `    ${identity}`,
    "",
  ];
}

function shareSection({ share, count, threshold }: KitSecret & { readonly kind: "share" }): string[] {
  return [
    `THE SHARE: any ${threshold} of the ${count} give the key`,
    "",
    "Type the lines, as they are, into a file share-N.txt (N: the number of the share). The",
    "four digits at the end of each line are a checksum against typing errors.",
    "",
    ...formatShare(share)
      .split("\n")
      .map((line) => `    ${line}`),
    "",
    `Put ${threshold} shares together, in a directory with their files (apt-get install`,
    "libgfshare-bin), and leave nothing of it lying around afterwards:",
    "",
    "    for file in share-*.txt; do",
    '      n=$(echo "$file" | tr -cd 0-9)',
    "      sed -n 's/^ *share *[0-9]* *: *[0-9]*  *\\([0-9a-f ]*\\)~.*/\\1/p' \"$file\" |",
    '        tr -d \' \\n\' | tr a-f A-F | basenc --base16 -d > "$(printf key.%03d "$n")"',
    "    done",
    "    gfcombine -o age.key key.[0-9]*",
    "",
  ];
}

function storageOf({ service, standalone }: Config): string {
  if (standalone === null) return service === null ? "" : `the object store of ${service.url.origin}`;
  const { storage } = standalone;
  return storage.kind === "directory"
    ? storage.path
    : `s3://${storage.s3.bucket}/${storage.s3.prefix}${storage.s3.endpoint === null ? "" : ` at ${storage.s3.endpoint.origin}`}`;
}

/**
 * The pages for a browser to print, each on a sheet of its own. Without scripts or anything from
 * elsewhere.
 */
export function kitHtml(pages: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Attestore recovery kit</title>
<style>
pre { font: 10pt/1.35 monospace; white-space: pre-wrap; overflow-wrap: anywhere; break-after: page; margin: 2em }
@page { margin: 15mm }
@media print { pre { margin: 0 } }
</style>
</head>
<body>
${pages.map((page) => `<pre>${escapeHtml(page)}</pre>`).join("\n")}
</body>
</html>
`;
}
