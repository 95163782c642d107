import { RunError } from "../../../errors/run-error.ts";

/** What the clients' option file contains, by option name, and the URL's database. */
export interface ConnectionOptions {
  readonly options: Readonly<Record<string, string>>;
  readonly database: string | null;
}

/** The parameters that may follow the `?`, under the clients' names. */
const PARAMETERS: ReadonlySet<string> = new Set([
  "socket",
  "ssl",
  "ssl-ca",
  "ssl-capath",
  "ssl-cert",
  "ssl-key",
  "ssl-verify-server-cert",
  "ssl-mode",
  "tls-version",
]);

/**
 * Without the check, a part of the password would be taken for a parameter's or database's name.
 */
const UNESCAPED =
  "there is an @ after the host. Write / ? # @ and % as %2F %3F %23 %40 and %25 in passwords, names and parameters";

const URL_FORM =
  /^(?:mysql|mariadb):\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[0-9A-Fa-f:.]+\]|[^:[\]/?#]*)(?::([0-9]{1,5}))?(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Turns a `mysql://` URL into the clients' options.
 * @throws RunError `connection_reference`. The message quotes nothing of the URL except the name of
 * an unknown parameter, because any part may be the secret.
 */
export function parseConnectionUrl(url: string, from: string): ConnectionOptions {
  const match = URL_FORM.exec(url.trim());
  if (match === null) throw invalid(from, "it is not a mysql:// URL");
  const [, user, password, host = "", port, database = "", query = ""] = match;
  if (`${database}${query}`.includes("@")) throw invalid(from, UNESCAPED);
  const options: Record<string, string> = {};
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined || value === "") return;
    const decoded = decode(value, from);
    if (/[\0\r\n]/.test(decoded)) throw invalid(from, "it holds a line break or a zero byte");
    options[name] = decoded;
  };
  set("host", host.replace(/^\[|\]$/g, ""));
  set("port", port);
  set("user", user);
  set("password", password);
  for (const parameter of query.split("&").filter((each) => each !== "")) {
    const equals = parameter.indexOf("=");
    if (equals <= 0) throw invalid(from, "a parameter after the ? has no value");
    const name = decode(parameter.slice(0, equals), from).replaceAll("_", "-");
    if (!PARAMETERS.has(name))
      throw invalid(from, `its parameter ${JSON.stringify(name.slice(0, 40))} is not known`);
    set(name, parameter.slice(equals + 1));
  }
  const name = decode(database, from);
  if (/[\0\r\n]/.test(name)) throw invalid(from, "it holds a line break or a zero byte");
  return { options, database: name === "" ? null : name };
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
    `the connection in ${from} cannot be used: ${what}. The form is mysql://user:password@host:3306/database`,
  );
}
