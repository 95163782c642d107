import * as type from "./setting-types.ts";
import type { ReadValue } from "./setting-types.ts";

export interface Setting<T> {
  variable: string;
  read: ReadValue<T>;
  /** As it would be written; absent where the setting may be left out altogether. */
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
    description: "The one directory that everything is kept in.",
  }),
  listen: define({
    variable: "ATTESTORE_LISTEN",
    read: type.listenAddress,
    fallback: "127.0.0.1:8443",
    description: "Where the service takes connections; :8443 for all addresses of the machine.",
  }),
  publicUrl: define({
    variable: "ATTESTORE_PUBLIC_URL",
    read: type.baseUrl,
    description:
      "How agents and people reach the service; https://localhost:PORT, or the host's name when it listens for others.",
  }),
  hostnames: define({
    variable: "ATTESTORE_HOSTNAMES",
    read: type.listOf(type.host),
    fallback: "",
    description: "Further names and addresses for the service's own certificate.",
  }),
  tlsCertificate: define({
    variable: "ATTESTORE_TLS_CERT",
    read: type.path,
    description: "A certificate of your own, PEM with its chain, instead of the one made on the first start.",
  }),
  tlsKey: define({ variable: "ATTESTORE_TLS_KEY", read: type.path, description: "Its private key, PEM." }),
  logHost: define({
    variable: "ATTESTORE_LOG_HOST",
    read: type.host,
    description: "First part of the origin of every log, fixed by the first start; the public URL's host.",
  }),
  pkcs11Module: define({
    variable: "ATTESTORE_PKCS11_MODULE",
    read: type.path,
    description: "PKCS#11 module of the token that keys are in, such as /usr/lib/softhsm/libsofthsm2.so.",
  }),
  pkcs11Pin: define({
    variable: "ATTESTORE_PKCS11_PIN",
    read: type.text,
    secret: true,
    description: "The user PIN of that token.",
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
    description: "A PostgreSQL of your own instead of the embedded one.",
  }),
  migrationsUrl: define({
    variable: "ATTESTORE_MIGRATIONS_DATABASE_URL",
    read: type.postgresUrl,
    secret: true,
    description:
      "The same database as the owner of its tables, for migrations and commands, where the role of DATABASE_URL owns nothing.",
  }),
  databaseConnections: define({
    variable: "ATTESTORE_DATABASE_CONNECTIONS",
    read: type.wholeNumber(2, 1000),
    fallback: "10",
    description:
      "Most connections to the database at once, besides nine: five for the log, four for what runs by the clock.",
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
      "Whom the embedded database runs as when the service runs as root; postgres, or else nobody.",
  }),
  s3Bucket: define({
    variable: "ATTESTORE_S3_BUCKET",
    read: type.text,
    description: "Keeps ciphertexts in this S3 bucket instead of on the disk.",
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
    description: "Address of a store besides AWS; agents must reach it too.",
  }),
  s3PathStyle: define({
    variable: "ATTESTORE_S3_PATH_STYLE",
    read: type.yesOrNo,
    description:
      "Whether the bucket is in the path rather than in the host's name; true where an endpoint is set.",
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
    description: "Session token, with temporary credentials.",
  }),
  s3SinglePutLimit: define({
    variable: "ATTESTORE_S3_SINGLE_PUT_LIMIT_BYTES",
    read: type.wholeNumber(5 * MIB, 5 * GIB),
    fallback: String(5 * GIB),
    description: "Larger objects are uploaded in parts; to the disk too.",
  }),
  s3PartBytes: define({
    variable: "ATTESTORE_S3_PART_BYTES",
    read: type.wholeNumber(5 * MIB, 5 * GIB),
    fallback: String(512 * MIB),
    description: "Size of a part; on the disk too.",
  }),
  s3ObjectLockDays: define({
    variable: "ATTESTORE_S3_OBJECT_LOCK_DAYS",
    read: type.wholeNumber(1, 36_500),
    description: "Locks each backup for so many days; the bucket must have been made with object lock.",
  }),
  s3ObjectLockMode: define({
    variable: "ATTESTORE_S3_OBJECT_LOCK_MODE",
    read: type.oneOf("governance", "compliance"),
    fallback: "governance",
    description:
      "Whether somebody with a permission of their own (governance) or nobody (compliance) may end a lock.",
  }),
  quarantineDays: define({
    variable: "ATTESTORE_QUARANTINE_DAYS",
    read: type.wholeNumber(1, 3650),
    fallback: "30",
    description: "Days that an object which the database does not know is kept before it is removed.",
  }),
  downloads: define({
    variable: "ATTESTORE_DOWNLOADS",
    read: type.path,
    description:
      "Directory of what hosts install the agent from, as `npm run package` makes it; dist/ of this checkout.",
  }),
  heartbeatInterval_s: define({
    variable: "ATTESTORE_HEARTBEAT_INTERVAL_S",
    read: type.wholeNumber(1, 86_400),
    fallback: "60",
    description: "Seconds between an agent's heartbeats.",
  }),
  silentAfterIntervals: define({
    variable: "ATTESTORE_SILENT_AFTER_INTERVALS",
    read: type.wholeNumber(2, 10_000),
    fallback: "10",
    description: "Heartbeats in a row that do not come before an agent is called silent.",
  }),
  scheduleGrace_s: define({
    variable: "ATTESTORE_SCHEDULE_GRACE_S",
    read: type.wholeNumber(60, 30 * 86_400),
    fallback: "7200",
    description: "Seconds after its scheduled time in which a backup or restore test has to be done.",
  }),
  retentionDelayDays: define({
    variable: "ATTESTORE_RETENTION_DELAY_DAYS",
    read: type.wholeNumber(0, 365),
    fallback: "7",
    description: "Days between the announcement that a backup goes and its removal.",
  }),
  rateDefault: define({
    variable: "ATTESTORE_RATE_DEFAULT",
    read: type.rateLimit,
    fallback: "600/60",
    description: "Calls per seconds of one credential.",
  }),
  rateAttachFailures: define({
    variable: "ATTESTORE_RATE_ATTACH_FAILURES",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Failed attaches of one address.",
  }),
  rateBootstrapStart: define({
    variable: "ATTESTORE_RATE_BOOTSTRAP_START",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Interactive attaches begun by one address.",
  }),
  smtpUrl: define({
    variable: "ATTESTORE_SMTP_URL",
    read: type.smtpUrl,
    secret: true,
    description:
      "Mail server, smtps://USER:PASSWORD@HOST or smtp://HOST:25; without one, mails are shown on the console and kept in mail/.",
  }),
  mailFrom: define({
    variable: "ATTESTORE_MAIL_FROM",
    read: type.mailbox,
    description: "Sender of mails; attestore@ the public URL's host.",
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
    description: "Whether webhooks may be sent by http, too.",
  }),
  webhookCa: define({
    variable: "ATTESTORE_WEBHOOK_CA",
    read: type.path,
    description: "Further certificate authorities of webhooks' receivers, PEM.",
  }),
  signup: define({
    variable: "ATTESTORE_SIGNUP",
    read: type.oneOf("open", "closed", "until-operator"),
    fallback: "until-operator",
    description: "Whether anybody may sign up; until-operator: until the service has an operator.",
  }),
  quotaBytes: define({
    variable: "ATTESTORE_QUOTA_BYTES",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description: "Bytes of ciphertext that an organisation may store; none, or 50 GiB where signup is open.",
  }),
  quotaObjects: define({
    variable: "ATTESTORE_QUOTA_OBJECTS",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description: "Backups that an organisation may store; none, or 10000 where signup is open.",
  }),
  quotaAgents: define({
    variable: "ATTESTORE_QUOTA_AGENTS",
    read: type.numberOrNone(1, Number.MAX_SAFE_INTEGER),
    description: "Agents that an organisation may have; none, or 50 where signup is open.",
  }),
  quotaRequests: define({
    variable: "ATTESTORE_QUOTA_REQUESTS",
    read: type.rateLimit,
    fallback: "6000/60",
    description: "Calls per seconds of one organisation, besides heartbeats, receipts and events.",
  }),
  rateSignupAddress: define({
    variable: "ATTESTORE_RATE_SIGNUP_ADDRESS",
    read: type.rateLimit,
    fallback: "10/3600",
    description: "Signups of one address of the network.",
  }),
  rateSignupEmail: define({
    variable: "ATTESTORE_RATE_SIGNUP_EMAIL",
    read: type.rateLimit,
    fallback: "3/3600",
    description: "Signups of one e-mail address.",
  }),
  rateLoginAddress: define({
    variable: "ATTESTORE_RATE_LOGIN_ADDRESS",
    read: type.rateLimit,
    fallback: "30/3600",
    description: "Login codes asked for from one address of the network.",
  }),
  rateLoginEmail: define({
    variable: "ATTESTORE_RATE_LOGIN_EMAIL",
    read: type.rateLimit,
    fallback: "10/3600",
    description: "Login codes asked for one e-mail address from one network.",
  }),
  rateVerifyEmail: define({
    variable: "ATTESTORE_RATE_VERIFY_EMAIL",
    read: type.rateLimit,
    fallback: "10/900",
    description: "Codes tried for one e-mail address from one network.",
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
    description: "Bearer token of GET /metrics, which answers programs of this machine without one.",
  }),
  logLevel: define({
    variable: "ATTESTORE_LOG_LEVEL",
    read: type.oneOf("debug", "info", "warn", "error"),
    fallback: "info",
    description: "Least severity of the lines that are printed.",
  }),
  shutdown_s: define({
    variable: "ATTESTORE_SHUTDOWN_S",
    read: type.wholeNumber(1, 3600),
    fallback: "30",
    description: "How long running requests may take to finish when the service is stopped.",
  }),
  apiLogDays: define({
    variable: "ATTESTORE_API_LOG_DAYS",
    read: type.wholeNumber(1, 36_500),
    fallback: "400",
    description: "Days that the audit trail of API calls is kept.",
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
