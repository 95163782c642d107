export interface Flag {
  readonly form: string;
  readonly env: string;
  readonly about: string;
}

/**
 * Every flag and its environment variable. With a `<value>` in its form it takes one; the others
 * are switches.
 */
export const FLAGS = {
  root: { form: "--root <dir>", env: "ATTESTORE_HOME", about: "the install root" },
  json: { form: "--json", env: "ATTESTORE_JSON", about: "print JSON to stdout" },
  quiet: {
    form: "--quiet",
    env: "ATTESTORE_QUIET",
    about: "print only the result and errors",
  },
  verbose: {
    form: "--verbose",
    env: "ATTESTORE_VERBOSE",
    about: "also print each step: the root, each phase, each request",
  },
  source: { form: "--source <name>", env: "ATTESTORE_SOURCE", about: "a source in config.yaml" },
  backup: { form: "--backup <id>", env: "ATTESTORE_BACKUP", about: "a backup, bkp_…; default: the newest" },
  file: {
    form: "--file <path>",
    env: "ATTESTORE_FILE",
    about: "a local ciphertext file, instead of a stored backup",
  },
  output: {
    form: "--output <path>",
    env: "ATTESTORE_OUTPUT",
    about: "the file to write, which must not exist yet; for restore also -, stdout",
  },
  into: {
    form: "--into <database>",
    env: "ATTESTORE_INTO",
    about: "restore into this database of a running server; it is created, or must be empty",
  },
  server: {
    form: "--server <where>",
    env: "ATTESTORE_SERVER",
    about: "with --into: the server, as --connection of source add; default: the source's own",
  },
  nonEmpty: {
    form: "--non-empty",
    env: "ATTESTORE_NON_EMPTY",
    about: "with --into: allow a database that is not empty; nothing in it is replaced",
  },
  identity: {
    form: "--identity <path>",
    env: "ATTESTORE_IDENTITY",
    about: "an age identity file; default: the root's",
  },
  wait: { form: "--no-wait", env: "ATTESTORE_WAIT", about: "fail at once if another run is in progress" },
  service: {
    form: "--service <url>",
    env: "ATTESTORE_SERVICE",
    about: "the orchestrator, https://HOST[:PORT]",
  },
  caFile: {
    form: "--ca-file <path>",
    env: "ATTESTORE_CA_FILE",
    about: "PEM file of the CA that issued the service's certificate",
  },
  caSha256: {
    form: "--ca-sha256 <hex>",
    env: "ATTESTORE_CA_SHA256",
    about: "instead of --ca-file: the SHA-256 fingerprint of the CA or certificate",
  },
  authKeyFile: {
    form: "--auth-key-file <path>",
    env: "ATTESTORE_AUTH_KEY_FILE",
    about: "a file with the auth key, or - for stdin; or set ATTESTORE_AUTH_KEY to the key",
  },
  name: {
    form: "--name <text>",
    env: "ATTESTORE_NAME",
    about: "this agent's name in the service; default: the host name",
  },
  recipient: {
    form: "--recipient <key>",
    env: "ATTESTORE_RECIPIENT",
    about:
      "encrypt to this age1… or SSH key (separate several by commas); default: a new key pair in the root",
  },
  allowRemoteConfig: {
    form: "--allow-remote-config",
    env: "ATTESTORE_ALLOW_REMOTE_CONFIG",
    about: "let owners and admins add sources and checks in the dashboard",
  },
  because: {
    form: "--because <text>",
    env: "ATTESTORE_BECAUSE",
    about: "the reason: signed (accept), or kept with the alarm (alarm)",
  },
  forgetHead: {
    form: "--forget-head",
    env: "ATTESTORE_FORGET_HEAD",
    about: "trust the next head as if it were the first",
  },
  standalone: {
    form: "--standalone",
    env: "ATTESTORE_STANDALONE",
    about: "work without a service: backups and receipts stay with you",
  },
  storage: {
    form: "--storage <where>",
    env: "ATTESTORE_STORAGE",
    about: "standalone: a directory, or s3://BUCKET/PREFIX; default: blobs/stored in the root",
  },
  s3Endpoint: {
    form: "--s3-endpoint <url>",
    env: "ATTESTORE_S3_ENDPOINT",
    about: "for a store other than Amazon's: https://HOST[:PORT]",
  },
  s3Region: { form: "--s3-region <name>", env: "ATTESTORE_S3_REGION", about: "default: us-east-1" },
  keepLast: { form: "--keep-last <n>", env: "ATTESTORE_KEEP_LAST", about: "keep the newest n backups" },
  keepDays: {
    form: "--keep-days <n>",
    env: "ATTESTORE_KEEP_DAYS",
    about: "keep the backups of the last n days",
  },
  keepDaily: {
    form: "--keep-daily <n>",
    env: "ATTESTORE_KEEP_DAILY",
    about: "keep the newest backup of each of n days",
  },
  keepWeekly: {
    form: "--keep-weekly <n>",
    env: "ATTESTORE_KEEP_WEEKLY",
    about: "keep the newest backup of each of n weeks",
  },
  keepMonthly: {
    form: "--keep-monthly <n>",
    env: "ATTESTORE_KEEP_MONTHLY",
    about: "keep the newest backup of each of n months",
  },
  keepYearly: {
    form: "--keep-yearly <n>",
    env: "ATTESTORE_KEEP_YEARLY",
    about: "keep the newest backup of each of n years",
  },
  dryRun: { form: "--dry-run", env: "ATTESTORE_DRY_RUN", about: "show what would be done, without doing it" },
  yes: { form: "--yes", env: "ATTESTORE_YES", about: "ask nothing, accept every proposal" },
  maxRate: {
    form: "--max-rate <rate>",
    env: "ATTESTORE_MAX_RATE",
    about: "limit the upload to this much per second: 500kB, 20MB",
  },
  shares: {
    form: "--shares <n>",
    env: "ATTESTORE_SHARES",
    about: "split the recovery key into n shares",
  },
  threshold: {
    form: "--threshold <k>",
    env: "ATTESTORE_THRESHOLD",
    about: "any k shares together give the key",
  },
  test: {
    form: "--test",
    env: "ATTESTORE_TEST",
    about: "test the kit: with the key, or with enough shares",
  },
  share: {
    form: "--share <paths>",
    env: "ATTESTORE_SHARE",
    about: "the files with the shares, separated by commas",
  },
  secret: {
    form: "--secret",
    env: "ATTESTORE_SECRET",
    about: "also write the private age identities, to the file --output",
  },
  engine: {
    form: "--engine <name>",
    env: "ATTESTORE_ENGINE",
    about: "the kind of source: postgresql, sqlite, files…",
  },
  connection: {
    form: "--connection <where>",
    env: "ATTESTORE_CONNECTION",
    about:
      "env:NAME, file:PATH, credential:NAME, service:NAME or a URL without a password; - reads a URL from stdin and stores it in keys/",
  },
  path: { form: "--path <path>", env: "ATTESTORE_PATH", about: "path of the database file or directory" },
  databases: {
    form: "--databases <names>",
    env: "ATTESTORE_DATABASES",
    about: "all, or names separated by commas; default: the connection's database",
  },
  globals: {
    form: "--globals",
    env: "ATTESTORE_GLOBALS",
    about: "PostgreSQL: also back up roles and tablespaces",
  },
  pattern: {
    form: "--pattern <glob>",
    env: "ATTESTORE_PATTERN",
    about: "dumps: the files to take, such as *.dump",
  },
  repository: {
    form: "--repository <where>",
    env: "ATTESTORE_REPOSITORY",
    about: "restic: the repository, as restic --repo takes it",
  },
  passwordFrom: {
    form: "--password-from <where>",
    env: "ATTESTORE_PASSWORD_FROM",
    about: "restic: env:NAME, file:PATH or credential:NAME, never the password itself",
  },
  probe: {
    form: "--no-probe",
    env: "ATTESTORE_PROBE",
    about: "don't connect, because the source does not exist yet",
  },
  checks: {
    form: "--no-checks",
    env: "ATTESTORE_CHECKS",
    about: "propose no checks: the built-in ones are enough",
  },
  template: {
    form: "--template <name>",
    env: "ATTESTORE_TEMPLATE",
    about: "checks for an application: wordpress, nextcloud, gitlab, odoo, django",
  },
  tablePrefix: {
    form: "--table-prefix <text>",
    env: "ATTESTORE_TABLE_PREFIX",
    about: "with --template: the prefix of its tables' names; default: the application's own",
  },
  query: {
    form: "--query <sql>",
    env: "ATTESTORE_QUERY",
    about: "the query of an ad hoc check that is not in config.yaml",
  },
  expect: {
    form: "--expect <expression>",
    env: "ATTESTORE_EXPECT",
    about: "what its row must satisfy, such as n >= 1000",
  },
  canFail: {
    form: "--can-fail",
    env: "ATTESTORE_CAN_FAIL",
    about: "try all checks on ruined data, also those that were tried before",
  },
  limit: { form: "--limit <count>", env: "ATTESTORE_LIMIT", about: "how many to list; default: 20" },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

/**
 * The flags that `defaults:` in config.yaml can set: all except the one that says where config.yaml
 * is.
 */
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
