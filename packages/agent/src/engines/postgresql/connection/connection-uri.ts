import { RunError } from "../../../errors/run-error.ts";

/**
 * libpq's parameters that a URI may contain (PostgreSQL 15, section 34.1.2), each with the variable
 * that means the same.
 */
const VARIABLES: Readonly<Record<string, string>> = {
  host: "PGHOST",
  hostaddr: "PGHOSTADDR",
  port: "PGPORT",
  dbname: "PGDATABASE",
  user: "PGUSER",
  password: "PGPASSWORD",
  passfile: "PGPASSFILE",
  service: "PGSERVICE",
  options: "PGOPTIONS",
  application_name: "PGAPPNAME",
  channel_binding: "PGCHANNELBINDING",
  connect_timeout: "PGCONNECT_TIMEOUT",
  gssencmode: "PGGSSENCMODE",
  krbsrvname: "PGKRBSRVNAME",
  sslmode: "PGSSLMODE",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  sslrootcert: "PGSSLROOTCERT",
  sslcrl: "PGSSLCRL",
  sslsni: "PGSSLSNI",
  ssl_min_protocol_version: "PGSSLMINPROTOCOLVERSION",
  ssl_max_protocol_version: "PGSSLMAXPROTOCOLVERSION",
  target_session_attrs: "PGTARGETSESSIONATTRS",
};

/**
 * Without the check, a part of the password would be taken for a parameter's or database's name.
 */
const UNESCAPED =
  "there is an @ after the host. Write / ? # @ and % as %2F %3F %23 %40 and %25 in passwords, names and parameters";

const URI = /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9A-Fa-f:.%]+\]|[^:[\]]*)(?::([0-9]{0,5}))?$/;

/**
 * Translates a `postgresql://` URI into libpq's environment variables. So the password is in no
 * argument list, which everybody on the host can read. As in libpq, there may be several hosts.
 * @throws RunError `connection_reference`. The message contains no part of the URI, because any
 * part may be the secret.
 */
export function connectionEnvironment(uri: string, from: string): Record<string, string> {
  const match = URI.exec(uri.trim());
  if (match === null) throw invalid(from, "it is not a postgresql:// URI");
  const [, user, password, hosts = "", database, query] = match;
  if (`${database ?? ""}${query ?? ""}`.includes("@")) throw invalid(from, UNESCAPED);
  const environment: Record<string, string> = {};
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined || value === "") return;
    const variable = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (variable === undefined)
      throw invalid(from, `its parameter ${JSON.stringify(name.slice(0, 40))} is not known`);
    const decoded = decode(value, from);
    if (decoded.includes("\0")) throw invalid(from, "it holds a zero byte");
    environment[variable] = decoded;
  };
  const parts = hosts.split(",").map((host) => HOST.exec(host));
  if (parts.includes(null)) throw invalid(from, "its host or port is malformed");
  set("host", parts.map((part) => (part?.[1] ?? "").replace(/^\[|\]$/g, "")).join(","));
  if (parts.some((part) => (part?.[2] ?? "") !== ""))
    set("port", parts.map((part) => part?.[2] ?? "").join(","));
  set("user", user);
  set("password", password);
  set("dbname", database);
  for (const parameter of (query ?? "").split("&").filter((each) => each !== "")) {
    const equals = parameter.indexOf("=");
    if (equals <= 0) throw invalid(from, "a parameter after the ? has no value");
    const name = decode(parameter.slice(0, equals), from);
    // The same as in libpq.
    if (name === "ssl" && parameter.slice(equals + 1) === "true") set("sslmode", "require");
    else set(name, parameter.slice(equals + 1));
  }
  return environment;
}

function decode(text: string, from: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(from, "a % in it is not followed by two hex digits");
  }
}

function invalid(from: string, what: string): RunError {
  return new RunError(
    "connection_reference",
    `the connection in ${from} cannot be used: ${what}. The form is postgresql://user:password@host:5432/database`,
  );
}
