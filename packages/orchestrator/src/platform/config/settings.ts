import * as type from "./setting-types.ts";
import type { ReadValue } from "./setting-types.ts";

export interface Setting<T> {
  variable: string;
  read: ReadValue<T>;
  /** As it would be written; absent if the setting may be left out. */
  fallback?: string;
  /** Its value is never shown, and `file:PATH` reads it from a file. */
  secret?: boolean;
  description: string;
}

const define = <T, S extends Omit<Setting<T>, "read">>(
  setting: S & { read: ReadValue<T> },
): S & { read: ReadValue<T> } => setting;

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Every setting of the service, in the order in which they are shown. */
export const SETTINGS = {
  data: define({
    variable: "ATTESTORE_DATA",
    read: type.path,
    fallback: "./data",
    description: "The one directory that holds all data.",
  }),
  listen: define({
    variable: "ATTESTORE_LISTEN",
    read: type.listenAddress,
    fallback: "127.0.0.1:8443",
    description: "Address and port to listen on; :8443 for all addresses of the machine.",
  }),
  publicUrl: define({
    variable: "ATTESTORE_PUBLIC_URL",
    read: type.baseUrl,
    description:
      "URL at which agents and people reach the service; default: https://localhost:PORT, or the host's name if it listens on other addresses.",
  }),
  hostnames: define({
    variable: "ATTESTORE_HOSTNAMES",
    read: type.listOf(type.host),
    fallback: "",
    description: "More names and addresses for the service's own certificate.",
  }),
  tlsCertificate: define({
    variable: "ATTESTORE_TLS_CERT",
    read: type.path,
    description: "Your own certificate, PEM with its chain, instead of the one created at the first start.",
  }),
  tlsKey: define({
    variable: "ATTESTORE_TLS_KEY",
    read: type.path,
    description: "The certificate's private key, PEM.",
  }),
  logHost: define({
    variable: "ATTESTORE_LOG_HOST",
    read: type.host,
    description:
      "First part of every log's origin, fixed at the first start; default: the public URL's host.",
  }),
  pkcs11Module: define({
    variable: "ATTESTORE_PKCS11_MODULE",
    read: type.path,
    description: "PKCS#11 module of the token that holds keys, such as /usr/lib/softhsm/libsofthsm2.so.",
  }),
  pkcs11Pin: define({
    variable: "ATTESTORE_PKCS11_PIN",
    read: type.text,
    secret: true,
    description: "User PIN of the token.",
  }),
  logKey: define({
    variable: "ATTESTORE_LOG_KEY",
    read: type.pkcs11Uri,
    description: "Key in the token that signs logs, such as pkcs11:token=attestore;object=log.",
  }),
  timeKey: define({
    variable: "ATTESTORE_TIME_KEY",
    read: type.pkcs11Uri,
    description: "Key in the token that signs the hourly heads' times.",
  }),
  caKey: define({
    variable: "ATTESTORE_CA_KEY",
    read: type.pkcs11Uri,
    description: "Key in the token of the service's own certificate authority.",
  }),
  sealingKey: define({
    variable: "ATTESTORE_SEALING_KEY",
    read: type.pkcs11Uri,
    description: "Key in the token that seals secrets in the database.",
  }),
  databaseUrl: define({
    variable: "DATABASE_URL",
    read: type.postgresUrl,
    secret: true,
    description: "Your own PostgreSQL instead of the embedded one.",
  }),
  migrationsUrl: define({
    variable: "ATTESTORE_MIGRATIONS_DATABASE_URL",
    read: type.postgresUrl,
    secret: true,
    description:
      "The same database with its tables' owner as the user, for migrations and commands, if the role of DATABASE_URL owns nothing.",
  }),
  databaseConnections: define({
    variable: "ATTESTORE_DATABASE_CONNECTIONS",
    read: type.wholeNumber(2, 1000),
    fallback: "10",
    description:
      "Maximum number of database connections of each worker, plus ten: five for the log, four for scheduled jobs, one that hears of commands.",
  }),
  postgres: define({
    variable: "ATTESTORE_POSTGRES",
    read: type.path,
    description: "Directory of another PostgreSQL for the embedded database, such as /usr/lib/postgresql/15.",
  }),
  postgresUser: define({
    variable: "ATTESTORE_POSTGRES_USER",
    read: type.text,
    description:
      "User of the embedded database if the service runs as root; default: postgres, or else nobody.",
  }),
  postgresClient: define({
    variable: "ATTESTORE_POSTGRES_CLIENT",
    read: type.path,
    description:
      "Directory with pg_dump and pg_restore, for backups of the service; default: the oldest that fits, of ATTESTORE_POSTGRES, PATH and /usr/lib/postgresql.",
  }),
  backupDirectory: define({
    variable: "ATTESTORE_BACKUP_DIRECTORY",
    read: type.path,
    description: "Directory for backups of the service itself, which must exist; without it, it makes none.",
  }),
  backupRecipients: define({
    variable: "ATTESTORE_BACKUP_RECIPIENTS",
    read: type.listOf(type.ageRecipient),
    fallback: "",
    description: "age recipients (age1…) that backups of the service are encrypted to.",
  }),
  backupEvery_h: define({
    variable: "ATTESTORE_BACKUP_EVERY_H",
    read: type.wholeNumber(1, 720),
    fallback: "24",
    description: "Hours from one backup of the service to the next.",
  }),
  backupKeep: define({
    variable: "ATTESTORE_BACKUP_KEEP",
    read: type.wholeNumber(1, 10_000),
    fallback: "14",
    description: "Backups of the service to keep; older ones are removed.",
  }),
  s3Bucket: define({
    variable: "ATTESTORE_S3_BUCKET",
    read: type.text,
    description: "S3 bucket for ciphertexts, instead of the disk.",
  }),
  s3Region: define({
    variable: "ATTESTORE_S3_REGION",
    read: type.text,
    fallback: "us-east-1",
    description: "Its region.",
  }),
  s3Endpoint: define({
    variable: "ATTESTORE_S3_ENDPOINT",
    read: type.endpointUrl,
    description: "Endpoint of a store other than AWS; agents must reach it too.",
  }),
  s3PathStyle: define({
    variable: "ATTESTORE_S3_PATH_STYLE",
    read: type.yesOrNo,
    description: "Put the bucket into the path, not into the host name; default: true if an endpoint is set.",
  }),
  s3AccessKeyId: define({
    variable: "ATTESTORE_S3_ACCESS_KEY_ID",
    read: type.text,
    description: "Access key id.",
  }),
  s3SecretAccessKey: define({
    variable: "ATTESTORE_S3_SECRET_ACCESS_KEY",
    read: type.text,
    secret: true,
    description: "Secret access key.",
  }),
  s3SessionToken: define({
    variable: "ATTESTORE_S3_SESSION_TOKEN",
    read: type.text,
    secret: true,
    description: "Session token, for temporary credentials.",
  }),
  s3SinglePutLimit: define({
    variable: "ATTESTORE_S3_SINGLE_PUT_LIMIT_BYTES",
    read: type.wholeNumber(5 * MIB, 5 * GIB),
    fallback: String(5 * GIB),
    description: "Objects larger than this are uploaded in parts, to the disk too.",
  }),
  s3PartBytes: define({
    variable: "ATTESTORE_S3_PART_BYTES",
    read: type.wholeNumber(5 * MIB, 5 * GIB),
    fallback: String(512 * MIB),
    description: "Size of a part, on the disk too.",
  }),
  s3ObjectLockDays: define({
    variable: "ATTESTORE_S3_OBJECT_LOCK_DAYS",
    read: type.wholeNumber(1, 36_500),
    description: "Lock each backup for this many days; the bucket must have been created with object lock.",
  }),
  s3ObjectLockMode: define({
    variable: "ATTESTORE_S3_OBJECT_LOCK_MODE",
    read: type.oneOf("governance", "compliance"),
    fallback: "governance",
    description: "governance: somebody with a special permission can end a lock; compliance: nobody can.",
  }),
  quarantineDays: define({
    variable: "ATTESTORE_QUARANTINE_DAYS",
    read: type.wholeNumber(1, 3650),
    fallback: "30",
    description: "Days that an object unknown to the database is kept before it is removed.",
  }),
  downloads: define({
    variable: "ATTESTORE_DOWNLOADS",
    read: type.path,
    description:
      "Directory with the files that hosts install the agent from, made by `npm run package`; default: dist/ of this checkout.",
  }),
  workers: define({
    variable: "ATTESTORE_WORKERS",
    read: type.wholeNumberOr("auto", 1, 256),
    fallback: "auto",
    description:
      "Processes that answer requests on the one port; auto: as many as there are processors and memory for, and one processor for the embedded database.",
  }),
  heartbeatInterval_s: define({
    variable: "ATTESTORE_HEARTBEAT_INTERVAL_S",
    read: type.wholeNumber(1, 86_400),
    fallback: "60",
    description: "Seconds between an agent's heartbeats; up to a third more while the service is overloaded.",
  }),
  silentAfterIntervals: define({
    variable: "ATTESTORE_SILENT_AFTER_INTERVALS",
    read: type.wholeNumber(2, 10_000),
    fallback: "10",
    description: "Number of missed heartbeats in a row after which an agent counts as silent.",
  }),
  scheduleGrace_s: define({
    variable: "ATTESTORE_SCHEDULE_GRACE_S",
    read: type.wholeNumber(60, 30 * 86_400),
    fallback: "7200",
    description: "Seconds after its scheduled time by which a backup or restore test must be done.",
  }),
  scheduleJitter_s: define({
    variable: "ATTESTORE_SCHEDULE_JITTER_S",
    read: type.wholeNumber(0, 3600),
    fallback: "60",
    description:
      "Seconds within which schedules of the same time are queued, at most a quarter of ATTESTORE_SCHEDULE_GRACE_S. Each source has its own delay, which stays the same; schedules of several times an hour have none.",
  }),
  retentionDelayDays: define({
    variable: "ATTESTORE_RETENTION_DELAY_DAYS",
    read: type.wholeNumber(0, 365),
    fallback: "7",
    description: "Days between the announcement of a backup's removal and the removal.",
  }),
  rateDefault: define({
    variable: "ATTESTORE_RATE_DEFAULT",
    read: type.rateLimit,
    fallback: "600/60",
    description: "Limit of calls/seconds per credential.",
  }),
  rateAttachFailures: define({
    variable: "ATTESTORE_RATE_ATTACH_FAILURES",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Limit of failed attaches per address.",
  }),
  rateBootstrapStart: define({
    variable: "ATTESTORE_RATE_BOOTSTRAP_START",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Limit of interactive attaches started per address.",
  }),
  smtpUrl: define({
    variable: "ATTESTORE_SMTP_URL",
    read: type.smtpUrl,
    secret: true,
    description:
      "Mail server, smtps://USER:PASSWORD@HOST or smtp://HOST:25; without one, mails are printed on the console and stored in mail/.",
  }),
  mailFrom: define({
    variable: "ATTESTORE_MAIL_FROM",
    read: type.mailbox,
    description: "Sender of mails; default: attestore@ the public URL's host.",
  }),
  webhookNetworks: define({
    variable: "ATTESTORE_WEBHOOK_NETWORKS",
    read: type.listOf(type.addressOrNetwork),
    fallback: "",
    description: "Private addresses and networks that webhooks may be sent to, such as 10.0.0.0/8.",
  }),
  webhookHttp: define({
    variable: "ATTESTORE_WEBHOOK_HTTP",
    read: type.yesOrNo,
    fallback: "false",
    description: "Also allow webhooks over http.",
  }),
  webhookCa: define({
    variable: "ATTESTORE_WEBHOOK_CA",
    read: type.path,
    description: "More certificate authorities to trust for webhook receivers, PEM.",
  }),
  signup: define({
    variable: "ATTESTORE_SIGNUP",
    read: type.oneOf("open", "closed", "until-operator"),
    fallback: "until-operator",
    description: "Allow anybody to sign up; until-operator: only until the service has an operator.",
  }),
  quotaBytes: define({
    variable: "ATTESTORE_QUOTA_BYTES",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description:
      "Bytes of ciphertext that an organisation may store; default: none, or 50 GiB if signup is open.",
  }),
  quotaObjects: define({
    variable: "ATTESTORE_QUOTA_OBJECTS",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description: "Backups that an organisation may store; default: none, or 10000 if signup is open.",
  }),
  quotaAgents: define({
    variable: "ATTESTORE_QUOTA_AGENTS",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description: "Agents that an organisation may have; default: none, or 50 if signup is open.",
  }),
  quotaRequests: define({
    variable: "ATTESTORE_QUOTA_REQUESTS",
    read: type.rateLimit,
    fallback: "6000/60",
    description:
      "Limit of calls/seconds per organisation, not counting heartbeats, waiting for commands, reports of progress, receipts and events.",
  }),
  rateSignupAddress: define({
    variable: "ATTESTORE_RATE_SIGNUP_ADDRESS",
    read: type.rateLimit,
    fallback: "10/3600",
    description: "Limit of signups per network address.",
  }),
  rateSignupEmail: define({
    variable: "ATTESTORE_RATE_SIGNUP_EMAIL",
    read: type.rateLimit,
    fallback: "3/3600",
    description: "Limit of signups per e-mail address.",
  }),
  rateLoginAddress: define({
    variable: "ATTESTORE_RATE_LOGIN_ADDRESS",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Limit of login codes requested per network address.",
  }),
  rateLoginEmail: define({
    variable: "ATTESTORE_RATE_LOGIN_EMAIL",
    read: type.rateLimit,
    fallback: "10/3600",
    description: "Limit of login codes requested for one e-mail address from one network.",
  }),
  rateVerifyEmail: define({
    variable: "ATTESTORE_RATE_VERIFY_EMAIL",
    read: type.rateLimit,
    fallback: "10/900",
    description: "Limit of codes tried for one e-mail address from one network.",
  }),
  trustProxy: define({
    variable: "ATTESTORE_TRUST_PROXY",
    read: type.listOf(type.addressOrNetwork),
    fallback: "",
    description: "Proxies whose X-Forwarded-For is believed.",
  }),
  metricsToken: define({
    variable: "ATTESTORE_METRICS_TOKEN",
    read: type.longText(16),
    secret: true,
    description: "Bearer token for GET /metrics; programs on this machine need none.",
  }),
  logLevel: define({
    variable: "ATTESTORE_LOG_LEVEL",
    read: type.oneOf("debug", "info", "warn", "error"),
    fallback: "info",
    description: "Lowest severity of log lines to print.",
  }),
  shutdown_s: define({
    variable: "ATTESTORE_SHUTDOWN_S",
    read: type.wholeNumber(1, 3600),
    fallback: "30",
    description: "Time that requests in flight may take to finish when the service stops.",
  }),
  apiLogDays: define({
    variable: "ATTESTORE_API_LOG_DAYS",
    read: type.wholeNumber(1, 36_500),
    fallback: "400",
    description: "Days to keep the rows of the API log.",
  }),
  archiveAfterDays: define({
    variable: "ATTESTORE_ARCHIVE_AFTER_DAYS",
    read: type.wholeNumber(90, 36_500),
    description:
      "Days after which receipts' envelopes move from the database to the object store. Not set: never.",
  }),
};

/** Variables of the agent and its installer, which may be set in the same shell. */
export const OTHER_VARIABLES = new Set([
  "ATTESTORE_HOME",
  "ATTESTORE_AUTH_KEY",
  "ATTESTORE_TOKEN",
  "ATTESTORE_SERVICE",
  "ATTESTORE_CA_FILE",
  "ATTESTORE_SOURCE",
  "ATTESTORE_NAME",
  "ATTESTORE_JSON",
  "ATTESTORE_SKIP_PREREQS",
]);
