import type { ConnectionSettings } from "../database/connection-settings.ts";

/** The environment that tells a PostgreSQL program where to connect. */
export interface LibpqConnection {
  args: string[];
  /** Also has the password, which any user of the machine could read in the arguments. */
  environment: Record<string, string>;
}

const USER_INFO = /^([a-z]+:\/\/)([^/@:]*)(?::([^/@]*))?@/i;
const PASSWORD_PARAMETER = /([?&])password=([^&]*)(&?)/i;

/** For `pg_dump` and `pg_restore`: the same database as node-postgres connects to. */
export function libpqConnection(connection: ConnectionSettings): LibpqConnection {
  const { connectionString: url } = connection;
  if (url === undefined)
    return {
      args: [
        `--host=${connection.host ?? ""}`,
        `--port=${connection.port ?? 5432}`,
        `--username=${connection.user ?? ""}`,
        `--dbname=${connection.database ?? ""}`,
      ],
      environment: {},
    };
  const [, , , inUser] = USER_INFO.exec(url) ?? [];
  const [, , inQuery] = PASSWORD_PARAMETER.exec(url) ?? [];
  const password = inQuery ?? inUser;
  const plain = url
    .replace(USER_INFO, "$1$2@")
    .replace(PASSWORD_PARAMETER, (_match, before: string, _password, after: string) =>
      after === "" ? "" : before,
    );
  return {
    args: [`--dbname=${isOfSeveral(plain) ? writable(plain) : plain}`],
    environment: password === undefined ? {} : { PGPASSWORD: decodeURIComponent(password) },
  };
}

/** Of several servers we use the one that accepts writes, and a snapshot is that server's alone. */
function isOfSeveral(url: string): boolean {
  return /^[a-z]+:\/\/(?:[^/@]*@)?[^/?]*,/i.test(url) && !url.includes("target_session_attrs=");
}

function writable(url: string): string {
  return `${url}${url.includes("?") ? "&" : "?"}target_session_attrs=read-write`;
}
