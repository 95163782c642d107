export interface Flag {
  readonly form: string;
  readonly env: string;
  readonly about: string;
}

/** Every flag and its environment twin. A `<value>` in the form makes it take one; the others are switches. */
export const FLAGS = {
  root: { form: "--root <dir>", env: "ATTESTORE_HOME", about: "the install root" },
  json: { form: "--json", env: "ATTESTORE_JSON", about: "print JSON to stdout" },
  source: { form: "--source <name>", env: "ATTESTORE_SOURCE", about: "a source of config.yaml" },
  backup: { form: "--backup <id>", env: "ATTESTORE_BACKUP", about: "a backup, bkp_…; else the newest" },
  file: {
    form: "--file <path>",
    env: "ATTESTORE_FILE",
    about: "a ciphertext at hand, instead of a stored one",
  },
  output: { form: "--output <path>", env: "ATTESTORE_OUTPUT", about: "the file to write; it must not exist" },
  identity: {
    form: "--identity <path>",
    env: "ATTESTORE_IDENTITY",
    about: "an age identity file; else the root's",
  },
  wait: { form: "--no-wait", env: "ATTESTORE_WAIT", about: "fail at once if another run is under way" },
  service: {
    form: "--service <url>",
    env: "ATTESTORE_SERVICE",
    about: "the orchestrator, https://HOST[:PORT]",
  },
  caFile: {
    form: "--ca-file <path>",
    env: "ATTESTORE_CA_FILE",
    about: "PEM of the CA that the service has to show",
  },
  caSha256: {
    form: "--ca-sha256 <hex>",
    env: "ATTESTORE_CA_SHA256",
    about: "instead: its SHA-256 fingerprint",
  },
  authKeyFile: {
    form: "--auth-key-file <path>",
    env: "ATTESTORE_AUTH_KEY_FILE",
    about: "a file with the auth key, - for stdin; or put the key into ATTESTORE_AUTH_KEY",
  },
  name: {
    form: "--name <text>",
    env: "ATTESTORE_NAME",
    about: "what the service calls this agent; else the host name",
  },
  recipient: {
    form: "--recipient <key>",
    env: "ATTESTORE_RECIPIENT",
    about: "encrypt to this age1… or SSH key (several: separated by commas); else a new key pair in the root",
  },
  because: { form: "--because <text>", env: "ATTESTORE_BECAUSE", about: "why; kept with the alarm" },
  forgetHead: {
    form: "--forget-head",
    env: "ATTESTORE_FORGET_HEAD",
    about: "take the next head as the first",
  },
  standalone: {
    form: "--standalone",
    env: "ATTESTORE_STANDALONE",
    about: "without a service: backups and receipts stay with you",
  },
  storage: {
    form: "--storage <where>",
    env: "ATTESTORE_STORAGE",
    about: "standalone: a directory, or s3://BUCKET/PREFIX; else blobs/stored of the root",
  },
  s3Endpoint: {
    form: "--s3-endpoint <url>",
    env: "ATTESTORE_S3_ENDPOINT",
    about: "of a store that is not Amazon's, https://HOST[:PORT]",
  },
  s3Region: { form: "--s3-region <name>", env: "ATTESTORE_S3_REGION", about: "else us-east-1" },
  keepLast: { form: "--keep-last <n>", env: "ATTESTORE_KEEP_LAST", about: "keep the newest n backups" },
  keepDays: { form: "--keep-days <n>", env: "ATTESTORE_KEEP_DAYS", about: "keep those of the last n days" },
  keepDaily: { form: "--keep-daily <n>", env: "ATTESTORE_KEEP_DAILY", about: "the newest of each of n days" },
  keepWeekly: {
    form: "--keep-weekly <n>",
    env: "ATTESTORE_KEEP_WEEKLY",
    about: "the newest of each of n weeks",
  },
  keepMonthly: {
    form: "--keep-monthly <n>",
    env: "ATTESTORE_KEEP_MONTHLY",
    about: "the newest of each of n months",
  },
  keepYearly: {
    form: "--keep-yearly <n>",
    env: "ATTESTORE_KEEP_YEARLY",
    about: "the newest of each of n years",
  },
  dryRun: { form: "--dry-run", env: "ATTESTORE_DRY_RUN", about: "say what would be done, and do nothing" },
  yes: { form: "--yes", env: "ATTESTORE_YES", about: "ask nothing: take what is proposed, and do it" },
  maxRate: {
    form: "--max-rate <rate>",
    env: "ATTESTORE_MAX_RATE",
    about: "send at most this much a second to the object store: 500kB, 20MB",
  },
  shares: {
    form: "--shares <n>",
    env: "ATTESTORE_SHARES",
    about: "split the recovery key among n people",
  },
  threshold: {
    form: "--threshold <k>",
    env: "ATTESTORE_THRESHOLD",
    about: "any k of the shares give the key back",
  },
  test: {
    form: "--test",
    env: "ATTESTORE_TEST",
    about: "show that the kit works: with the key, or with enough shares of it",
  },
  share: {
    form: "--share <paths>",
    env: "ATTESTORE_SHARE",
    about: "files with the shares, separated by commas",
  },
  secret: {
    form: "--secret",
    env: "ATTESTORE_SECRET",
    about: "the private age identities too, into a file (--output)",
  },
  engine: {
    form: "--engine <name>",
    env: "ATTESTORE_ENGINE",
    about: "what is backed up: postgresql, sqlite, files…",
  },
  connection: {
    form: "--connection <where>",
    env: "ATTESTORE_CONNECTION",
    about:
      "env:NAME, file:PATH, credential:NAME, service:NAME or a URL without a password; - reads the URL from stdin into keys/",
  },
  path: { form: "--path <path>", env: "ATTESTORE_PATH", about: "of the database file, or the directory" },
  databases: {
    form: "--databases <names>",
    env: "ATTESTORE_DATABASES",
    about: "all, or names separated by commas; else the connection's own",
  },
  globals: { form: "--globals", env: "ATTESTORE_GLOBALS", about: "PostgreSQL: roles and tablespaces too" },
  pattern: {
    form: "--pattern <glob>",
    env: "ATTESTORE_PATTERN",
    about: "dumps: which files, such as *.dump",
  },
  repository: {
    form: "--repository <where>",
    env: "ATTESTORE_REPOSITORY",
    about: "of restic, as restic takes it",
  },
  passwordFrom: {
    form: "--password-from <where>",
    env: "ATTESTORE_PASSWORD_FROM",
    about: "restic: env:NAME, file:PATH or credential:NAME, never the password itself",
  },
  probe: { form: "--no-probe", env: "ATTESTORE_PROBE", about: "don't connect: the source is not there yet" },
  checks: {
    form: "--no-checks",
    env: "ATTESTORE_CHECKS",
    about: "propose no checks: the engine's own are enough",
  },
  query: {
    form: "--query <sql>",
    env: "ATTESTORE_QUERY",
    about: "a check that config.yaml does not have (yet)",
  },
  expect: {
    form: "--expect <expression>",
    env: "ATTESTORE_EXPECT",
    about: "what its row has to be, such as n >= 1000",
  },
  limit: { form: "--limit <count>", env: "ATTESTORE_LIMIT", about: "how many to list; else 20" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

/** The flags that `defaults:` of config.yaml can hold: all but the one that says where config.yaml is. */
export type DefaultName = Exclude<FlagName, "root">;

export function isDefaultName(name: FlagName): name is DefaultName {
  return name !== "root";
}

/** `caFile` under `defaults:`: `ca_file`. */
export function settingName(name: FlagName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function takesValue(name: FlagName): boolean {
  return FLAGS[name].form.includes("<");
}
