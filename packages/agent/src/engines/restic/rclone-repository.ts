import { connect } from "node:http2";
import { Duplex, PassThrough, pipeline } from "node:stream";
import { startChild } from "../../processes/child.ts";
import { type AskRemote, listOfRest, type RemoteAnswer, remoteFiles } from "./remote-files.ts";
import { type Repository, UnreadableRepository } from "./repository.ts";

/** Variables that configure rclone. It finds its configuration file by `HOME`. */
const OF_RCLONE =
  /^(?:RCLONE_|AWS_|AZURE_|GOOGLE_|B2_|OS_|ST_|XDG_CONFIG_HOME$|SSH_AUTH_SOCK$|HTTPS?_PROXY$|NO_PROXY$)/i;

/**
 * `rclone:REMOTE:PATH`. rclone runs as the agent, because it has the access and needs the
 * credentials. It transports files and looks into none of them. Restic, which does look into them,
 * talks only to us.
 * @throws RunError `tool_missing`
 */
export async function openRcloneRepository(
  remote: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Repository> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && OF_RCLONE.test(name)) own[name] = value;
  const over = new AbortController();
  const child = await startChild({
    command: "rclone",
    args: ["serve", "restic", "--stdio", "--append-only", `--`, remote],
    env: own,
    signal: over.signal,
  });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  stream.on("error", () => undefined);
  const where = `rclone:${remote}`;
  const session = connect("http://localhost", { createConnection: () => stream });
  session.on("error", () => undefined);
  // Don't close the session first: its last message would be written to a pipe that nobody reads,
  // and Node would end the process.
  stream.once("close", () => session.destroy());
  void child.exited.then(() => stream.destroy());
  const ask: AskRemote = (method, path, headers, signal) =>
    new Promise((resolve, reject) => {
      const fail = (error?: Error): void => {
        const why = error === undefined ? "" : ` (${error.message})`;
        reject(new UnreadableRepository(`rclone does not answer for ${where}${why}`, { cause: error }));
      };
      if (session.destroyed) return fail();
      const asked = session.request({ ":method": method, ":path": `/${path}`, ...headers }, { signal });
      asked.once("error", fail);
      asked.once("close", () => fail());
      asked.once("response", (answered) => {
        const status = answered[":status"] ?? 0;
        // Node drops a whole answer if nobody has begun to read it by now.
        const body = pipeline(asked, new PassThrough(), () => undefined);
        resolve({ status, headers: answered as RemoteAnswer["headers"], body });
      });
      asked.end();
    });
  return {
    ...remoteFiles(where, ask),
    list: (type, signal) => listOfRest(where, ask, type, signal),
    close: async () => {
      stream.destroy();
      over.abort();
      await child.exited;
    },
  };
}
